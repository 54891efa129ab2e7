"""Specification of a layer whose filters are unpacked before another kernel reads them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol, Self

from edgec.kernels.common.form_ends import Rescale16, Tflite31
from edgec.kernels.common.interface import c_parameters
from edgec.kernels.family import KernelSpec, template_beside
from edgec.kernels.packed.codes import packed_bytes, turns_of

_ALIGNMENT = 8
"""Scratch memory is cut at multiples of this, as the arena is."""
_READ_AHEAD = 16
"""Bytes after its weights that a kernel may read (`dsp.dense_1x4_dsp`)."""


class FilterKernel(KernelSpec, Protocol):
    """The specification of a dense kernel that can compute some of a layer's filters alone."""

    rescale16: Rescale16 | None
    residual_shift: int | None
    tflite31: Tflite31 | None
    scratch_name: ClassVar[str | None]
    flips_signs: ClassVar[bool]

    @property
    def stored_bytes(self) -> int:
        """Bytes of the weights in the kernel's order."""

    @property
    def out_elements(self) -> int:
        """Elements of y."""

    @property
    def end(self) -> str:
        """Kind of the end, from sums to outputs (`interface.end_kind`)."""

    @property
    def adds(self) -> bool:
        """There is a residual."""

    @property
    def y_type(self) -> str:
        """C type of an element of y."""

    @property
    def interleaves(self) -> bool:
        """The kernel takes the numbers of an `Tflite31` beside each other."""

    @property
    def params_type(self) -> str:
        """C type of the argument struct."""

    def run_parameters(self) -> tuple[str, ...]:
        """The C parameters that only a run knows."""

    def with_weights_alone(self) -> Self:
        """The specification of a kernel whose weights hold nothing else."""


@dataclass(frozen=True, slots=True)
class PackedFilters:
    """A dense layer with weights of few bits: a batch of filters is unpacked, then computed.

    Attributes:
        called: the kernel that computes a batch, as a layer of `batch` filters.
        bits: width of a weight in flash.
        filters: all that there are.
        batch: filters unpacked at a time: all, or a multiple of 4.
        variable: the rows of a run are an argument, of the called kernel too.
    """

    family: ClassVar[str] = "packed_filters"
    template: ClassVar[Path] = template_beside(__file__, "packed_filters")
    called: FilterKernel
    bits: int
    filters: int
    batch: int
    variable: bool = False

    @property
    def batches(self) -> int:
        """Calls of the called kernel."""
        return -(-self.filters // self.batch)

    @property
    def has_batches(self) -> bool:
        """There are several; then their outputs are put together."""
        return self.batches > 1

    @property
    def rows(self) -> int:
        """Pixels of y, of a matrix product its rows, in the longest run."""
        return self.called.out_elements // self.batch

    @property
    def row_count(self) -> str:
        """The rows of a run in C."""
        return "rows" if self.variable else "ROWS"

    @property
    def turns(self) -> int:
        """Turns of the loop that unpacks a batch."""
        return turns_of(self.called.stored_bytes, self.bits)

    @property
    def batch_bytes(self) -> int:
        """Bytes of a batch in flash."""
        return packed_bytes(self.called.stored_bytes, self.bits)

    @property
    def flip(self) -> str:
        """C literal added without carries to a word of weights to flip signs."""
        return "0x00800080U" if self.called.flips_signs else "0U"

    @property
    def end(self) -> str:
        """Kind of the end, from sums to outputs."""
        return self.called.end

    @property
    def adds(self) -> bool:
        """There is a residual."""
        return self.called.adds

    @property
    def y_type(self) -> str:
        """C type of an element of y."""
        return self.called.y_type

    @property
    def params_type(self) -> str:
        """C type of the argument struct."""
        return self.called.params_type

    @property
    def rescale16(self) -> Rescale16 | None:
        """The end of a layer with 16 by 15 bits."""
        return self.called.rescale16

    @property
    def residual_shift(self) -> int | None:
        """Right shift of the addition after a multiplier of 31 bits, if there is one."""
        return self.called.residual_shift

    @property
    def parameters(self) -> tuple[str, ...]:
        """The C parameters after x."""
        own = (f"{self.y_type} *y", "int8_t *scratch", f"const {self.params_type} *params")
        return c_parameters(self.end, self.y_type, (own, self.called.run_parameters()))

    @property
    def arguments(self) -> tuple[str, ...]:
        """Arguments of the called kernel after x, in C."""
        place = "part_" if self.has_batches else ""
        scratch = () if self.called.scratch_name is None else ("scratch",)
        table = ("table",) if self.end == "rescale16_table" else ()
        residual = (f"{place}residual",) if self.adds else ()
        addition = ("add",) if self.end == "requant31_added" else ()
        rows = ("rows",) if self.variable else ()
        return (*table, *residual, f"{place}y", *scratch, "&part", *addition, *rows)

    @property
    def numbers(self) -> tuple[tuple[str, int], ...]:
        """(field, entries of a batch) of the argument struct's numbers of output channels."""
        exact = self.called.tflite31
        if self.called.interleaves and exact is not None:
            return ("bias", self.batch), ("numbers", self.batch * (3 if exact.has_shifts else 2))
        found = [("bias", self.batch), ("multiplier", self.batch)]
        if exact is not None:
            found += [("offset", self.batch)] + [("shift", self.batch)] * exact.has_shifts
        return tuple(found)

    @property
    def weights_at(self) -> int:
        """Place in scratch of the unpacked weights, after what the called kernel needs."""
        return _aligned(self.called.scratch_bytes)

    @property
    def y_at(self) -> int:
        """Place of the outputs of a batch."""
        weights = self.batch_bytes * 8 // self.bits
        return self.weights_at + _aligned(weights + _READ_AHEAD)

    @property
    def residual_at(self) -> int:
        """Place of the residual of a batch."""
        return self.y_at + self._part_bytes

    @property
    def scratch_bytes(self) -> int:
        """Scratch of the called kernel, unpacked weights, and outputs and residual of a batch."""
        parts = (1 + self.adds) * self.has_batches
        return self.y_at + parts * self._part_bytes

    @property
    def _part_bytes(self) -> int:
        return _aligned(self.rows * self.batch * self.out_bytes)

    @property
    def out_bytes(self) -> int:
        """Bytes of an element of y."""
        return 1 if self.rescale16 is None else self.rescale16.out_bytes

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.rows * self.filters

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        return self.called.macs // self.batch * self.filters

    def describe(self) -> str:
        """Operator, shapes and number of unpacked filters in words, for a comment in C."""
        some = f"{self.batch} of {self.filters}" if self.has_batches else str(self.filters)
        return f"{self.called.describe()}, {some} filters of {self.bits} bits unpacked at a time"


def _aligned(size_bytes: int) -> int:
    return -(-size_bytes // _ALIGNMENT) * _ALIGNMENT
