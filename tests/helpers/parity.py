"""From a random graph to compiled C, and the comparison of both on adversarial inputs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from c_programs import Build, run_program
from random_graphs import adversarial_inputs
from targets import by_precedence

from edgec.base.dtypes import Array
from edgec.base.options import Optimize
from edgec.base.resources import data_dir
from edgec.codegen.library import emit_library
from edgec.interp import run_graph
from edgec.ir import Graph
from edgec.ir.verify import Stage, verify
from edgec.kernels.buffers import buffers_of, loop_steps
from edgec.kernels.family import KernelFamily
from edgec.kernels.registry import FAMILIES
from edgec.kernels.select import kernel_candidates, select_kernels
from edgec.kernels.weightpool.decision import PoolKernelConfig
from edgec.lower import Program, lower
from edgec.memory import check_plan, plan_memory
from edgec.sim.compare import compare_outputs, compare_trace
from edgec.sim.host import HostModel, model_symbol
from edgec.target.board import load_board
from edgec.target.target import Target
from edgec.toolchain.cc import WARNING_FLAGS

HOST_DIR = data_dir("firmware") / "host"
RUNTIME_INCLUDE = data_dir("firmware") / "runtime" / "include"
BATCH_MAIN = Path(__file__).with_name("batch_main.c")


@dataclass(frozen=True)
class Sample:
    """Inputs of a graph, and every tensor that the oracle makes of them."""

    inputs: list[Array]
    oracle: dict[str, Array]


def samples_of(graph: Graph) -> list[Sample]:
    """Adversarial inputs and what the oracle says."""
    found = []
    for inputs in adversarial_inputs(graph, np.random.default_rng(3)):
        ordered = [inputs[name] for name in graph.inputs]
        found.append(Sample(ordered, run_graph(graph, inputs)))
    return found


def compiled(
    graph: Graph,
    folder: Path,
    *,
    one_buffer_per_tensor: bool = False,
    board: str = "host",
    pool_configs: Mapping[str, PoolKernelConfig] = MappingProxyType({}),
    families: Sequence[KernelFamily] = FAMILIES,
    rank: int = 0,
    optimize: Optimize = Optimize.SPEED,
) -> Program:
    """Lower a graph and write its C library into `folder`.

    With `one_buffer_per_tensor`, every buffer lives for the whole run and nothing overlaps.
    `board`: whose core the kernels are for; `pool_configs`: kernels of operators with pooled
    weights, by node; `families`: in order of precedence; `rank`: which candidate nodes get,
    those that have so many; `optimize`: what functions layers share.
    """
    verify(graph, Stage.INTEGER, "the random generator")
    target = by_precedence(Target.of(load_board(board), optimize))
    choices = select_kernels(graph, target, pool_configs, families)
    if rank:
        ways = [kernel_candidates(graph, choice.node, target, families) for choice in choices]
        choices = tuple(found[rank] if rank < len(found) else found[0] for found in ways)
    buffers, overlaps, _ = buffers_of(graph, choices)
    if one_buffer_per_tensor:
        overlaps = ()
        end = max((buffer.end_step for buffer in buffers), default=1)
        buffers = tuple(replace(b, first_step=0, end_step=end) for b in buffers)
    plan = plan_memory(buffers, overlaps)
    loops = [(each.first_step, each.end_step) for each in loop_steps(graph, choices)]
    check_plan(plan, buffers, overlaps, loops=loops)
    program = lower(graph, choices, plan)
    emit_library(program, folder)
    return program


def check_host(graph: Graph, folder: Path, *, flags: Sequence[str] = (), **options: Any) -> Program:
    """Compile with the host compiler and all warnings; every tensor equals the oracle's.

    `flags`: more of them; `options`: of `compiled`.
    """
    program = compiled(graph, folder / "library", **options)
    all_flags = ("-O0", *WARNING_FLAGS, *flags)
    model = HostModel(folder / "library", folder / "build", flags=all_flags)
    samples = samples_of(graph)
    for sample in samples:
        compare_trace(program, sample.oracle, model.trace(sample.inputs))
    batch = [np.concatenate(arrays) for arrays in zip(*(s.inputs for s in samples), strict=True)]
    outputs = model.run([b.reshape(len(samples), -1) for b in batch])
    for index, sample in enumerate(samples):
        compare_outputs(program, sample.oracle, [o[index] for o in outputs], "host")
    return program


def check_build(
    build: Build,
    library: Path,
    program: Program,
    samples: list[Sample],
    folder: Path,
    length: int | None = None,
) -> None:
    """Compile a library with some compiler into a program; every tensor equals the oracle's.

    `length`: of the samples' runs, in a model of variable length.
    """
    sources = [*sorted((library / "src").glob("*.c")), HOST_DIR / "edgec_batch.c", BATCH_MAIN]
    symbol = replace(build, flags=(*build.flags, f"-DEDGEC_MODEL={model_symbol(library)}"))
    executable = symbol.compile(
        sources, [library / "include", HOST_DIR, RUNTIME_INCLUDE], folder / "model"
    )
    inputs = zip(*(sample.inputs for sample in samples), strict=True)
    (folder / "in").write_bytes(b"".join(array.tobytes() for group in inputs for array in group))
    arguments = [str(len(samples)), folder / "in", folder / "steps", folder / "out"]
    if length is not None:
        arguments.append(str(length))
        program = program.at(length)
    run_program(executable, *arguments)
    data = (folder / "steps").read_bytes()
    sizes = [step.output.size_bytes for step in program.steps]
    assert len(data) == len(samples) * sum(sizes)
    starts = np.cumsum([0, *sizes])
    for index, sample in enumerate(samples):
        mine = data[index * sum(sizes) :]
        trace = [mine[starts[i] : starts[i + 1]] for i in range(len(sizes))]
        compare_trace(program, sample.oracle, trace, where=str(build))
