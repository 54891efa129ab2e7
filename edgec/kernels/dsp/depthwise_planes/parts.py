"""The parts of a call of `depthwise_planes`, counted."""

from __future__ import annotations

from edgec.kernels.common.parts import Parts, numbers_of
from edgec.kernels.common.weight_reads import WeightReads
from edgec.kernels.dsp.depthwise_planes.spec import DepthwisePlanes
from edgec.kernels.dsp.planes import PLANES

_CODE_BYTES = 1800
_FILTER_BYTES = 12


def parts(spec: DepthwisePlanes) -> Parts | None:
    """Counts of a call that ends in a multiplier of 31 bits; None for another end."""
    if spec.rescale16 is not None:
        return None
    w = spec.window
    fours = -(-w.channels // PLANES)
    counts = [min(spec.strip, w.out_height - top) for top in range(0, w.out_height, spec.strip)]
    taken = sum(((rows - 1) * w.stride_h + w.kernel_h + 1) // 2 for rows in counts)
    pairs = sum(-(-rows // 2) for rows in counts)
    kind = "tile" if spec.tile_kind else "loop"
    rows, calls = w.out_height, len(counts)
    if spec.tile_kind:
        # A tile has two rows; the last one, of which the first row is kept, is a call of its own.
        rows, calls = 2 * pairs, sum(min(n // 2, 1) + n % 2 for n in counts)
    found: dict[str, float] = {
        "call": 1,
        "strip": len(counts),
        "four channels": len(counts) * fours,
        "pair of rows taken": taken * fours,
        "pair of pixels taken": taken * fours * spec.inside,
        f"channel of a strip, {kind}": calls * w.channels,
        f"pair of rows, {kind}": pairs * w.channels,
        f"output by {w.stride_h}, {kind}": rows * w.out_width * w.channels,
        "last row": sum(rows % 2 for rows in counts) * fours,
    }
    return Parts(
        found,
        _CODE_BYTES,
        WeightReads(w.channels * _FILTER_BYTES, len(counts), numbers_of(w.channels)),
    )
