"""`edgec bundle`: one firmware that serves several compiled models.

The models share the arena, and the memory of states, which is reset when another model is selected;
what their pools of weights have in common is linked once.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError, SimulationError
from edgec.base.options import Optimize, Progress, no_progress
from edgec.base.output_dir import staged_output
from edgec.base.work_folder import temporary_folder
from edgec.codegen.cnames import library_names
from edgec.codegen.project import FirmwareModel, RamConstant, emit_project
from edgec.commands.compile_facts import ram_constants
from edgec.lower.resident import free_bytes
from edgec.report.bundle import Bundle, BundledModel
from edgec.report.model import Report
from edgec.sim.emulator import EmulatedFirmware
from edgec.sim.host import runs_natively
from edgec.sim.host_process import host_process
from edgec.target.board import Board
from edgec.toolchain.build_place import PROJECT_DIR, check_build_place
from edgec.toolchain.platformio import FirmwareFiles, Mode, check_installed
from edgec.toolchain.size import FirmwareSize
from edgec.workflow.firmware import build_firmware
from edgec.workflow.fits import Demand, Tensor
from edgec.workflow.session import LIBRARY_DIR, firmware_program

_SEED = 20240521


def bundle_models(
    folders: Sequence[Path], out: Path, *, force: bool = False, progress: Progress = no_progress
) -> Bundle:
    """Build one firmware from several build folders.

    Args:
        folders: folders that `edgec compile` wrote, all for one board, of different models.
        out: output folder.
        force: replace generated files that were edited by hand.
        progress: told what is being done.

    Raises:
        ConfigError: the folders do not go together.
        MemoryPlanError: the firmware does not fit the board.
        SimulationError: a model computes something else than it did alone.
    """
    reports = [Report.read(folder) for folder in folders]
    board = _common_board(folders, reports)
    _check_different(folders, reports)
    check_build_place(out)
    check_installed(board, Mode.INSTALLED)
    with staged_output(out, force=force) as staging:
        arena_in, in_ram = _in_ram(reports, board)
        models = [
            _taken(folder, report, staging, constants)
            for folder, report, constants in zip(folders, reports, in_ram, strict=True)
        ]
        optimize = _preferred(reports)
        emit_project(models, board, staging / PROJECT_DIR, arena_in=arena_in, optimize=optimize)
        progress("building firmware")
        size = build_firmware(staging, board, _demand(reports))
        progress("comparing with the single models")
        checked = _compare(staging, board, models, folders)
        found = Bundle(
            board=board,
            models=tuple(
                _bundled(*pair, checked=checked) for pair in zip(folders, reports, strict=True)
            ),
            arena_bytes=max(report.memory.arena_bytes for report in reports),
            flash_bytes=None if size is None else size.flash_bytes,
            ram_bytes=None if size is None else size.ram_bytes,
            shared_bytes=None if size is None else _shared_bytes(reports, size),
        )
        found.write(staging)
    return found


def _common_board(folders: Sequence[Path], reports: Sequence[Report]) -> Board:
    if len(folders) < 2:
        raise ConfigError("a bundle needs two build folders or more")
    board = reports[0].board
    for folder, report in zip(folders, reports, strict=True):
        if report.board.name != board.name:
            raise ConfigError(
                f"was compiled for {report.board.name}, the first one for {board.name}",
                where=str(folder),
                hint="compile all models of a bundle for one board",
            )
        if not (folder / LIBRARY_DIR / "library.json").is_file():
            raise ConfigError("holds no library", where=str(folder), hint="compile it again")
    return board


def _preferred(reports: Sequence[Report]) -> Optimize:
    """Preference of the firmware's compiler: that of all builds, or speed where they differ."""
    found = {report.optimize for report in reports}
    return found.pop() if len(found) == 1 else Optimize.SPEED


def _check_different(folders: Sequence[Path], reports: Sequence[Report]) -> None:
    seen: dict[str, Path] = {}
    for folder, report in zip(folders, reports, strict=True):
        if report.c_name in seen:
            raise ConfigError(
                f"holds a model of the same name as {seen[report.c_name]}",
                where=str(folder),
                hint="rename one model file and compile it again",
            )
        seen[report.c_name] = folder


