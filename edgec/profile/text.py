"""Profiles, comparisons and counts of instructions as tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from edgec.profile.compare import BuildFigures
from edgec.profile.instructions import InstructionCounts, InstructionProfile, LayerInstructions
from edgec.profile.types import DutyEstimate, LayerProfile, Profile
from edgec.profile.widths import TradeOff
from edgec.report.answer import bar, rate_words, size_words, time_words
from edgec.report.console import count, is_verbose, print_labelled, safe
from edgec.report.tables import table

_SLOWEST = 6
"""Layers that are shown without `-v`."""


def print_profile(found: Profile, out: Console) -> None:
    """The slowest layers and the totals in a few lines; with `-v` all of them in tables before."""
    if is_verbose():
        out.print(_layer_table(found))
        out.print(_totals_table(found))
        out.print(f"input: {safe(found.input)}")
        out.print(f"cycle model: {safe(found.model.name)}")
        out.print(f"known error: {safe(found.model.known_error)}")
        if found.energy is not None:
            out.print(f"energy from: {safe(found.energy.source)}")
    else:
        out.print(_slowest_table(found))
    seconds = found.total_cycles / found.clock_hz
    clock = f"{count(found.total_cycles)} cycles at {found.clock_hz / 1e6:g} MHz"
    rate = f"{time_words(seconds)} a run, {rate_words(seconds)}"
    print_labelled("speed", f"{rate} (estimate: {clock})", out)
    if found.measured_cycles:
        measured = f"{time_words(found.measured_cycles / found.clock_hz)} a run on the board"
        error = _measured(found.total_cycles - found.outside.cycles, found.measured_cycles)[1]
        print_labelled("measured", f"{measured}; the estimate is {error} off", out)
    print_labelled("energy", _energy(found), out)
    if found.duty is not None:
        print_labelled("power", _duty(found.duty), out)
    print_labelled("stack", _stack(found), out)


def _slowest_table(found: Profile) -> object:
    """Arrange the layers that take most of the time, and the rest in a row."""
    order = sorted(found.layers, key=lambda layer: -layer.counts.cycles)
    shown = order[:_SLOWEST]
    total, measured = found.total_cycles, found.measured_cycles is not None
    numbers = {id(layer): number for number, layer in enumerate(found.layers)}
    rows = [
        (
            *_slow_row(str(numbers[id(layer)]), layer.title, layer.op, layer.counts.cycles, found),
            bar(layer.counts.cycles, shown[0].counts.cycles),
            *(_measured(layer.counts.cycles, layer.measured_cycles) if measured else ()),
        )
        for layer in shown
    ]
    rest = total - sum(layer.counts.cycles for layer in shown)
    if len(order) > len(shown):
        rows.append(_slow_row("", f"{len(order) - len(shown)} others", "", rest, found))
    more = (">measured cycles", ">error") if measured else ()
    columns = (">", "…layer", "operator", ">ms", ">share", "", *more)
    return table(f"{found.model_name} on {found.board_title}: slowest layers", columns, rows)


def _slow_row(number: str, name: str, op: str, cycles: int, found: Profile) -> tuple[str, ...]:
    share = cycles / found.total_cycles
    ms = f"{1e3 * cycles / found.clock_hz:.3f}"
    return (number, name, op, ms, f"{share:.1%}")


def _layer_table(found: Profile) -> object:
    measured = found.measured_cycles is not None
    columns = [">", "layer", "operator", "kernel", "output", ">MACs", ">cycles", ">cycles/MAC"]
    columns += [">share", ">ms", ">stalls", *((">measured", ">error") if measured else ())]
    rows = [_layer_row(number, layer, found) for number, layer in enumerate(found.layers)]
    rows.append(_sum_row("between layers", found, found.outside.cycles, found.outside.flash_stalls))
    rows.append(_sum_row("total", found, found.total_cycles, found.total.flash_stalls, found.macs))
    if measured:
        rows[-1] += _measured(found.total_cycles - found.outside.cycles, found.measured_cycles)
    title = (
        f"{found.model_name} on {found.board_title} ({found.core}, "
        f"{found.clock_hz / 1e6:g} MHz), {found.memory_words}"
    )
    return table(title, columns, rows)


def _layer_row(number: int, layer: LayerProfile, found: Profile) -> tuple[str, ...]:
    counts = layer.counts
    row = (
        str(number),
        layer.title,
        layer.op,
        layer.kernel,
        "x".join(map(str, layer.output_shape)) or "scalar",
        count(layer.macs) if layer.macs else "",
        count(counts.cycles),
        "" if layer.cycles_per_mac is None else f"{layer.cycles_per_mac:.2f}",
        f"{counts.cycles / found.total_cycles:.1%}",
        f"{1e3 * counts.cycles / found.clock_hz:.3f}",
        f"{counts.flash_stalls / counts.cycles:.1%}" if counts.cycles else "",
    )
    if found.measured_cycles is None:
        return row
    return row + _measured(counts.cycles, layer.measured_cycles)


def _sum_row(name: str, found: Profile, cycles: int, stalls: int, macs: int = 0) -> tuple[str, ...]:
    return (
        *("", name, "", "", ""),
        count(macs) if macs else "",
        count(cycles),
        f"{cycles / macs:.2f}" if macs else "",
        f"{cycles / found.total_cycles:.1%}",
        f"{1e3 * cycles / found.clock_hz:.3f}",
        f"{stalls / cycles:.1%}" if cycles else "",
    )


def _measured(estimate: int, measured: int | None) -> tuple[str, str]:
    """Measured cycles and the estimate's error against them."""
    if not measured:
        return ("", "")
    return (count(measured), f"{estimate / measured - 1:+.1%}")


