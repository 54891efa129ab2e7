"""What runs in a call of a kernel: how often each part of its function, and how much code.

A family counts the parts from a specification alone (`KernelFamily.parts`).  What a run of a part
takes on a core is measured (`edgec.kernels.choice.prices`): nobody counts its instructions, and a
kernel that changes is measured again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from edgec.kernels.common.weight_reads import WeightReads


@dataclass(frozen=True, slots=True)
class Parts:
    """What runs in a call.

    Attributes:
        counts: how often each part runs, by its name among the parts of the family.
        code_bytes: bytes of the code that runs, however often.
        weights: how often the call reads its weights.
        copies: the weights may be copied to RAM first (`KernelFamily.weight_reads`).
        load_bytes: bytes of weights that an instruction loads.
    """

    counts: Mapping[str, float]
    code_bytes: float
    weights: WeightReads
    copies: bool = False
    load_bytes: int = 4


def numbers_of(filters: int) -> tuple[int, int]:
    """Bytes of the biases and of the multipliers of 31 bits of a layer (`WeightReads.beside`)."""
    return 4 * filters, 4 * filters
