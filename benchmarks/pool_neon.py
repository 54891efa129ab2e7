"""Layers with pooled weights on Cortex-A: instructions a multiply-accumulate, pools beside int8.

    python benchmarks/pool_neon.py                          # ResNet-10, Cortex-A53, A7 and A76
    python benchmarks/pool_neon.py a53 --network networks/resnet8_cifar10.pool.onnx --bits 4

For each layer the kernels that the planner chooses among (responses, decoded filters) and the
expanded int8 layer, and which one it takes.  Programs are those of `edgec compile` for a board, run
in the emulator, which counts instructions; outputs are compared with the oracle.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from neon_kernels import Step, measure
from pool_networks import noise

from edgec.base.options import CompileOptions, PoolKernel, PoolKernelOptions, PoolKernelRule
from edgec.ir import Graph
from edgec.ir.weight_pool_graph import limited_bits, pooled_nodes
from edgec.kernels.weightpool.plan.plan import plan_pools
from edgec.target.board import Board, load_board
from edgec.workflow.integer import integer_model

BOARDS = {"a53": "raspberry_pi_3", "a7": "raspberry_pi_2", "a76": "raspberry_pi_5"}
NETWORK = Path(__file__).resolve().parents[1] / "networks" / "resnet10_cifar10.pool.onnx"
WAYS: dict[str, PoolKernel | None] = {
    "pools, as chosen": None,
    "responses": PoolKernel.RESPONSES,
    "decode": PoolKernel.DECODE,
    "int8": PoolKernel.EXPAND,
}


def steps(graph: Graph, board: Board, kernel: PoolKernel | None, bits: int) -> dict[str, Step]:
    """The pooled layers of a network, by name of their output, computed by one kernel.

    Args:
        graph: INTEGER stage.
        board: the target.
        kernel: for all pooled layers; None: the planner chooses.
        bits: width of activations.
    """
    rules = () if kernel is None else (PoolKernelRule("*", kernel),)
    options = PoolKernelOptions(bits, rules=rules)
    plan = plan_pools(limited_bits(graph, bits), board, options)
    pooled = {node.output for node in pooled_nodes(graph)}
    found = measure(plan.graph, board, board, plan.configs)
    return {step.name: step for step in found if step.name in pooled}


def show(network: Path, board: Board, bits: int) -> None:
    """A Markdown table of one board."""
    samples = {"input": noise()}
    graph = integer_model(network, samples, CompileOptions()).integer
    ways = {title: kernel for title, kernel in WAYS.items() if bits == 8 or title != "int8"}
    columns = [steps(graph, board, kernel, bits) for kernel in ways.values()]
    title = f"{network.name.split('.')[0]} on {board.name}, {bits} bits, instructions a MAC"
    print(f"\n| {title} | {' | '.join(ways)} |\n|---|{'---:|' * len(ways)}")
    for node in pooled_nodes(graph):
        print(_row(next(iter(node.sources), node.name), [[c[node.output]] for c in columns]))
    print(_row("all", [list(column.values()) for column in columns]), flush=True)


def _row(title: str, columns: Sequence[Sequence[Step]]) -> str:
    rates = (sum(s.instructions for s in c) / sum(s.macs for s in c) for c in columns)
    return f"| {title} | {' | '.join(f'{rate:.4f}' for rate in rates)} |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cores", nargs="*", default=list(BOARDS), help=f"of {', '.join(BOARDS)}")
    parser.add_argument("--network", type=Path, default=NETWORK, help="with pooled weights")
    parser.add_argument("--bits", type=int, default=8, help="width of activations, 1 to 8")
    args = parser.parse_args()
    if unknown := [core for core in args.cores if core not in BOARDS]:
        parser.error(f"no core {unknown[0]!r}: take {', '.join(BOARDS)}")
    for core in args.cores:
        show(args.network, load_board(BOARDS[core]), args.bits)


if __name__ == "__main__":
    main()
