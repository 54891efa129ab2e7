"""Estimate of the time of a run, from the prices of the kernels that were chosen."""

from __future__ import annotations

from collections.abc import Sequence

from edgec.ir.graph import Graph
from edgec.kernels.choice.estimate import Estimator
from edgec.kernels.price import price_of
from edgec.kernels.select import KernelChoice
from edgec.kernels.weightpool.plan.reasons import PooledLayer
from edgec.lower import Program
from edgec.report.model import SpeedReport
from edgec.target.target import Target

_LITTLE = 0.02
"""Layers without a price are left out while they write this many bytes at most for each cycle of
the others: 11 cycles an element, as of a table, are then less than a quarter of the time."""
_NEAR_WAITS = 16
"""Flash with more wait states is outside of the chip. How often its cache misses is not known to
prices, which are then those without waits: a run takes more."""


def estimated_speed(
    graph: Graph,
    choices: Sequence[KernelChoice],
    program: Program,
    target: Target,
    pooled: Sequence[PooledLayer] = (),
) -> SpeedReport | None:
    """Estimate what a run takes; None where no prices of the core are in cycles.

    Args:
        graph: INTEGER stage.
        choices: the kernel of each node.
        program: what was made of both.
        target: the processor.
        pooled: layers with pooled weights, whose planner has their cycles.
    """
    if not target.is_cortex_m or not target.price_key:
        return None
    estimator = Estimator.of(target)
    planned = {layer.output: layer.cycles for layer in pooled}
    steps = {step.node: (number, step) for number, step in enumerate(program.steps)}
    near = target.flash is None or target.flash.wait_states < _NEAR_WAITS
    cycles, written, products = 0.0, 0, False
    for choice in choices:
        if choice.node.name not in steps:
            continue
        number, step = steps[choice.node.name]
        price = price_of(graph, choice, estimator)
        priced = price.total_cycles if near else price.cycles
        found = planned.get(step.output.name) or priced
        if found is not None:
            cycles += found * program.times(number)
        if found is None or not (price.counted or step.output.name in planned):
            written += sum(tensor.size_bytes for tensor in step.outputs) * program.times(number)
            products = products or step.macs > 0
    whole = near and not products and written <= _LITTLE * cycles
    return SpeedReport(round(cycles), whole) if cycles else None
