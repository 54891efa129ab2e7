"""The parts of a call of `depthwise_triples`, counted."""

from __future__ import annotations

from edgec.kernels.common.parts import Parts, numbers_of
from edgec.kernels.common.weight_reads import WeightReads
from edgec.kernels.small.depthwise_triples.spec import ROWS, DepthwiseTriples

_CODE_BYTES = 900


def parts(spec: DepthwiseTriples) -> Parts | None:
    """Counts of a call that ends in a multiplier of 31 bits; None for another end."""
    if spec.rescale16 is not None:
        return None
    w = spec.window
    strips = -(-w.out_height // ROWS)
    planes = strips * w.channels
    kind = f"{w.kernel_h}x{w.kernel_w}" if spec.defines_sums else "3x3"
    rows = "five rows" if spec.five_rows else f"{w.kernel_h} times three rows"
    counts: dict[str, float] = {
        "call": 1,
        "strip": strips,
        f"plane of {rows}": planes,
        f"column of {rows}": planes * spec.columns,
        f"triple of {kind} taps": planes * w.out_width,
    }
    return Parts(
        counts, _CODE_BYTES, WeightReads(w.channels * w.taps, strips, numbers_of(w.channels))
    )
