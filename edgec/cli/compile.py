"""The command `edgec compile`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from edgec.base.options import App, Budget, CompileOptions, PoolKernelOptions, QuantOptions
from edgec.base.output_file import check_writable
from edgec.cli.options import (
    DATA_FORMATS,
    OUT,
    POOL_DEFAULTS,
    ActivationBits,
    AppOption,
    BiasCorrection,
    BoardOption,
    EffortOption,
    Equalize,
    Json,
    LabelsOption,
    MaxDrop,
    MaxLengthOption,
    Model,
    NormalizeOption,
    ObserverOption,
    Percentile,
    PoolKernels,
    PoolTable,
    PrecisionOption,
    ResidualOption,
    RoundingOption,
    RuntimeBits,
    Shapes,
    TargetDb,
    max_length_of,
    shapes_of,
)
from edgec.cli.panels import INPUT, OUTPUT
from edgec.cli.project import with_project
from edgec.report import console
from edgec.report.progress import status

if TYPE_CHECKING:
    from edgec.base.samples import Normalize, SampleFile
    from edgec.commands.compile_cached import Built


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """What a user asks to be compiled.

    Attributes:
        model: ONNX or TensorFlow Lite file.
        board: name or file of the board.
        samples: calibration data.
        out: output folder; None: the default of `commands.compile`.
        options: how to compile it.
        cache: take the output from the cache if nothing has changed.
    """

    model: Path
    board: str
    samples: SampleFile | None
    out: Path | None
    options: CompileOptions
    cache: bool = True

    def compiled(self) -> Built:
        """Compile it, telling the user what is being done.

        Raises:
            EdgecError: any of its kinds.
        """
        from edgec.commands.compile_cached import build

        with status("compiling") as say:
            return build(
                self.model,
                self.board,
                samples=self.samples,
                out=self.out,
                options=self.options,
                progress=say,
                cache=self.cache,
            )


def compile_request(
    model: Model,
    board: BoardOption,
    calibration: Annotated[
        Path | None,
        typer.Option(help=f"Typical inputs: {DATA_FORMATS}", rich_help_panel=INPUT),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            *OUT, help="Output folder (default: build/<model>-<board>).", rich_help_panel=OUTPUT
        ),
    ] = None,
    normalize: NormalizeOption = None,
    shape: Shapes = None,
    max_length: MaxLengthOption = None,
    observer: ObserverOption = None,
    percentile: Percentile = None,
    equalize: Equalize = None,
    bias_correction: BiasCorrection = None,
    residual: ResidualOption = None,
    effort: EffortOption = None,
    precision: PrecisionOption = None,
    target_db: TargetDb = None,
    rounding: RoundingOption = None,
    build: Annotated[
        bool,
        typer.Option("--build/--no-build", help="Also build the firmware.", rich_help_panel=OUTPUT),
    ] = True,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify/--no-verify",
            help="Run the generated code and compare every tensor with the reference.",
            rich_help_panel=OUTPUT,
        ),
    ] = True,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Replace generated files that were edited by hand.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    cache: Annotated[
        bool,
        typer.Option(
            "--cache/--no-cache",
            help="Take the same output from an earlier time if nothing has changed.",
            rich_help_panel=OUTPUT,
        ),
    ] = True,
    dump_ir: Annotated[
        Path | None,
        typer.Option(
            help="Write the graph after each pass into this folder.", rich_help_panel=OUTPUT
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="flash=256K,ram=64K,ms=50",
            help="Fail if the firmware needs more memory, or one inference more time (estimated).",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    activation_bits: ActivationBits = str(POOL_DEFAULTS.activation_bits),
    max_drop: MaxDrop = None,
    runtime_bits: RuntimeBits = False,
    pool_kernel: PoolKernels = None,
    pool_table: PoolTable = None,
    labels: LabelsOption = None,
    pixels: Annotated[
        str | None,
        typer.Option(
            metavar="scale=1/255[,mean=...,std=...]",
            help="How pixels of 0 to 255 become the model's numbers, for a function of the C "
            "library (default: --normalize of images, or as the model's file says).",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    app: AppOption = App.CONSOLE,
    *,
    root: Path | None = None,
) -> CompileRequest:
    """The request that the options of `edgec compile` make.

    Its parameters are the options of the command and the keys of `edgec.toml`.

    Args:
        root: folder in which the default output folder lies; None: the current one.

    Raises:
        ConfigError: an option cannot be read.
    """
    from edgec.cli.data import samples_of
    from edgec.commands.output_folder import default_folder

    options = CompileOptions(
        shapes=shapes_of(shape),
        max_length=max_length_of(max_length),
        rounding=rounding,
        app=app,
        quant=QuantOptions(
            observer,
            percentile,
            equalize,
            bias_correction,
            residual=residual,
            precision=precision,
            target_db=target_db,
            effort=effort,
        ),
        build=build,
        verify=verify,
        force=force,
        dump_ir=dump_ir,
        budget=Budget.parse(budget) if budget is not None else None,
        pool=PoolKernelOptions.parse(
            activation_bits, max_drop, runtime_bits, pool_kernel or (), pool_table
        ),
        labels=labels,
        pixels=_pixels(pixels, normalize, app),
    )
    samples = samples_of(calibration, _for_samples(normalize, calibration, app))
    folder = default_folder(model, board, root) if root is not None and out is None else out
    return CompileRequest(model, board, samples, folder, options, cache)


def _pixels(pixels: str | None, normalize: str | None, app: App) -> Normalize | None:
    """How pixels become the model's numbers: those of a runner as `--normalize` says, too."""
    from edgec.base.samples import Normalize

    if pixels is not None:
        return Normalize.parse(pixels, "--pixels")
    return None if normalize is None or app is App.CONSOLE else Normalize.parse(normalize)