def _totals_table(found: Profile) -> object:
    total = found.total
    rows = [
        ("cycles", count(found.total_cycles)),
        ("  without waiting for flash", count(found.ideal_cycles)),
        ("time", f"{found.time_ms:.3f} ms"),
        ("instructions", count(total.instructions)),
        (
            "  loads, stores, branches",
            f"{count(total.loads)}, {count(total.stores)}, {count(total.branches)}",
        ),
        ("cycles per instruction", f"{found.cycles_per_instruction:.3f}"),
        ("stack used / reserved", _stack(found)),
        (
            "arena touched / planned",
            f"{count(found.arena_touched_bytes)} / {count(found.arena_bytes)} bytes",
        ),
        ("energy (estimate)", _energy(found)),
    ]
    return table("Totals of one inference", ("", ">"), rows)


def _stack(found: Profile) -> str:
    used = "not measured" if found.stack_bytes is None else count(found.stack_bytes)
    return f"{used} / {count(found.stack_limit_bytes)} bytes"


def _energy(found: Profile) -> str:
    energy = found.energy
    if energy is None:
        return "no figure in the board's file"
    return f"about {energy.microjoules:,.0f} µJ a run ({energy.words})"


def _duty(duty: DutyEstimate) -> str:
    """The power of runs again and again, and how long a battery lasts."""
    waiting = "waiting included" if duty.waits else "without what waiting takes, which is not known"
    text = f"{duty.runs_per_second:g} runs a second take {duty.share:.1%} of the time"
    power = f"{text}: {duty.milliwatts:.3g} mW, {waiting}"
    if duty.days is None:
        return power
    most = "" if duty.waits else "at most "
    return f"{power}; {duty.battery} last {most}{duty.days:.3g} days"


def print_trade_off(found: TradeOff, out: Console) -> None:
    """One row a width, and the float model below."""
    rows = [
        (
            str(point.bits),
            f"{point.accuracy:.2%}",
            f"{point.agreement:.2%}",
            "" if point.cycles is None else count(point.cycles),
            "" if point.time_ms is None else f"{point.time_ms:.3f}",
        )
        for point in found.points
    ]
    rows.append(("float", f"{found.float_accuracy:.2%}", "", "", ""))
    title = f"{found.model} on {found.board}: width of activations, {count(found.n)} samples"
    columns = (">bits", ">accuracy", ">equal to float", ">cycles", ">ms")
    out.print(table(title, columns, rows))
    if found.note:
        out.print(safe(found.note))


