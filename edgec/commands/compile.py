"""`compile_model`: from a model file to checked firmware, top to bottom, one named step a line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from edgec.base.compiler_level import CompilerLevel
from edgec.base.errors import SimulationError
from edgec.base.main_program import MainProgram, read_main
from edgec.base.options import CompileOptions, Optimize, Progress, Rows, no_progress
from edgec.base.output_dir import staged_output
from edgec.base.samples import SampleFile
from edgec.codegen.about import LibraryAbout, stack_text
from edgec.codegen.cnames import library_names
from edgec.codegen.firmware_app import FirmwareApp
from edgec.codegen.library import emit_library
from edgec.codegen.project import FirmwareModel, emit_project
from edgec.commands.budget import check_budget
from edgec.commands.compile_facts import (
    ram_constants,
    with_normalize,
)
from edgec.commands.compile_placed import placed, planned
from edgec.commands.compile_report import build_report, model_ports
from edgec.commands.compile_stream import stream_report
from edgec.commands.output_folder import default_folder, keeping
from edgec.commands.preflight import check_compile
from edgec.importers.formats import standalone_copy
from edgec.ir.graph import Graph
from edgec.kernels.price import BoardPrices
from edgec.lower import Program
from edgec.memory import MemoryPlan
from edgec.report.model import (
    CheckReport,
    PlacementReport,
    QdqFileReport,
    QdqReport,
    Report,
)
from edgec.report.text import write_text
from edgec.target.board import Board, load_board
from edgec.toolchain.build_place import PROJECT_DIR
from edgec.toolchain.platformio import FirmwareFiles
from edgec.toolchain.size import FirmwareSize
from edgec.toolchain.stack_usage import stack_usage
from edgec.workflow.apps import Ports, check_firmware, check_keeps, firmware_app, with_baud
from edgec.workflow.build import Build
from edgec.workflow.checks import check_host
from edgec.workflow.exported import compare_export
from edgec.workflow.file_check import compare_file
from edgec.workflow.firmware import build_firmware
from edgec.workflow.fits import Demand, Tensor, check_could_fit, check_fits
from edgec.workflow.front_end import front_end_of
from edgec.workflow.integer import Calibration, IntegerModel, quantized_model, real_model
from edgec.workflow.labels import with_labels
from edgec.workflow.library_about import library_about
from edgec.workflow.main_program import checked_with
from edgec.workflow.reference import write_reference
from edgec.workflow.rows import check_rows
from edgec.workflow.said_front_end import with_said_front_end
from edgec.workflow.session import LIBRARY_DIR, MODEL_COPY
from edgec.workflow.stream import stream_axes

_NOT_BUILT = CheckReport("host", 0, 0, skipped="the firmware could not be built")


@dataclass(frozen=True, slots=True, eq=False)
class CompileResult(Build):
    """A finished compilation: the build, and what it was made from.

    Attributes:
        model: the integer graph and what led to it.
        program: what the C code was written from.
        plan: where each tensor lies.
    """

    model: IntegerModel
    program: Program
    plan: MemoryPlan


def compile_model(
    model: Path | str,
    board: Board | str,
    *,
    calibration: Calibration = None,
    out: Path | str | None = None,
    options: CompileOptions | None = None,
    progress: Progress | None = None,
    finished: Callable[[Path], None] | None = None,
    quantized: IntegerModel | None = None,
    with_stack: bool = True,
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
        quantized: the model of these options, where somebody has quantized it before.
        with_stack: measure the stack of the library's functions, which needs further runs of the
            compiler; size and time are the same without.

    Raises:
        EdgecError: any of its kinds; the output folder is then as it was.
    """
    options = options or CompileOptions()
    say = progress or no_progress
    target = board if isinstance(board, Board) else load_board(board)
    source = Path(model)
    folder = Path(out) if out is not None else default_folder(source, target)
    check_compile(source, target, _on_disk(calibration), folder, options)
    options = with_said_front_end(options, source)
    main = None if options.main is None else read_main(options.main)
    with staged_output(folder, force=options.force) as staging:
        exact = quantized or _quantized(source, target, calibration, options, say)
        ready, pools = planned(exact, target, options, say)
        say("planning memory")
        places = placed(pools, target, options, say)
        made, placement = places.made, places.placement
        program = made.program
        demand = _demand(program, target, placement)
        check_fits(demand, target)
        ports = replace(model_ports(ready, program), pixels=options.pixels)
        app = firmware_app(options.app, ports, main)
        target = with_baud(target, app)
        say("writing C")
        # With external data inside, so that the folder stands alone.
        suffix, data = standalone_copy(source, options.shapes, options.state, options.values)
        (staging / f"{MODEL_COPY}{suffix}").write_bytes(data)
        about = library_about(ready, calibration, options.pixels, options.app)
        measured = options.build and with_stack
        run_stack = _write_library(program, staging / LIBRARY_DIR, about, target, measured)
        _emit_firmware(program, staging, target, app, placement, options.optimize)

        def written(
            size: FirmwareSize | None = None,
            checks: tuple[CheckReport, ...] = (_NOT_BUILT,),
            of_export: QdqReport | None = None,
            of_file: QdqFileReport | None = None,
        ) -> Report:
            found = build_report(
                ready,
                pools,
                program,
                made.plan,
                target,
                size,
                checks,
                of_export,
                of_file,
                options.app,
                placement,
                options.optimize,
                run_stack,
                places.speed,
                places.rows,
                stream_report(ready, exact, target, options),
                places.tuned,
            )
            found = replace(found, inputs=with_normalize(found.inputs, calibration))
            found.write(staging)
            write_reference(ready.integer, staging)
            write_text(found, staging)
            return found

        size = None
        if options.build:
            say("building firmware")
            with keeping(staging, folder, written):
                size = build_firmware(staging, target, demand, main)
        checks: tuple[CheckReport, ...] = ()
        qdq_export, qdq_file = None, None
        if options.verify:
            say("comparing with the reference")
            checks = _checked(staging, ready, program, target, options, ports, main)
            qdq_export, qdq_file = compare_export(exact), compare_file(exact)
        report = written(size, checks, qdq_export, qdq_file)
        say("holding against the budget")
        check_budget(staging, options.budget)
        if finished is not None:
            finished(staging)
    return CompileResult(folder, report, ready, program, made.plan)


