"""`compile_model`: from a model file to checked firmware, top to bottom, one named step a line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from numpy.typing import ArrayLike

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.options import CompileOptions, Progress, no_progress
from edgec.base.output_dir import staged_output
from edgec.base.output_file import check_writable
from edgec.codegen.cnames import library_names
from edgec.codegen.library import emit_library
from edgec.codegen.project import FirmwareModel, emit_project
from edgec.commands.budget import check_budget, check_measurable
from edgec.commands.compile_report import build_report, model_ports
from edgec.commands.output_folder import default_folder
from edgec.importers.formats import standalone_copy
from edgec.ir.graph import Graph
from edgec.kernels.buffers import buffers_of
from edgec.kernels.placement import with_copied_weights
from edgec.kernels.select import select_kernels
from edgec.kernels.weightpool.plan.plan import PoolPlan
from edgec.lower import Program, lower
from edgec.memory import MemoryPlan, check_plan, plan_memory
from edgec.quant.precision.choose import Room
from edgec.report.model import CheckReport, Report
from edgec.report.text import write_text
from edgec.target.board import Board, load_board
from edgec.target.target import Target
from edgec.workflow.apps import Ports, check_firmware, firmware_app, with_baud
from edgec.workflow.checks import check_host
from edgec.workflow.export_check import compare_export
from edgec.workflow.file_check import compare_file
from edgec.workflow.firmware import PROJECT_DIR, build_firmware, check_build_place
from edgec.workflow.fits import Demand, Tensor, check_could_fit, check_fits
from edgec.workflow.integer import Calibration, IntegerModel, quantized_model, real_model
from edgec.workflow.reference import write_reference
from edgec.workflow.session import LIBRARY_DIR, MODEL_COPY, open_session
from edgec.workflow.weight_pool_kernels import plan_pooled_layers


@dataclass(frozen=True, slots=True, eq=False)
class CompileResult:
    """A finished compilation.

    Attributes:
        folder: the output folder.
        report: what `report.json` says.
        model: the integer graph and what led to it.
        program: what the C code was written from.
        plan: where each tensor lies.
    """

    folder: Path
    report: Report
    model: IntegerModel
    program: Program
    plan: MemoryPlan

    def run(
        self,
        x: ArrayLike | Mapping[str, ArrayLike],
        on: str = "host",
        bits: int | None = None,
        port: str | None = None,
    ) -> Array | dict[str, Array]:
        """Run the compiled model on samples.

        Args:
            x: samples [N, ...] as the model takes them; by name if it has several inputs.
            on: "host", "emulator" or "device".
            bits: most bits that layers with pooled weights see of an activation, of a model
                compiled with `runtime_bits`; None: as compiled.
            port: serial port of the device; None: found by itself.

        Returns:
            What the model would give, [N, ...]; by name when `x` is given by name.

        Raises:
            ConfigError: the samples do not fit the model, or its widths are fixed.
            SimulationError: the run failed.
        """
        session = open_session(self.folder, on, bits, port)
        if isinstance(x, Mapping):
            return session.run(x)
        if len(self.report.inputs) != 1 or len(self.report.outputs) != 1:
            raise ConfigError("the model has several inputs or outputs; give samples by name")
        return session.run({self.report.inputs[0].name: x})[self.report.outputs[0].name]


def compile_model(
    model: Path | str,
    board: Board | str,
    *,
    calibration: Calibration = None,
    out: Path | str | None = None,
    options: CompileOptions | None = None,
    progress: Progress | None = None,
    finished: Callable[[Path], None] | None = None,
) -> CompileResult:
    """Compile a model for a board and check what came out.

    Args:
        model: ONNX or TensorFlow Lite file.
        board: a board, its name or alias, or its TOML file.
        calibration: .npz file, or samples [N, ...] by input name; None: synthetic, with a warning.
        out: output folder; default build/<model>-<board>.
        options: see `CompileOptions`.
        progress: told what is being done.
        finished: given the folder with everything in it, before it becomes the output folder.

    Raises:
        EdgecError: any of its kinds; the output folder is then as it was.
    """
    options = options or CompileOptions()
    say = progress or no_progress
    target = board if isinstance(board, Board) else load_board(board)
    check_measurable(options, target)
    source = Path(model)
    folder = Path(out) if out is not None else default_folder(source, target)
    if options.build:
        check_build_place(folder)
    if options.dump_ir is not None:
        check_writable(options.dump_ir / "00.txt")
    with staged_output(folder, force=options.force) as staging:
        real = real_model(source, calibration, options, say)
        check_could_fit(real.graph, target)
        exact = quantized_model(real, options, say, _room(target))
        ready, pools = plan_pooled_layers(exact, target, options.pool, say)
        say("planning memory")
        program, plan = _lowered(pools, target)
        demand = _demand(program)
        check_fits(demand, target)
        ports = replace(model_ports(ready, program), pixels=options.pixels)
        app = firmware_app(options.app, ports)
        target = with_baud(target, app)
        say("writing C")
        # With external data inside, so that the folder stands alone.
        suffix, data = standalone_copy(source)
        (staging / f"{MODEL_COPY}{suffix}").write_bytes(data)
        emit_library(program, staging / LIBRARY_DIR)
        emit_project([_firmware_model(program, staging)], target, staging / PROJECT_DIR, app)
        size = None
        if options.build:
            say("building firmware")
            size = build_firmware(staging, target, demand)
        checks: tuple[CheckReport, ...] = ()
        qdq_export, qdq_file = None, None
        if options.verify:
            say("comparing with the reference")
            checks = _checked(staging, ready, program, target, options, ports)
            qdq_export, qdq_file = compare_export(exact), compare_file(exact)
        report = build_report(
            ready, pools, program, plan, target, size, checks, qdq_export, qdq_file, options.app
        )
        report.write(staging)
        write_reference(ready.integer, staging)
        write_text(report, staging)
        say("holding against the budget")
        check_budget(staging, options)
        if finished is not None:
            finished(staging)
    return CompileResult(folder, report, ready, program, plan)


def _lowered(pools: PoolPlan, board: Board) -> tuple[Program, MemoryPlan]:
    choices = select_kernels(pools.graph, Target.of(board), pools.configs)
    buffers, overlaps, _ = buffers_of(pools.graph, choices)
    plan = plan_memory(buffers, overlaps)
    plan, copies = with_copied_weights(pools.graph, choices, board, plan)
    check_plan(plan, (*buffers, *copies), overlaps)
    return lower(pools.graph, choices, plan), plan


def _room(board: Board) -> Room:
    """The memory that the activations of a network may take on a board."""

    def arena_bytes(graph: Graph) -> int:
        choices = select_kernels(graph, Target.of(board))
        buffers, overlaps, _ = buffers_of(graph, choices)
        return plan_memory(buffers, overlaps).arena_bytes

    return Room(arena_bytes, board.arena_limit_bytes)


def _firmware_model(program: Program, staging: Path) -> FirmwareModel:
    names = library_names(program.name)
    return FirmwareModel(
        staging / LIBRARY_DIR,
        names.name,
        names.header,
        names.symbol,
        program.arena_bytes,
        len(program.inputs),
    )


def _demand(program: Program) -> Demand:
    return Demand(
        arena_bytes=program.arena_bytes,
        weight_bytes=program.constant_bytes,
        activations=[Tensor(t.name, t.shape, t.size_bytes) for t in program.tensors],
        weights=[Tensor(c.stem, c.array.shape, c.array.nbytes) for c in program.constants],
    )


def _checked(
    staging: Path,
    ready: IntegerModel,
    program: Program,
    board: Board,
    options: CompileOptions,
    ports: Ports,
) -> tuple[CheckReport, ...]:
    host = check_host(staging / LIBRARY_DIR, ready, program, board)
    if not options.build or board.is_host:
        return (host,)
    elf = staging / "firmware.elf"
    return (host, check_firmware(options.app, elf, ready, program, board, ports))
