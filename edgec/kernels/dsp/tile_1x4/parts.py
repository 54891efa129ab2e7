"""The parts of a call of `tile_1x4`, counted."""

from __future__ import annotations

from edgec.kernels.common.parts import Parts, numbers_of
from edgec.kernels.common.weight_reads import WeightReads
from edgec.kernels.dsp.tile_1x4.spec import Tile1x4

_CODE_BYTES = 300
_WORD_CODE_BYTES = 72
"""Code of a word in a turn of the loop: `edgec/tile_1x4.h`."""


def parts(spec: Tile1x4) -> Parts | None:
    """Counts of a call that ends in a multiplier of 31 bits; None for another end."""
    if spec.rescale16 is not None:
        return None
    turns = spec.words // spec.unrolled
    counts: dict[str, float] = {
        "call": 1,
        "batch": -(-spec.fours // spec.batch),
        "word of the row": spec.words,
        "rest of the row": 1 if spec.rest else 0,
        "four filters": spec.fours,
        "word of four filters": spec.fours * spec.words,
        "turn": spec.fours * turns if turns > 1 else 0,
        "output": spec.out_elements,
        "addition": spec.out_elements if spec.adds else 0,
    }
    loop = (spec.unrolled + spec.words % spec.unrolled) * _WORD_CODE_BYTES
    return Parts(
        counts, _CODE_BYTES + loop, WeightReads(spec.stored_bytes, 1, numbers_of(spec.units))
    )