def _in_ram(
    reports: Sequence[Report], board: Board
) -> tuple[str | None, list[tuple[RamConstant, ...]]]:
    """The region of the shared arena, and the constants of each model that lie in RAM.

    Each model was placed as if it had the board alone: the constants of the first models keep their
    places, those that find no room any more stay in flash.
    """
    placements = [report.placement for report in reports]
    regions = {found.arena_in for found in placements if found is not None}
    if board.memory is None or not regions:
        return None, [() for _ in reports]
    arena_in = regions.pop() if len(regions) == 1 else board.memory.arena_in
    arena_bytes = max(report.memory.arena_bytes for report in reports)
    arena_bytes += max(report.memory.state_bytes for report in reports)
    free = free_bytes(board.memory, board.memory.region(arena_in), arena_bytes)
    in_ram = []
    for placement in placements:
        kept = []
        for constant in ram_constants(placement):
            if constant.size_bytes <= free[constant.region]:
                free[constant.region] -= constant.size_bytes
                kept.append(constant)
        in_ram.append(tuple(kept))
    return arena_in, in_ram


def _taken(
    folder: Path, report: Report, staging: Path, in_ram: tuple[RamConstant, ...]
) -> FirmwareModel:
    """A model whose library is copied into the bundle."""
    names = library_names(report.model)
    library = staging / LIBRARY_DIR / names.name
    shutil.copytree(folder / LIBRARY_DIR, library)
    return FirmwareModel(
        library,
        names.name,
        names.header,
        names.symbol,
        report.memory.arena_bytes,
        len(report.inputs),
        in_ram,
        report.memory.state_bytes,
        report.by_rows,
    )


def _demand(reports: Sequence[Report]) -> Demand:
    arenas = [Tensor(r.model, (r.memory.arena_bytes,), r.memory.arena_bytes) for r in reports]
    state_bytes = max(report.memory.state_bytes for report in reports)
    weights = [Tensor(r.model, (r.memory.weight_bytes,), r.memory.weight_bytes) for r in reports]
    return Demand(
        arena_bytes=max(tensor.size_bytes for tensor in arenas) + state_bytes,
        weight_bytes=sum(tensor.size_bytes for tensor in weights),
        activations=arenas,
        weights=weights,
    )


def _bundled(folder: Path, report: Report, *, checked: bool) -> BundledModel:
    memory = report.memory
    return BundledModel(report.model, str(folder), memory.weight_bytes, memory.arena_bytes, checked)


def _shared_bytes(reports: Sequence[Report], size: FirmwareSize) -> int:
    return max(0, sum(report.memory.weight_bytes for report in reports) - size.weights_bytes)


def _compare(
    staging: Path, board: Board, models: Sequence[FirmwareModel], folders: Sequence[Path]
) -> bool:
    """Run each model of the firmware on noise and compare it with what it computes alone."""
    program = staging / FirmwareFiles.ELF
    if board.emulator.kind == "none":
        return False
    try:
        with EmulatedFirmware(program, board) as firmware:
            for index, (model, folder) in enumerate(zip(models, folders, strict=True)):
                firmware.client.select(index)
                inputs = [_noise(tensor.size_bytes) for tensor in firmware.info().inputs]
                found = _first_outputs(firmware, inputs, _runs(folder))
                for ours, alone in zip(found, _alone(model, folder, board, inputs), strict=True):
                    if not np.array_equal(ours, alone.reshape(-1)):
                        raise SimulationError(
                            "computes something else in the bundle than alone", where=model.name
                        )
    except ConfigError:  # the emulator is not installed
        return False
    return True


def _runs(folder: Path) -> int:
    """Runs from a reset to the first output."""
    stream = Report.read(folder).steps
    return 1 if stream is None else stream.runs


def _first_outputs(
    firmware: EmulatedFirmware, inputs: Sequence[Array], runs: int
) -> tuple[Array, ...]:
    """The outputs of the last of some runs of one input."""
    *_, found = (firmware.run(inputs) for _ in range(runs))
    return found.outputs


def _noise(size_bytes: int) -> Array:
    generator = np.random.default_rng(_SEED)
    return generator.integers(-128, 128, size_bytes).astype(np.int8)


def _alone(
    model: FirmwareModel, folder: Path, board: Board, inputs: Sequence[Array]
) -> list[Array]:
    """Outputs of the library on this computer, or of the firmware that `folder` holds."""
    if not runs_natively(board):
        with EmulatedFirmware(firmware_program(folder, Report.read(folder)), board) as firmware:
            return list(_first_outputs(firmware, inputs, _runs(folder)))
    with (
        temporary_folder() as build_dir,
        host_process(model.library_dir, build_dir, flags=("-O1",)) as host,
    ):
        steps = [np.stack([array] * _runs(folder)) for array in inputs]
        return [each[-1] for each in host.run(steps)]