def print_comparison(figures: Sequence[BuildFigures], out: Console) -> None:
    """One column a build, one row a figure."""
    names = [str(each.folder) for each in figures]
    rows: list[tuple[str, ...]] = [
        ("model", *(each.model for each in figures)),
        ("board", *(each.board for each in figures)),
        ("flash bytes", *_with_change([each.flash_bytes for each in figures])),
        ("RAM bytes", *_with_change([each.ram_bytes for each in figures])),
        ("  arena bytes", *_with_change([each.arena_bytes for each in figures])),
        *([_state(figures)] if any(each.state_bytes for each in figures) else []),
        ("cycles", *_with_change([each.cycles for each in figures])),
        ("instructions", *_with_change([each.instructions for each in figures])),
        ("time ms", *_with_change([each.time_ms for each in figures], digits=3)),
        ("accuracy", *(_accuracy(each) for each in figures)),
    ]
    title = "Builds side by side"
    by_row = [
        (
            name,
            each.board,
            size_words(each.flash_bytes) if each.flash_bytes is not None else "-",
            size_words(each.ram_bytes) if each.ram_bytes is not None else "-",
            "-" if each.time_ms is None else time_words(each.time_ms / 1000),
            "-" if each.accuracy is None else f"{each.accuracy:.2%}",
        )
        for name, each in zip(names, figures, strict=True)
    ]
    by_build = ("…build", "board", ">flash", ">RAM", ">a run", ">accuracy")
    many = None if is_verbose() else table(title, by_build, by_row, optional=("board",))
    columns = ("", *(f">{name}" for name in names))
    out.print(table(title, columns, rows, narrower=many))
    for each in figures:
        for note in each.notes:
            out.print(f"{safe(str(each.folder))}: {safe(note)}")


def _state(figures: Sequence[BuildFigures]) -> tuple[str, ...]:
    """The row of states, where a build has one."""
    return ("  state bytes", *_with_change([each.state_bytes for each in figures]))


def _with_change(values: Sequence[float | None], digits: int = 0) -> list[str]:
    """Numbers, with the change against the first one where both are known."""
    first = values[0]
    texts = []
    for index, value in enumerate(values):
        if value is None:
            texts.append("-")
            continue
        change = f" ({value / first - 1:+.1%})" if index and first else ""
        texts.append(f"{value:,.{digits}f}{change}")
    return texts


def _accuracy(each: BuildFigures) -> str:
    if each.accuracy is None:
        return "-"
    return f"{each.accuracy:.2%} of {each.accuracy_samples:,}"


_COLUMNS = (
    *(">", "layer", "operator", "kernel", "output", ">MACs"),
    *(">instructions", ">per MAC", ">share", ">SIMD", ">loads", ">stores"),
)

_LEFT_OUT = (">loads", ">stores", ">SIMD", "kernel", "output", ">per MAC", ">MACs")
"""Columns that narrow terminals do without, the first one first."""


def print_instructions(found: InstructionProfile, out: Console) -> None:
    """The layers that execute most, and the total; with `-v` all layers and functions."""
    whole = is_verbose()
    order = list(enumerate(found.layers))
    if not whole:
        order = sorted(order, key=lambda each: -each[1].counts.instructions)[:_SLOWEST]
    rows = [_row(str(number), layer, found) for number, layer in order]
    if len(order) < len(found.layers):
        rows.append(("", f"and {len(found.layers) - len(order)} more layers: -v"))
    rows.append(("", "after the last layer", "", "", "", *_numbers(found.outside, 0, found)))
    rows.append(("", "total", "", "", "", *_numbers(found.total, found.macs, found)))
    title = f"{found.model_name} on {found.board_title} ({found.core}), executed instructions"
    out.print(table(title, _COLUMNS, rows, optional=_LEFT_OUT))
    if not whole:
        return
    functions = [
        (
            function.name,
            count(function.counts.instructions),
            _share(function.counts.instructions, found.total.instructions),
        )
        for function in found.functions
    ]
    out.print(table("By function", ("function", ">instructions", ">share"), functions))
    out.print(
        f"arena touched / planned: {count(found.arena_touched_bytes)} / "
        f"{count(found.arena_bytes)} bytes"
    )
    out.print(f"input: {safe(found.input)}")
    out.print(
        "instructions are exact; edgec has no model of the time that this core takes for them"
    )


def _row(number: str, layer: LayerInstructions, found: InstructionProfile) -> tuple[str, ...]:
    return (
        number,
        layer.title,
        layer.op,
        layer.kernel,
        "x".join(map(str, layer.output_shape)) or "scalar",
        *_numbers(layer.counts, layer.macs, found),
    )


def _numbers(counts: InstructionCounts, macs: int, found: InstructionProfile) -> tuple[str, ...]:
    return (
        count(macs) if macs else "",
        count(counts.instructions),
        f"{counts.instructions / macs:.2f}" if macs else "",
        _share(counts.instructions, found.total.instructions),
        _share(counts.simd, counts.instructions),
        count(counts.loads),
        count(counts.stores),
    )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else ""