def _for_samples(normalize: str | None, calibration: Path | None, app: App) -> str | None:
    """What `--normalize` says of the calibration data: arrays need nothing where a runner does."""
    is_arrays = calibration is None or not calibration.is_dir()
    return None if app is not App.CONSOLE and is_arrays else normalize


def _compile(
    request: CompileRequest,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.html",
            help="Write a page on the build: memory, layers, codes of tensors.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Quantize MODEL, generate C, build firmware for BOARD and check it against the reference.

    Without MODEL, edgec.toml in this folder says what to compile.  The output folder holds
    report.json and report.txt, library/ (the C library, usable alone), project/ (PlatformIO),
    reference.npz (what edgec validate compares with), firmware.elf, .bin and .hex.
    """
    from edgec.report.text import print_report
    from edgec.workflow.session import places_of

    if html is not None:
        check_writable(html)
    result = request.compiled()
    if html is not None:
        _write_page(result.folder, html, request.samples)
    if json:
        console.print_json(result.report.to_json())
        return
    print_report(result.report, console.out)
    print_files(result.folder)
    if html is not None:
        console.out.print(f"  page: {console.safe(str(html))}")
    places = places_of(result.folder)
    if result.report.app is not App.CONSOLE:
        if result.report.board.upload.tools:
            console.print_next("edgec", "flash", result.folder)
    elif places:
        words = ("evaluate", result.folder, "--data", "LABELLED.npz", "--on", places[-1])
        console.print_next("edgec", *words)


compile_command = with_project(compile_request, _compile)


def _write_page(folder: Path, html: Path, samples: SampleFile | None) -> None:
    """Write the page of a build, telling the user what is being done."""
    from edgec.commands.compile_page import write_page

    with status("counting codes") as say:
        write_page(folder, html, samples, say)


def print_files(folder: Path) -> None:
    """Where the results are."""
    from edgec.report.model import REPORT_JSON
    from edgec.report.text import REPORT_TXT
    from edgec.workflow.firmware import PROJECT_DIR
    from edgec.workflow.session import LIBRARY_DIR

    files = {
        "report": (REPORT_TXT, REPORT_JSON),
        "firmware": ("firmware.elf", "firmware.bin", "firmware.hex", "firmware.uf2", "firmware"),
        "C library": (LIBRARY_DIR,),
        "project": (PROJECT_DIR,),
    }
    console.out.print(f"written to {console.safe(str(folder))}")
    for what, names in files.items():
        found = [str(folder / name) for name in names if (folder / name).exists()]
        if found:
            console.out.print(f"  {what}: {console.safe(', '.join(found))}")
