"""The command line: thin commands over `edgec.commands`; the only place that exits.

Every `EdgecError` ends in one message on stderr and its exit code; so do full disks, missing
permissions and Ctrl-C.  Heavy packages are imported inside the commands, so that `--help` is quick.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from edgec.base.version import __version__
from edgec.cli.boards import boards, new_board, show_board
from edgec.cli.bundle import bundle
from edgec.cli.cache import cache
from edgec.cli.check import check
from edgec.cli.compare import compare
from edgec.cli.compile import compile_command
from edgec.cli.compress import compress
from edgec.cli.doctor import doctor
from edgec.cli.errors import guarded
from edgec.cli.evaluate import evaluate
from edgec.cli.explore import explore
from edgec.cli.export import export
from edgec.cli.flash import flash
from edgec.cli.given import begun
from edgec.cli.help import ReadableCommand, ReadableGroup
from edgec.cli.inspect import inspect
from edgec.cli.new import new
from edgec.cli.options import Verbose
from edgec.cli.profile import profile
from edgec.cli.quantize import quantize
from edgec.cli.report import report
from edgec.cli.run import run
from edgec.cli.tune import tune_command
from edgec.cli.validate import validate
from edgec.cli.watch import watch
from edgec.report import console

app = typer.Typer(
    name="edgec",
    cls=ReadableGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Compile trained networks (ONNX, .tflite) into tested firmware for Arm boards.",
)


def _version(value: bool) -> None:
    if value:
        console.out.print(f"edgec {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    verbose: Verbose = False,
    version: Annotated[  # noqa: ARG001  (its callback does everything)
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    console.set_up_logging(verbose)


_COMMANDS: dict[str, Callable[..., None]] = {
    "new": new,
    "compile": compile_command,
    "check": check,
    "run": run,
    "watch": watch,
    "evaluate": evaluate,
    "validate": validate,
    "profile": profile,
    "report": report,
    "compare": compare,
    "quantize": quantize,
    "compress": compress,
    "explore": explore,
    "tune": tune_command,
    "bundle": bundle,
    "export": export,
    "inspect": inspect,
    "cache": cache,
    "doctor": doctor,
    "flash": flash,
}
for _name, _command in _COMMANDS.items():
    app.command(_name, cls=ReadableCommand)(begun(_command))

_boards = typer.Typer(cls=ReadableGroup, context_settings={"help_option_names": ["-h", "--help"]})
_boards.callback(invoke_without_command=True)(begun(boards, alone=False))
_boards.command("show", cls=ReadableCommand)(begun(show_board))
_boards.command("new", cls=ReadableCommand)(begun(new_board))
app.add_typer(_boards, name="boards")


def run_app(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code.  Never raises, whatever the input."""
    words = sys.argv[1:] if arguments is None else arguments
    # Without words typer shows its help; in this mode it would print wrong usage, too.
    return guarded(lambda: app(args=arguments, standalone_mode=not words), json="--json" in words)
