"""Options of `edgec compile` and keys of `edgec.toml` as one request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from edgec.base.errors import Effect, refuse_without_effect
from edgec.base.options import (
    App,
    Budget,
    CompileOptions,
    FrontEndOptions,
    LayerBits,
    Optimize,
    PoolKernelOptions,
    Precision,
    QuantOptions,
    Rows,
    StatePairs,
    StreamOptions,
)
from edgec.cli.help import INPUT, OUTPUT
from edgec.cli.inputs import shapes_of, values_of
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
    Int16Option,
    LabelsOption,
    MainOption,
    MaxDrop,
    MaxLengthOption,
    Model,
    NormalizeOption,
    ObserverOption,
    OptimizeOption,
    Percentile,
    PlacementOption,
    PoolKernels,
    PoolTable,
    PrecisionOption,
    ResidualOption,
    RoundingOption,
    Run,
    RuntimeBits,
    Shapes,
    StateOption,
    TargetDb,
    ValueOption,
    WeightBitsOption,
    max_length_of,
)
from edgec.cli.project_file import ProjectFile
from edgec.cli.row_options import InputPassesOption, InputRowsOption, RowsOption
from edgec.cli.stream_options import (
    AllowDelay,
    FrontEndOption,
    ResampleOption,
    StreamFrames,
    StreamOption,
)
from edgec.cli.tune_options import NoTuneOption, TuneOption
from edgec.report.progress import status

if TYPE_CHECKING:
    from edgec.base.samples import Normalize, SampleFile
    from edgec.commands.compile_cached import Built


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """Request to compile a model, from the command line or a project file.

    Attributes:
        model: ONNX or TensorFlow Lite file.
        board: name or file of the board.
        samples: calibration data.
        out: output folder; None: the default of `commands.compile`.
        options: how to compile it.
        cache: take the output from the cache if nothing has changed.
        labelled: the project's samples with labels as words of a command, after an option like
            --data; empty where none are known.
        tune_file: the tune file whose kernels are taken; None: all kernels are those of estimates.
        tune_asked: the user named the file, which must have something for the board then.
        tune_home: folder of a new tune file: that of the project file, else that of the model.
    """

    model: Path
    board: str
    samples: SampleFile | None
    out: Path | None
    options: CompileOptions
    cache: bool = True
    labelled: tuple[str, ...] = ()
    tune_file: Path | None = None
    tune_asked: bool = False
    tune_home: Path = Path()

    def with_kernels(self) -> CompileRequest:
        """The request with the kernels that its tune file has for the board.

        Raises:
            ConfigError: the file cannot be read, or was named and has nothing for the board.
        """
        file = self.tune_file
        if file is None or self.options.tuned is not None:
            return self
        from edgec.target.board import load_board
        from edgec.target.tune_file import kernels_of

        board, optimize = load_board(self.board), self.options.optimize
        tuned = kernels_of(file, board, optimize, asked=self.tune_asked)
        return replace(self, options=replace(self.options, tuned=tuned), tune_file=None)

    @property
    def reads(self) -> tuple[Path, ...]:
        """The user's files that are read, as far as the command line or the project names them."""
        return (self.model, *(() if self.samples is None else (self.samples.path,)))

    def check(self, folder: Path | None = None) -> None:
        """Refuse at once what cannot end well, before anything is loaded that takes time.

        Args:
            folder: where builds go; None: the output folder.

        Raises:
            EdgecError: any of its kinds.
        """
        from edgec.commands.output_folder import default_folder
        from edgec.commands.preflight import check_compile
        from edgec.target.board import load_board

        board = load_board(self.board)
        folder = folder or self.out or default_folder(self.model, board)
        samples = None if self.samples is None else self.samples.path
        check_compile(self.model, board, samples, folder, self.options)

    def compiled(self) -> Built:
        """Compile it, telling the user what is being done.

        Raises:
            EdgecError: any of its kinds.
        """
        ready = self.with_kernels()
        ready.check()
        from edgec.commands.compile_cached import build

        with status("compiling") as say:
            return build(
                ready.model,
                ready.board,
                samples=ready.samples,
                out=ready.out,
                options=ready.options,
                progress=say,
                cache=ready.cache,
            )


