"""The price of a choice: all that a kernel takes of a board, in one record.

Kernels, pools, precision and placement compare choices by what is counted here: `Parts` with the
measured prices of a core.  `alternatives` gives every kernel of a layer with its price in one call;
`BoardPrices` prices whole networks for those who do not know kernels.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.infer import macs
from edgec.ir.weighted import is_int8_layer
from edgec.kernels.buffers import buffers_of
from edgec.kernels.choice.estimate import Estimator
from edgec.kernels.common.constants import ConstantPool, ProgramConstant
from edgec.kernels.common.parts import FULL_WIDTH, Run
from edgec.kernels.common.spec import MayShare
from edgec.kernels.family import KernelSpec
from edgec.kernels.registry import FAMILIES
from edgec.kernels.select import Families, KernelChoice, kernel_candidates, select_kernels
from edgec.memory import Peak, plan_memory
from edgec.quant.precision.goal import NetworkPrice
from edgec.target.board import Board
from edgec.target.target import Target

_WITH_WEIGHTS = (qops.Weighted, qops.PooledLayer)


@dataclass(frozen=True, slots=True)
class Price:
    """Price of a call of a kernel.

    Attributes:
        cycles: estimated, with memory that never makes the core wait; None: nothing is known.
        waits: cycles that the call waits for code and constants in flash, where they lie there.
        counted: the cycles are those of parts that were counted, not of multiply-accumulates alone.
        code: the key of its function: layers with equal keys share it.
        code_bytes: bytes of the function; None: nobody has counted them.
        shares: layers of other shapes call the same functions.
        constant_bytes: weights, biases, multipliers and tables as the function reads them.
        shared_bytes: bytes of those among them that equal constants of other layers share, by their
            digest: pools and their tables.
        scratch_bytes: working memory of the call.
        types: element types of what the layer reads and writes.
    """

    cycles: float | None
    waits: float
    counted: bool
    code: KernelSpec
    code_bytes: int | None
    shares: bool
    constant_bytes: int
    shared_bytes: Mapping[str, int]
    scratch_bytes: int
    types: tuple[DType, ...]

    @property
    def total_cycles(self) -> float | None:
        """Cycles with the waits for flash."""
        return None if self.cycles is None else self.cycles + self.waits


@dataclass(frozen=True, slots=True, eq=False)
class Alternative:
    """A choice for a layer, and its price."""

    choice: KernelChoice
    price: Price


def alternatives(
    graph: Graph, node: Node, target: Target, families: Families = FAMILIES
) -> tuple[Alternative, ...]:
    """All kernels that could compute a node, each with its price; first the one that is chosen.

    Args:
        graph: INTEGER stage, of fixed length.
        node: one for which no planner decides; never a `QReshape`.
        target: the processor that runs it.
        families: in order of precedence.

    Raises:
        LoweringError: no kernel serves the node.
    """
    estimator = Estimator.of(target)
    found = kernel_candidates(graph, node, target, families)
    return tuple(Alternative(each, price_of(graph, each, estimator)) for each in found)


def price_of(
    graph: Graph, choice: KernelChoice, estimator: Estimator, bits: int = FULL_WIDTH
) -> Price:
    """The price of a choice.

    Args:
        graph: INTEGER stage.
        choice: a kernel of a node of it.
        estimator: prices kernels on the target.
        bits: width of activations that a layer with pooled weights sees, 1 to 8.
    """
    node, spec = choice.node, choice.spec
    ideal = estimator.ideal_cycles(choice.family, spec, bits)
    parts = choice.family.parts(spec, Run(estimator.form, bits))
    names = (*choice.reads, *node.outputs)
    constants = _constants(graph, choice)
    return Price(
        cycles=_by_products(graph, node, estimator) if ideal is None else ideal,
        waits=0.0 if parts is None else estimator.waits(parts),
        counted=ideal is not None,
        code=spec,
        code_bytes=parts.code_bytes or None if parts is not None else None,
        shares=isinstance(spec, MayShare) and spec.shares_functions,
        constant_bytes=sum(constant.array.nbytes for constant in constants),
        shared_bytes={
            hashlib.sha256(constant.array.tobytes()).hexdigest(): constant.array.nbytes
            for constant in constants
            if constant.shared
        },
        scratch_bytes=choice.scratch_bytes,
        types=tuple(graph.values[name].dtype for name in names if name in graph.values),
    )


def run_cycles(graph: Graph, choice: KernelChoice, estimator: Estimator) -> float | None:
    """Cycles of a run of a choice, with the waits for flash: `Price.total_cycles` alone.

    Args:
        graph: INTEGER stage.
        choice: a kernel of a node of it.
        estimator: prices kernels on the target.
    """
    ideal = estimator.ideal_cycles(choice.family, choice.spec, FULL_WIDTH)
    cycles = _by_products(graph, choice.node, estimator) if ideal is None else ideal
    parts = choice.family.parts(choice.spec, Run(estimator.form, FULL_WIDTH))
    return cycles if cycles is None or parts is None else cycles + estimator.waits(parts)


def _constants(graph: Graph, choice: KernelChoice) -> Sequence[ProgramConstant]:
    pool = ConstantPool()
    choice.family.arguments(graph, choice.node, choice.spec, pool)
    for name in choice.reads:
        if graph.is_constant(name):
            pool.add(choice.family.constant_stem, graph.constants[name].array)
    return pool.constants


def _by_products(graph: Graph, node: Node, estimator: Estimator) -> float | None:
    """Cycles of the multiply-accumulates of a layer with weights."""
    rates = estimator.products
    if rates is None or not isinstance(node.attrs, _WITH_WEIGHTS):
        return None
    narrow, depthwise = is_int8_layer(graph, node), _is_depthwise(node)
    if narrow:
        rate = rates.depthwise if depthwise else rates.dense
    else:
        rate = rates.depthwise16 if depthwise else rates.dense16
    return macs(graph, node) * rate


def _is_depthwise(node: Node) -> bool:
    return getattr(node.attrs, "group", 1) > 1


@dataclass(frozen=True, slots=True)
class BoardPrices:
    """Prices of networks on a board (`quant.precision.goal.Prices`).

    Attributes:
        board: the board.
    """

    board: Board

    def price(self, graph: Graph) -> NetworkPrice:
        """Arena, and estimated cycles of the layers with weights.

        Args:
            graph: INTEGER stage.
        """
        choices = select_kernels(graph, Target.of(self.board))
        buffers, overlaps, _ = buffers_of(graph, choices)
        arena_bytes = plan_memory(buffers, overlaps).arena_bytes
        return NetworkPrice(arena_bytes, self._cycles(graph, choices))

    def fits(self, graph: Graph) -> bool:
        """Whether the arena fits: the floor of all plans is asked first."""
        limit = self.board.arena_limit_bytes
        if limit is None:
            return True
        buffers, overlaps, _ = buffers_of(graph, select_kernels(graph, Target.of(self.board)))
        if Peak.of(buffers, overlaps).arena_bytes > limit:
            return False
        return plan_memory(buffers, overlaps).arena_bytes <= limit

    def _cycles(self, graph: Graph, choices: Sequence[KernelChoice]) -> float | None:
        """Cycles of the multiply-accumulates: the same yardstick for int8 and int16 layers."""
        target = Target.of(self.board)
        if not target.is_cortex_m:
            return None
        estimator = Estimator.of(target)
        found = [_by_yardstick(graph, each, estimator) for each in choices]
        return sum(cycles for cycles in found if cycles is not None)


def _by_yardstick(graph: Graph, choice: KernelChoice, estimator: Estimator) -> float | None:
    """Cycles of multiply-accumulates; of depthwise int16 layers those of the function that runs.

    These have a function with DSP and one in plain C, which takes two to three times as long.
    """
    node = choice.node
    products = _by_products(graph, node, estimator)
    if products is None or not _is_depthwise(node) or is_int8_layer(graph, node):
        return products
    return run_cycles(graph, choice, estimator)
