"""The command line: thin commands over `driver` and `session`; the only place that exits.

Every `EdgecError` ends in one message on stderr and its exit code; so do full disks, missing
permissions and Ctrl-C.  Heavy packages are imported inside the commands, so that `--help` is quick.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from edgec import __version__, console
from edgec.cli_compress import compress
from edgec.cli_errors import guarded
from edgec.cli_judge import compare, evaluate, profile
from edgec.cli_options import (
    DEFAULTS,
    POOL_DEFAULTS,
    ActivationBits,
    BiasCorrection,
    Equalize,
    Folder,
    Json,
    MaxDrop,
    MaxLengthOption,
    Model,
    ObserverOption,
    On,
    Percentile,
    PoolKernels,
    PoolTable,
    ResidualOption,
    RuntimeBits,
    Shapes,
    max_length_of,
    shapes_of,
)
from edgec.options import Budget, CompileOptions, PoolKernelOptions, QuantOptions

app = typer.Typer(
    name="edgec",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Compile trained ONNX networks into tested firmware for Arm microcontrollers.\n\n"
    "Start with: edgec inspect MODEL.onnx, then edgec compile MODEL.onnx --board nucleo",
)


def _version(value: bool) -> None:
    if value:
        console.out.print(f"edgec {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    verbose: Annotated[bool, typer.Option("--verbose", help="Log what is done.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    console.set_up_logging(verbose)


@app.command("compile")
def compile_command(
    model: Model,
    board: Annotated[str, typer.Option(help="Board name (edgec boards) or a board's .toml file.")],
    calibration: Annotated[
        Path | None,
        typer.Option(help=".npz with typical inputs: 'x' [N, ...] as the model takes them."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Output folder [default: build/<model>-<board>].")
    ] = None,
    shape: Shapes = None,
    max_length: MaxLengthOption = None,
    observer: ObserverOption = DEFAULTS.observer,
    percentile: Percentile = DEFAULTS.percentile,
    equalize: Equalize = DEFAULTS.equalize,
    bias_correction: BiasCorrection = DEFAULTS.bias_correction,
    residual: ResidualOption = DEFAULTS.residual,
    build: Annotated[bool, typer.Option("--build/--no-build", help="Build firmware too.")] = True,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify/--no-verify",
            help="Run the generated code and compare every tensor with the reference.",
        ),
    ] = True,
    force: Annotated[
        bool, typer.Option("--force", help="Replace generated files that were edited by hand.")
    ] = False,
    dump_ir: Annotated[
        Path | None, typer.Option(help="Write the graph after each pass into this folder.")
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="flash=256K,ram=64K,ms=50",
            help="Fail when the firmware is larger, or its estimated inference slower.",
        ),
    ] = None,
    activation_bits: ActivationBits = str(POOL_DEFAULTS.activation_bits),
    max_drop: MaxDrop = None,
    runtime_bits: RuntimeBits = False,
    pool_kernel: PoolKernels = None,
    pool_table: PoolTable = None,
    json: Json = False,
) -> None:
    """Quantize MODEL, generate C, build firmware for BOARD and check it against the reference.

    The output folder holds report.json and report.txt, library/ (the C library, usable alone),
    project/ (PlatformIO) and firmware.elf, .bin and .hex.
    """
    from edgec import driver
    from edgec.report_text import print_report

    options = CompileOptions(
        shapes=shapes_of(shape),
        max_length=max_length_of(max_length),
        quant=QuantOptions(observer, percentile, equalize, bias_correction, residual=residual),
        build=build,
        verify=verify,
        force=force,
        dump_ir=dump_ir,
        budget=Budget.parse(budget) if budget is not None else None,
        pool=PoolKernelOptions.parse(
            activation_bits, max_drop, runtime_bits, pool_kernel or (), pool_table
        ),
    )
    with console.status("compiling") as say:
        result = driver.compile_model(
            model, board, calibration=calibration, out=out, options=options, progress=say
        )
    if json:
        console.print_json(result.report.to_json())
        return
    print_report(result.report, console.out)
    console.print_next(
        f"edgec evaluate {result.folder} --data LABELLED.npz --on {'emulator' if build else 'host'}"
    )


@app.command()
def run(
    folder: Folder,
    input: Annotated[Path, typer.Option("--input", help=".npz with inputs: 'x' [N, ...].")],
    output: Annotated[
        Path | None, typer.Option("--output", help="Write outputs by name to this .npz.")
    ] = None,
    on: On = "host",
    json: Json = False,
) -> None:
    """Run a compiled model on inputs, natively or as emulated firmware."""
    from edgec.samples import save_npz
    from edgec.session import run_file

    with console.progress("running") as progress:
        outputs = run_file(folder, input, on, progress)
    if output is not None:
        save_npz(output, outputs)
    if json:
        console.print_json({name: array.tolist() for name, array in outputs.items()})
        return
    rows = [
        (
            name,
            list(array.shape),
            " ".join(f"{v:.4g}" for v in array.reshape(len(array), -1)[0][:8]),
        )
        for name, array in outputs.items()
    ]
    console.out.print(console.table("Outputs", ("name", "shape", "first sample"), rows))
    if output is None:
        console.print_next(f"edgec run {folder} --input {input} --on {on} --output outputs.npz")
    else:
        console.out.print(f"written to {output}", markup=False)


app.command()(evaluate)
app.command()(profile)
app.command()(compare)


@app.command()
def quantize(
    model: Model,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="MODEL.int8.onnx", help="QDQ ONNX to write.")
    ],
    calibration: Annotated[
        Path | None, typer.Option(help=".npz with typical inputs: 'x' [N, ...].")
    ] = None,
    shape: Shapes = None,
    observer: ObserverOption = DEFAULTS.observer,
    percentile: Percentile = DEFAULTS.percentile,
    equalize: Equalize = DEFAULTS.equalize,
    bias_correction: BiasCorrection = DEFAULTS.bias_correction,
    json: Json = False,
) -> None:
    """Quantize a float model to a standard QDQ int8 ONNX file that onnxruntime runs."""
    from edgec.quantization import quantize_model
    from edgec.report_text import print_quantization

    options = CompileOptions(
        shapes=shapes_of(shape), quant=QuantOptions(observer, percentile, equalize, bias_correction)
    )
    with console.status("quantizing") as say:
        result = quantize_model(
            model, output, calibration=calibration, options=options, progress=say
        )
    if json:
        console.print_json(result.to_json())
        return
    print_quantization(result, console.out)
    console.print_next(f"edgec compile {output} --board nucleo")


app.command()(compress)


@app.command()
def bundle(
    folders: Annotated[list[Path], typer.Argument(help="Build folders of `edgec compile`.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Output folder.")],
    force: Annotated[
        bool, typer.Option("--force", help="Replace generated files that were edited by hand.")
    ] = False,
    json: Json = False,
) -> None:
    """Build one firmware that serves several compiled models.

    All models must have been compiled for one board.  They share the arena; a pool of weights that
    several of them use (edgec compress --shared-pool) is stored once.
    """
    from edgec.bundle import bundle_models
    from edgec.report_bundle import print_bundle

    with console.status("bundling") as say:
        found = bundle_models(folders, out, force=force, progress=say)
    if json:
        console.print_json(found.to_json())
        return
    print_bundle(found, console.out)
    console.print_next(f"edgec flash {out}    (on the console, `model N` selects a model)")


@app.command()
def inspect(
    model: Model, shape: Shapes = None, max_length: MaxLengthOption = None, json: Json = False
) -> None:
    """Show a model's operators, shapes, MACs and parameters, and what is not supported and why."""
    from edgec import inspection
    from edgec.report_text import print_inspection

    result = inspection.inspect(model, shapes_of(shape), max_length_of(max_length))
    if json:
        console.print_json(result.to_json())
        return
    print_inspection(result, console.out)
    if result.summary.supported:
        console.print_next(f"edgec compile {model} --board nucleo")