def compile_request(
    model: Model,
    board: BoardOption,
    run: Run = False,
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
    state: StateOption = None,
    value: ValueOption = None,
    max_length: MaxLengthOption = None,
    stream: StreamOption = None,
    stream_frames: StreamFrames = None,
    allow_delay: AllowDelay = False,
    front_end: FrontEndOption = None,
    resample: ResampleOption = False,
    observer: ObserverOption = None,
    percentile: Percentile = None,
    equalize: Equalize = None,
    bias_correction: BiasCorrection = None,
    residual: ResidualOption = None,
    effort: EffortOption = None,
    precision: PrecisionOption = None,
    target_db: TargetDb = None,
    int16: Int16Option = None,
    weight_bits: WeightBitsOption = None,
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
    main: MainOption = None,
    placement: PlacementOption = None,
    optimize: OptimizeOption = Optimize.SPEED,
    rows: RowsOption = Rows.AUTO,
    input_rows: InputRowsOption = False,
    input_passes: InputPassesOption = 1,
    tune: TuneOption = None,
    no_tune: NoTuneOption = False,
    *,
    project: ProjectFile | None = None,
) -> CompileRequest:
    """The request that the options of `edgec compile` make.

    Its parameters are the options of the command and the keys of `edgec.toml`.

    Args:
        project: file whose folder holds the default output folder; None: the current one does.

    Raises:
        ConfigError: an option cannot be read.
    """
    from edgec.base.private import check_own
    from edgec.target.board import is_board_file

    if project is not None:
        check_own(project.path, "project file", run=run)
    if is_board_file(board):
        check_own(Path(board), "board file", run=run)
    from edgec.cli.data import samples_of
    from edgec.commands.output_folder import default_folder

    options = CompileOptions(
        shapes=shapes_of(shape),
        state=StatePairs.parse(state or []),
        values=values_of(value),
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
            max_drop=max_drop if precision is Precision.AUTO else None,
            effort=effort,
            int16=tuple(int16 or ()),
        ),
        weight_bits=tuple(map(LayerBits.parse, weight_bits or ())),
        build=build,
        verify=verify,
        force=force,
        dump_ir=dump_ir,
        budget=Budget.parse(budget) if budget is not None else None,
        pool=PoolKernelOptions.parse(
            activation_bits, max_drop, runtime_bits, pool_kernel or (), pool_table, precision
        ),
        labels=labels,
        pixels=_pixels(pixels, normalize, app),
        main=main,
        placement=placement,
        optimize=optimize,
        rows=rows,
        input_rows=input_rows,
        input_passes=input_passes,
        stream=StreamOptions.parse(stream or [], stream_frames, allow_delay),
        front_end=None if front_end is None else FrontEndOptions.parse(front_end),
    )
    samples = samples_of(calibration, _for_samples(normalize, calibration, app), resample)
    why = "the file is not to be used"
    refuse_without_effect([Effect("--tune", tune is not None, not no_tune, why)])
    home = model.parent if project is None else project.folder
    file = None if no_tune else tune or _lying_tune_file((home, model.parent))
    labelled: tuple[str, ...] = ()
    if project is not None:
        out = out or default_folder(model, board, project.folder)
        labelled = _labelled(project.labelled_data, normalize, resample)
    return CompileRequest(
        *(model, board, samples, out, options, cache, labelled),
        tune_file=file,
        tune_asked=tune is not None,
        tune_home=home,
    )


def _lying_tune_file(folders: Iterable[Path]) -> Path | None:
    """The tune file in the first of some folders that has one."""
    from edgec.target.tune_file import TUNE_FILE

    return next((each / TUNE_FILE for each in folders if (each / TUNE_FILE).exists()), None)


def _labelled(data: Path | None, normalize: str | None, resample: bool) -> tuple[str, ...]:
    """Words that let commands read the samples as `edgec check` does."""
    from edgec.cli.data import words_of

    if data is None or not data.exists():
        return ()
    return tuple(str(word) for word in words_of(data, normalize, resample))


def _pixels(pixels: str | None, normalize: str | None, app: App) -> Normalize | None:
    """Normalization of a runner's pixels: from `--pixels`, else from `--normalize`."""
    from edgec.base.samples import Normalize

    if pixels is not None:
        return Normalize.parse(pixels, "--pixels")
    return None if normalize is None or app is App.CONSOLE else Normalize.parse(normalize)


def _for_samples(normalize: str | None, calibration: Path | None, app: App) -> str | None:
    """Normalization of the calibration data: none for arrays where a runner feeds the model."""
    is_arrays = calibration is None or not calibration.is_dir()
    return None if app is not App.CONSOLE and is_arrays else normalize
