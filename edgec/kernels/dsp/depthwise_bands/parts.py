"""The parts of a call of `depthwise_bands`, counted."""

from __future__ import annotations

from edgec.kernels.common.parts import Parts
from edgec.kernels.dsp.depthwise_bands.spec import BAND, DepthwiseBands
from edgec.kernels.dsp.planes import PLANES

_CODE_BYTES = 1700


def parts(spec: DepthwiseBands) -> Parts:
    """Counts of a call; rows and columns of the planes outside the image are cleared before."""
    w = spec.window
    tops = range(0, w.out_height, spec.strip)
    firsts = [top * w.stride_h - spec.left for top in tops]
    read = [(min(spec.strip, w.out_height - top) - 1) * w.stride_h + w.kernel_h for top in tops]
    inside = [
        min(first + rows, w.height) - max(first, 0)
        for first, rows in zip(firsts, read, strict=True)
    ]
    taken = spec.fours * sum(inside)
    columns = w.width // 2 + 1
    kind = f"by {w.stride_h}"
    counts: dict[str, float] = {
        "call": 1,
        "strip": len(tops),
        "four channels": len(tops) * spec.fours,
        f"row taken, {kind}": taken,
        f"pair of pixels taken, {kind}": taken * (w.width // 2 + spec.left),
        "channel of a strip": len(tops) * w.channels,
        "row of outputs": w.channels * w.out_height,
        f"band, {kind}": w.channels * w.out_height * (w.out_width // BAND),
        "word cleared": PLANES * (2 * columns if spec.left else spec.rows + columns),
    }
    return Parts(counts, _CODE_BYTES, spec.stream_reads(len(tops)))