def _quantized(
    source: Path, board: Board, calibration: Calibration, options: CompileOptions, say: Progress
) -> IntegerModel:
    """The integer model of a file, unless the board surely cannot hold it."""
    front = front_end_of(options.front_end)
    real = real_model(source, calibration, options, say, front)
    _check_possible(real.graph, board, options)
    return quantized_model(with_labels(real, options.labels), options, say, BoardPrices(board))


def _on_disk(calibration: Calibration) -> Path | None:
    """The file of calibration data; None for arrays and where there are none."""
    match calibration:
        case SampleFile() | Path() | str():
            return SampleFile.of(calibration).path
    return None


def _check_possible(graph: Graph, board: Board, options: CompileOptions) -> None:
    """Refuse what board or main program surely cannot do, before the network is quantized."""
    check_rows(graph, options)
    check_could_fit(graph, board, in_rows=options.rows is not Rows.NEVER)
    check_keeps(options.app, graph)
    stream_axes(graph, options.stream)


def _write_library(
    program: Program, library: Path, about: LibraryAbout, board: Board, with_stack: bool
) -> dict[CompilerLevel, int]:
    """Write the library; with the stack that it needs, if it is to be measured, which is given."""
    emit_library(program, library, about=about)
    if not with_stack:
        return {}
    source = Path("src", f"{library_names(program.name).prefix}.c")
    run_stack = stack_usage(library, source, board)
    stack = stack_text(run_stack, board.core.value)
    emit_library(program, library, about=replace(about, stack=stack))
    return run_stack


def _emit_firmware(
    program: Program,
    staging: Path,
    board: Board,
    app: FirmwareApp,
    placement: PlacementReport | None,
    optimize: Optimize,
) -> None:
    """Write the project around the library that `staging` holds."""
    names = library_names(program.name)
    model = FirmwareModel(
        staging / LIBRARY_DIR,
        names.name,
        names.header,
        names.symbol,
        program.arena_bytes,
        len(program.inputs),
        ram_constants(placement),
        program.state_bytes,
        program.handed is not None,
    )
    arena_in = None if placement is None else placement.arena_in
    emit_project([model], board, staging / PROJECT_DIR, app, arena_in, optimize)


def _demand(program: Program, board: Board, placement: PlacementReport | None) -> Demand:
    moved = (
        placement is not None
        and board.memory is not None
        and (bool(placement.weights) or placement.arena_in != board.memory.arena_in)
    )
    return Demand(
        arena_bytes=program.arena_bytes + program.state_bytes,
        weight_bytes=program.constant_bytes,
        activations=[Tensor(t.name, t.shape, t.size_bytes) for t in program.tensors],
        weights=[Tensor(c.stem, c.array.shape, c.array.nbytes) for c in program.constants],
        placed=moved,
    )


def _checked(
    staging: Path,
    ready: IntegerModel,
    program: Program,
    board: Board,
    options: CompileOptions,
    ports: Ports,
    main: MainProgram | None,
) -> tuple[CheckReport, ...]:
    host = check_host(staging / LIBRARY_DIR, ready, program, board)
    if not options.build or board.is_host:
        return (host,)
    elf = staging / FirmwareFiles.ELF
    try:
        return (host, check_firmware(options.app, elf, ready, program, board, ports))
    except SimulationError as error:
        raise (error if main is None else checked_with(error, main)) from error
