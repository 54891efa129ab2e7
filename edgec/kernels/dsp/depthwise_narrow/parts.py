"""The parts of a call of `depthwise_narrow`, counted."""

from __future__ import annotations

from edgec.kernels.common.parts import Parts
from edgec.kernels.dsp.depthwise_narrow.spec import DepthwiseNarrow

_CODE_BYTES = 1000


def parts(spec: DepthwiseNarrow) -> Parts:
    """Counts of a call; rows and columns of windows outside the image are left out."""
    w = spec.window
    taken = spec.fours * w.height
    rows = w.channels * w.out_height
    window_rows = w.channels * (w.out_height * w.kernel_h - spec.left - spec.below)
    # Two products an output, but one where a column of its window lies outside.
    outside = 2 if w.stride_h == 1 and not spec.odd else 1
    counts: dict[str, float] = {
        "call": 1,
        "four channels": spec.fours,
        "row taken": taken,
        "pair of pixels taken": taken * spec.words,
        "channel": w.channels,
        "row of outputs": rows,
        "output": rows * spec.outputs,
        "row of windows": window_rows,
        "pair of pixels of a row of windows": window_rows * spec.words,
        "product of a row of windows": window_rows * (2 * spec.outputs - outside),
    }
    return Parts(counts, _CODE_BYTES, spec.stream_reads(1))
