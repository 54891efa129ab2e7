"""The command `edgec validate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from edgec.base.errors import Effect, refuse_without_effect
from edgec.base.system import command_line
from edgec.cli.options import (
    DATA_FORMATS,
    Folder,
    Json,
    NormalizeOption,
    On,
    PortOption,
    check_port,
    port_words,
)
from edgec.cli.stream_options import ResampleOption
from edgec.report import console
from edgec.report.progress import progress

if TYPE_CHECKING:
    from edgec.base.errors import SimulationError
    from edgec.workflow.validation import Validation

_DEFAULT_LIMIT = 10


def validate(
    folder: Folder,
    data: Annotated[
        Path | None,
        typer.Option(help=f"Inputs, with or without labels (default: noise): {DATA_FORMATS}"),
    ] = None,
    normalize: NormalizeOption = None,
    resample: ResampleOption = False,
    on: On = "host",
    port: PortOption = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help=f"Use the first LIMIT samples (default: {_DEFAULT_LIMIT})."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE.html", help="Write the tables as a page, too."),
    ] = None,
    json: Json = False,
) -> None:
    """Hold a compiled model against its reference: every layer, bit for bit.

    The same inputs go through the float model, the numpy reference and the target.  A layer is
    exact where its output equals the reference's on all samples; the first one that is not is
    named, and the exit code is 10.  RMSE, MAE, L2 error, NSE and cosine say how far the outputs are
    from the float model's.
    """
    from edgec.base.errors import SimulationError
    from edgec.base.output_file import check_writable
    from edgec.cli.data import samples_of, words_of
    from edgec.cli.validate_text import print_validation
    from edgec.profile.validation_html import write_validation_html
    from edgec.workflow import validation

    check_port(port, on)
    no_file = "pseudo-random inputs are always the same three"
    refuse_without_effect(
        [Effect("--limit", limit is not None, data is not None, no_file, "add --data FILE")]
    )
    samples = samples_of(data, normalize, resample)
    if html is not None:
        check_writable(html, [data])
    with progress("validating") as advance:
        found = validation.validate(folder, samples, on, limit or _DEFAULT_LIMIT, advance, port)
    if html is not None:
        write_validation_html(found, html)
    if json:
        console.print_json(found.to_json())
        if not found.exact:
            raise typer.Exit(SimulationError.exit_code)
        return
    print_validation(found, console.out)
    if html is not None:
        console.out.print(f"written to {console.safe(str(html))}")
    if not found.exact:
        raise _difference(found, str(folder))
    following = _following(folder, on, port)
    if following == "profile":
        console.print_next("edgec", "profile", folder, "--on", on, *port_words(port))
    elif following == "flash":
        note = "then edgec validate ... --on device"
        console.print_next("edgec", "flash", folder, note=note)
    elif following:
        named = () if data is None else ("--data", *words_of(data, normalize, resample))
        console.print_next("edgec", "validate", folder, *named, "--on", following)


def _following(folder: Path, on: str, port: str | None) -> str:
    """Place after one that is exact, nearer to the board.

    Returns:
        "emulator" after the host, "flash" after the emulator, "profile" after the device; "" where
        there is no such place.
    """
    from edgec.report.model import Report
    from edgec.workflow.session import places_of

    if on == "device":
        return "profile"
    if on == "host" and "emulator" in places_of(folder):
        return "emulator"
    tools = Report.read(folder).board.upload.tools
    return "flash" if tools and port is None else ""


def _difference(found: Validation, folder: str) -> SimulationError:
    """The error that names the first layer that is not what the reference says."""
    from edgec.base.errors import SimulationError

    first = found.first
    if first is None:
        what = "an output differs from the reference, although no layer does"
    else:
        number = found.layers.index(first)
        what = (
            f"layer {number}, {first.title} ({first.op}), is the first whose output differs from "
            f"the reference: on {first.differing} of {found.samples} samples{first.turn_words}"
        )
    quoted = command_line([folder])
    hints = {
        "device": f"write the firmware again, edgec flash {quoted}; if it stays, the memory of "
        "the board is faulty, or edgec is: please report it with the model",
        "emulator": f"firmware.elf is damaged or edgec is faulty: edgec validate {quoted} --on "
        "host shows which; compile it again",
        "host": "library/ was changed, or edgec is faulty: compile it again",
    }
    return SimulationError(what, where=f"on {found.on}", hint=hints[found.on])
