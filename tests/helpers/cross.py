"""Generated libraries as programs for Cortex-A: cross-compiled, run in an emulator of one process.

Built like a board's program (`codegen.project`), with every warning an error, and run by QEMU.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from c_programs import build_program
from parity import BATCH_MAIN, HOST_DIR, RUNTIME_INCLUDE, Sample
from targets import bare_target, by_precedence

from edgec.codegen.library import emit_library
from edgec.ir import Graph
from edgec.ir.verify import Stage, verify
from edgec.kernels.buffers import buffers_of
from edgec.kernels.select import KernelChoice, select_kernels
from edgec.lower import Program, lower
from edgec.memory import MemoryPlan, check_plan, plan_memory
from edgec.sim.compare import compare_trace
from edgec.sim.host import model_symbol
from edgec.target.cores import Core, Fpu
from edgec.toolchain import process
from edgec.toolchain.cc import WARNING_FLAGS

GUARDED_MALLOC = Path(__file__).with_name("guarded_malloc.c")
MakePlan = Callable[[Graph, tuple[KernelChoice, ...]], MemoryPlan]


@dataclass(frozen=True)
class Machine:
    """A core, and what runs its programs."""

    core: Core
    emulator: str

    @property
    def flags(self) -> tuple[str, ...]:
        """Options that select the core."""
        return self.core.gcc_flags(Fpu.DOUBLE, dsp=not self.core.is_aarch64)

    def tool(self, name: str) -> Path:
        """A program of the compiler's, such as `gcc` or `objdump`; skips when it is missing."""
        return _found(f"{self.core.gcc_prefix}{name}")


MACHINES = MappingProxyType(
    {
        "a53": Machine(Core.CORTEX_A53, "qemu-aarch64"),
        "a7": Machine(Core.CORTEX_A7, "qemu-arm"),
    }
)


DOT = Machine(Core.CORTEX_A76, "qemu-aarch64")
"""A core with dot products."""


def _found(program: str) -> Path:
    path = process.which(program)
    if path is None:
        pytest.skip(f"{program} is not installed")
    return path


def library_for(
    core: Core,
    graph: Graph,
    folder: Path,
    make_plan: MakePlan | None = None,
    decisions: Mapping[str, object] = MappingProxyType({}),
) -> Program:
    """Lower a graph for a core and write its library into `folder`.

    `make_plan`: places buffers; default: the planner, and its check.  `decisions`: those of
    planners, by name of the node.
    """
    verify(graph, Stage.INTEGER, "the tests")
    choices = select_kernels(graph, by_precedence(bare_target(core)), decisions)
    if make_plan is None:
        buffers, overlaps, _ = buffers_of(graph, choices)
        plan = plan_memory(buffers, overlaps)
        check_plan(plan, buffers, overlaps)
    else:
        plan = make_plan(graph, choices)
    program = lower(graph, choices, plan)
    emit_library(program, folder)
    return program


def linked(
    machine: Machine, library: Path, output: Path, flags: tuple[str, ...] = ("-O2",)
) -> Path:
    """A static program that runs the library's model on samples from a file.

    Behind the arena and every input and output is a page that must not be touched.
    """
    command = [machine.tool("gcc"), "-std=c11", *WARNING_FLAGS, *machine.flags, *flags]
    command += [f"-DEDGEC_MODEL={model_symbol(library)}"]
    command += [f"-I{library / 'include'}", f"-I{HOST_DIR}", f"-I{RUNTIME_INCLUDE}"]
    sources = [*sorted((library / "src").glob("*.c")), HOST_DIR / "edgec_batch.c", BATCH_MAIN]
    link = ["-static", "-Wl,--wrap=malloc,--wrap=free"]
    return build_program(command, [*sources, GUARDED_MALLOC], output, link)


def check_program(
    machine: Machine,
    program: Path,
    compiled: Program,
    samples: list[Sample],
    folder: Path,
    length: int | None = None,
) -> None:
    """Run a program in the emulator; every tensor equals the oracle's.

    `length`: of the samples' runs, in a model of variable length.
    """
    inputs = zip(*(sample.inputs for sample in samples), strict=True)
    (folder / "in").write_bytes(b"".join(array.tobytes() for group in inputs for array in group))
    emulator = [_found(machine.emulator), "-cpu", machine.core.value]
    files = [str(len(samples)), folder / "in", folder / "steps", folder / "out"]
    if length is not None:
        files.append(str(length))
        compiled = compiled.at(length)
    done = process.run([*emulator, program, *files], timeout_s=300)
    assert done.returncode == 0 and not done.stderr, (done.returncode, done.stderr[-4000:])
    data = (folder / "steps").read_bytes()
    sizes = [step.output.size_bytes for step in compiled.steps]
    assert len(data) == len(samples) * sum(sizes)
    ends = np.cumsum(sizes)
    for index, sample in enumerate(samples):
        mine = data[index * sum(sizes) :]
        trace = [mine[end - size : end] for end, size in zip(ends, sizes, strict=True)]
        compare_trace(compiled, sample.oracle, trace, where=str(machine.core))


def check_cross(
    machine: Machine,
    graph: Graph,
    samples: list[Sample],
    folder: Path,
    flags: tuple[str, ...] = ("-O2",),
    decisions: Mapping[str, object] = MappingProxyType({}),
) -> Program:
    """Compile for a core with all warnings, run; every tensor equals the oracle's."""
    compiled = library_for(machine.core, graph, folder / "library", decisions=decisions)
    program = linked(machine, folder / "library", folder / "program", flags)
    check_program(machine, program, compiled, samples, folder)
    return compiled
