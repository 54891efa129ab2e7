"""The parts of a call of `lanes_1x4`, counted."""

from __future__ import annotations

from edgec.kernels.common.parts import Parts, numbers_of
from edgec.kernels.common.weight_reads import WeightReads
from edgec.kernels.small.lanes_1x4.spec import FILTERS, Lanes1x4

_CODE_BYTES = 600


def parts(spec: Lanes1x4) -> Parts | None:
    """Counts of a call that ends in a multiplier of 31 bits; None for another end."""
    if spec.rescale16 is not None:
        return None
    counts: dict[str, float] = {
        "call": 1,
        "batch": -(-spec.fours // spec.batch),
        "activation": spec.padded_depth,
        "four filters": spec.fours,
        "product of four filters": spec.fours * spec.padded_depth,
        "output": spec.out_elements,
        "addition": spec.out_elements if spec.adds else 0,
    }
    stored = spec.fours * FILTERS * spec.padded_depth
    return Parts(counts, _CODE_BYTES, WeightReads(stored, 1, numbers_of(spec.units)))