@app.command()
def boards(json: Json = False) -> None:
    """List the boards that edgec builds firmware for."""
    from edgec.board import list_boards
    from edgec.report_text import board_rows

    found = list_boards()
    if json:
        console.print_json([board.to_json() for board in found])
        return
    columns = ("board", "alias", "core", ">MHz", ">flash", ">RAM", "emulator", "name")
    console.out.print(console.table("Boards", columns, board_rows(found)))
    console.print_next("edgec compile MODEL.onnx --board nucleo")


@app.command()
def doctor(json: Json = False) -> None:
    """Check that compilers, PlatformIO and emulators are there; say how to install what is not."""
    from edgec.report_text import print_doctor
    from edgec.toolchain.doctor import diagnose

    checks = diagnose()
    if json:
        console.print_json([check.to_json() for check in checks])
    else:
        print_doctor(checks, console.out)
    if any(check.required and not check.ok for check in checks):
        raise typer.Exit(1)


@app.command()
def flash(
    folder: Folder,
    port: Annotated[
        str | None, typer.Option(help="Upload port or mount point, when there are several boards.")
    ] = None,
) -> None:
    """Write the firmware of a build folder to the board that is plugged in."""
    from edgec.firmware import PROJECT_DIR
    from edgec.report_bundle import board_of
    from edgec.toolchain.flash import upload

    board = board_of(folder)
    with console.status("uploading"):
        done = upload(folder / PROJECT_DIR, board, port=port)
    console.out.print(done, markup=False)
    baud = board.console.baud if board.console else 115200
    console.print_next(f"python -m serial.tools.miniterm - {baud}    (then type: help)")


def run_app(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code.  Never raises, whatever the input."""
    return guarded(lambda: app(args=arguments))


def main() -> None:
    """Entry point of the `edgec` command."""
    sys.exit(run_app())
