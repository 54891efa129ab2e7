"""Comparisons after a build: generated code, and files of quantized models."""

from __future__ import annotations

from dataclasses import dataclass

from edgec.base.rounding import Rounding


@dataclass(frozen=True, slots=True)
class CheckReport:
    """One agreement of generated code with the numpy reference, bit for bit.

    Attributes:
        what: "host" or "emulator".
        samples: inputs that were run.
        steps: intermediate tensors compared for each.
        skipped: why it was not done; empty when it was.
        stack_bytes: most stack that the firmware used; None where it was not measured.
        lengths: the lengths that were run, of a model of variable length.
        decimals: how many of each printed result were compared, in place of tensors; 0: tensors
            were compared.
        program: the program that this computer's own processor ran, such as "qemu-arm"; empty
            where all was emulated or run within edgec.
        confined: what kept it from network and files: "bubblewrap", "namespaces" or "none".
    """

    what: str
    samples: int
    steps: int
    skipped: str = ""
    stack_bytes: int | None = None
    lengths: tuple[int, ...] = ()
    decimals: int = 0
    program: str = ""
    confined: str = ""


@dataclass(frozen=True, slots=True)
class QdqReport:
    """Outputs beside those of the QDQ model in real arithmetic (float64), as ONNX defines it.

    They differ where ONNX rounds real numbers, with ties to even, and edgec rescaled integers.

    Attributes:
        samples: inputs that were run.
        differing: share of output elements that differ, 0 to 1.
        largest_gap: largest difference in output steps (LSB).
    """

    samples: int
    differing: float
    largest_gap: int


@dataclass(frozen=True, slots=True)
class TensorGap:
    """Distance of a tensor from the same tensor of the file that was compiled.

    Attributes:
        name: the tensor.
        differing: share of its elements that differ, 0 to 1.
        largest_gap: largest difference in its own codes.
        step: codes in a step of 8 bits over the same range: 1, or 256 of int16.
    """

    name: str
    differing: float
    largest_gap: int
    step: int = 1


@dataclass(frozen=True, slots=True)
class QdqFileReport:
    """Outputs beside those of the quantized file that was compiled, executed in float64.

    Attributes:
        samples: inputs that were run.
        differing: share of output elements that differ, 0 to 1.
        worst: the output with the largest difference.
        first: the first tensor on the way that differs, of int16 by half a step of 8 bits; None
            where none does, or none is found.
        far: as `differing`, of int16 by half a step of 8 bits; None: all outputs have 8 bits.
        rounding: whose rounding the integers have, a value of `base.rounding.Rounding`.
    """

    samples: int
    differing: float
    worst: TensorGap
    first: TensorGap | None
    far: float | None = None
    rounding: str = Rounding.EDGEC.value
