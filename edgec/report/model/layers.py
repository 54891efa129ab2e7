"""The steps of a program, and how pooled weights are computed in them."""

from __future__ import annotations

from dataclasses import dataclass, replace

COLLECTS = "TurnStack"
"""The operator of steps that collect the values of the turns of a loop in one tensor."""


@dataclass(frozen=True, slots=True)
class GrowthReport:
    """Sizes that a step has less in a run that is n tokens shorter than the longest.

    Attributes:
        output_axis: axis of the output that is shorter by n; None: none is.
        input_row_bytes, output_row_bytes: bytes of a token.
        macs: (a, b): a*n - b*n*n multiply-accumulates less.
        turns: 1 for a step of a loop that has a turn for each token.
    """

    output_axis: int | None
    input_row_bytes: int
    output_row_bytes: int
    macs: tuple[int, int]
    turns: int = 0


@dataclass(frozen=True, slots=True)
class LayerReport:
    """One step of the generated program.

    Attributes:
        name: edgec's name for the step's output; `sources` are the ONNX nodes it stands for.
        kernel: kernel family and variant.
        sqnr_db: signal-to-quantization-noise ratio of its output on calibration samples; None when
            it was not measured.
        input_bytes: bytes of the activations it reads.
        output_bytes: bytes of the tensor it writes.
        growth: how that depends on the length of a run; None: not at all.
        form: name of the form of requantization in which it ends; "" if it has none.
        turns: how often a run calls it, in loops; `macs` are those of all calls, `output_shape` and
            bytes those of one.
        more: name and shape of each further output, of an operator with several.
        first_channel: the first channel that it computes of the tensor; None: it computes all.
    """

    name: str
    op: str
    sources: tuple[str, ...]
    output_shape: tuple[int, ...]
    macs: int
    weight_bytes: int
    kernel: str
    sqnr_db: float | None
    input_bytes: int = 0
    output_bytes: int = 0
    growth: GrowthReport | None = None
    form: str = ""
    turns: int = 1
    more: tuple[tuple[str, tuple[int, ...]], ...] = ()
    first_channel: int | None = None

    @property
    def outputs(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Name and shape of each output."""
        return ((self.name, self.output_shape), *self.more)

    def less(self, tokens: int) -> LayerReport:
        """The step in a run that is shorter than the longest by `tokens`."""
        growth = self.growth
        if growth is None:
            return self
        sizes = enumerate(self.output_shape)
        linear, square = growth.macs
        return replace(
            self,
            output_shape=tuple(s - tokens if i == growth.output_axis else s for i, s in sizes),
            macs=self.macs - linear * tokens + square * tokens * tokens,
            input_bytes=self.input_bytes - growth.input_row_bytes * tokens,
            output_bytes=self.output_bytes - growth.output_row_bytes * tokens,
            turns=self.turns - growth.turns * tokens,
        )


@dataclass(frozen=True, slots=True)
class PooledLayerReport:
    """Kernel of a layer with pooled weights, with the reason for it.

    Attributes:
        layer: name of the layer's output.
        terms: vectors of the pool that are added up to one of the layer.
        kernel: "responses", "direct", "decode" or "expand".
        builder: how responses are built: "multiply", "bitserial" or "nibble"; "" without any.
        lanes: sums in a 32-bit word.
        chunk_groups: groups of channels whose responses exist at one time; 0 without any.
        scratch_bytes: SRAM of a call: response table, partial sums.
        table_bytes: look-up tables of bit patterns; 0 without any.
        table_place: "flash" or "SRAM"; "" without a table.
        activation_bits: bits that the layer sees of an activation.
        response_shift: bits that a response is rounded by.
        cycles: the planner's estimate; None on the host, whose time is not modelled.
        reason: why this kernel, in words.
    """

    layer: str
    kernel: str
    builder: str
    lanes: int
    chunk_groups: int
    scratch_bytes: int
    table_bytes: int
    table_place: str
    activation_bits: int
    response_shift: int
    cycles: int | None
    reason: str
    terms: int = 1
