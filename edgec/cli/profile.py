"""The command `edgec profile`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from edgec.base.errors import ConfigError, Effect, refuse_without_effect
from edgec.cli.options import (
    DATA_FORMATS,
    Folder,
    Json,
    MemoryOption,
    NormalizeOption,
    PortOption,
    check_port,
)
from edgec.report import console
from edgec.report.progress import status

if TYPE_CHECKING:
    from edgec.base.samples import SampleFile
    from edgec.profile.energy import Battery

_NO_RATE = "how long it lasts depends on how often the network runs"


def profile(
    folder: Folder,
    input: Annotated[
        Path | None,
        typer.Option("--input", help=f"The first sample is run (default: noise): {DATA_FORMATS}"),
    ] = None,
    normalize: NormalizeOption = None,
    json: Json = False,
    html: Annotated[
        Path | None, typer.Option(help="Write the profile with charts to this .html file.")
    ] = None,
    memory: MemoryOption = "flash",
    length: Annotated[
        int | None,
        typer.Option(
            min=1, help="Tokens of the run, for builds with --max-length (default: the most)."
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(metavar="10", help="Runs a second: print the mean power, too."),
    ] = None,
    battery: Annotated[
        str | None,
        typer.Option(
            metavar="1000mAh[@3.7V]",
            help="With --rate: how many days a battery lasts (default: a lithium cell).",
        ),
    ] = None,
    on: Annotated[
        str,
        typer.Option(
            "--on",
            metavar="emulator|device",
            help="emulator: the estimate alone; device: beside it what the board that is plugged "
            "in measures.",
        ),
    ] = "emulator",
    port: PortOption = None,
    measured: Annotated[
        Path | None,
        typer.Option(
            metavar="PORT|LOG",
            help="Compare with a board: its serial port, or a log of its bench command.",
        ),
    ] = None,
) -> None:
    """Estimate cycles, time and energy of every layer, from the firmware alone.

    Runs firmware.elf in an emulator and prices what it executes by a model of the core and of its
    flash; docs/simulator.md says what is modelled and how far to trust it.  For boards with Linux
    it counts executed instructions.
    """
    from edgec.base.output_file import check_writable
    from edgec.cli.data import samples_of
    from edgec.profile import profile as profile_folder
    from edgec.profile.energy import with_duty
    from edgec.profile.html import write_html
    from edgec.profile.measured import measurement_of, with_measurement
    from edgec.profile.text import print_profile
    from edgec.report.model import Report

    check_port(port, on)
    _check_place(on, measured)
    cell = _battery(rate, battery)
    report = Report.read(folder)
    samples = samples_of(input, normalize)
    if report.board.linux is not None:
        given = {
            "html": html is not None,
            "measured": measured is not None,
            "on": on == "device",
            "rate": rate is not None,
        }
        refuse_without_effect(
            Effect(
                f"--{option}",
                is_given,
                False,
                f"it would show cycles, of which there is no model for {report.board.name}",
                f"edgec profile {folder} counts instructions; --json has them all",
            )
            for option, is_given in {**given, "memory": memory != "flash"}.items()
        )
        _count_instructions(folder, samples, length, json)
        return
    if html is not None:
        check_writable(html, [input, measured])
    measurement = None
    if measured is not None:  # first: a bad log is known before the work is done
        measurement = measurement_of(measured, folder, report, samples, length)
    elif on == "device":
        with status("measuring"):
            measurement = measurement_of(port, folder, report, samples, length)
    with status("profiling"):
        found = profile_folder(folder, samples, memory, length=length)
    if measurement is not None:
        found = with_measurement(found, measurement)
    if rate is not None:
        found = with_duty(found, rate, cell)
    if html is not None:
        write_html(found, report, html)
    if json:
        console.print_json(found.to_json())
        return
    print_profile(found, console.out)
    if html is None:
        console.print_next("edgec", "profile", folder, "--html", "profile.html")
    else:
        console.out.print(f"written to {html}", markup=False)


def _battery(rate: float | None, battery: str | None) -> Battery | None:
    """The battery, looked at before the work."""
    from edgec.profile.energy import Battery

    refuse_without_effect(
        [Effect("--battery", battery is not None, rate is not None, _NO_RATE, "add --rate 10")]
    )
    return None if battery is None else Battery.parse(battery)


def _check_place(on: str, measured: Path | None) -> None:
    if on not in ("emulator", "device"):
        raise ConfigError(f"cannot profile on {on!r}", hint="--on takes emulator or device")
    where = "--on device measures by itself"
    refuse_without_effect(
        [Effect("--measured", measured is not None, on != "device", where, "use --port PORT")]
    )


def _count_instructions(
    folder: Path, samples: SampleFile | None, length: int | None, json: bool
) -> None:
    """The part of `profile` for boards with Linux."""
    from edgec.profile.instructions import count_instructions
    from edgec.profile.text import print_instructions

    with status("counting"):
        found = count_instructions(folder, samples, length=length)
    if json:
        console.print_json(found.to_json())
        return
    print_instructions(found, console.out)
