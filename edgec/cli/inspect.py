"""The command `edgec inspect`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from edgec.base.options import StatePairs
from edgec.cli.inputs import shapes_of, values_of
from edgec.cli.options import (
    Json,
    MaxLengthOption,
    Model,
    Shapes,
    StateOption,
    ValueOption,
    max_length_of,
)
from edgec.report import console
from edgec.report.console import count, safe, shortened
from edgec.report.tables import table

if TYPE_CHECKING:
    from edgec.base.description import Description
    from edgec.commands.inspect import Activations, Inspection
    from edgec.importers.common.summary import ModelSummary, NodeSummary, PoolSummary
    from edgec.ir.sparsity import Zeros

_SHOWN_LABELS = 8
_MANY_ZEROS = 0.25
"""The part of all weights from which zeros are worth a line: rounding makes some of all weights."""


def inspect(
    model: Model,
    shape: Shapes = None,
    state: StateOption = None,
    value: ValueOption = None,
    max_length: MaxLengthOption = None,
    json: Json = False,
) -> None:
    """Show a model's operators, shapes, MACs and parameters, and what is not supported and why."""
    from edgec.commands import inspect as inspection

    result = inspection.inspect(
        model,
        shapes_of(shape),
        max_length_of(max_length),
        StatePairs.parse(state or []),
        values_of(value),
    )
    if json:
        console.print_json(result.to_json())
        return
    print_inspection(result, console.out)
    if result.summary.supported:
        samples = ("--calibration", "SAMPLES.npz") if _needs_calibration(result) else ()
        console.print_next("edgec", "compile", model, "--board", "nucleo", *samples)


def _needs_calibration(inspection: Inspection) -> bool:
    """Whether a model is in floating point: without typical inputs its ranges are guesses."""
    summary = inspection.summary
    names = [node.op.lower() for node in summary.nodes]
    quantized = any("quant" in name or name.startswith("qlinear") for name in names)
    return not quantized and all(each.dtype.startswith("float") for each in summary.inputs)


def print_inspection(inspection: Inspection, out: Console) -> None:
    """Nodes, totals, and what is not supported."""
    summary = inspection.summary
    kind = f"opset {summary.opset}" if summary.opset else summary.format
    title = f"{summary.name} ({kind})"
    out.print(_node_table(summary, title) if console.is_verbose() else _operators(summary, title))
    for title, tensors in (("inputs", summary.inputs), ("outputs", summary.outputs)):
        for tensor in tensors:
            text = f"{shortened(tensor.name)}: {tensor.dtype} {_maybe_shape(tensor.shape)}"
            out.print(f"{title[:-1]} {safe(text)}")
    if inspection.max_length:
        out.print(f"tokens of a run: 1 to {inspection.max_length}; shapes are the longest one's")
    if inspection.state_bytes:
        out.print(f"{count(inspection.state_bytes)} bytes of state are kept from run to run")
    for fact in (*summary.facts, *filter(None, [inspection.rounding])):
        out.print(safe(fact))
    _print_description(inspection.about, out)
    out.print(_work(inspection))
    live = inspection.live_macs
    if live is not None and live < summary.macs:
        out.print(
            f"{count(live)} MACs are live ({live / summary.macs:.0%}); edgec removes the others, "
            "whose channels are constant or never used"
        )
    if text := _zeros(inspection.zeros):
        out.print(safe(text))
    if inspection.activations is not None and (ways := _ways(inspection.activations)):
        out.print(f"activations take about {ways} (kernels add some)")
    _print_unsupported([node for node in summary.nodes if not node.supported], out)


def _print_unsupported(nodes: Sequence[NodeSummary], out: Console) -> None:
    """Causes for which nodes are not supported; without `-v` as many as a screen has room for."""
    causes: dict[tuple[str, str], list[NodeSummary]] = {}
    for node in nodes:
        causes.setdefault((node.reason, node.remedy), []).append(node)
    shown = list(causes.items())
    for (reason, remedy), found in shown if console.is_verbose() else shown[:_MOST_CAUSES]:
        head = f"[red]not supported:[/] {safe(_nodes_text(found))}: {safe(reason)}"
        console.print_prose(head, out)
        console.print_prose(f"  remedy: {safe(remedy)}", out)
    hidden = 0 if console.is_verbose() else len(causes) - _MOST_CAUSES
    if hidden > 0:
        out.print(f"and {hidden} more cause{'s' if hidden > 1 else ''}: -v shows all")


def _nodes_text(nodes: Sequence[NodeSummary]) -> str:
    """Names of nodes, of many without `-v` those of their operators, and of the first one."""
    if console.is_verbose() or len(nodes) <= _NAMED:
        return ", ".join(f"{shortened(node.name)} ({node.op})" for node in nodes)
    kinds = list(dict.fromkeys(node.op for node in nodes))
    more = f" and {len(kinds) - _NAMED} others" if len(kinds) > _NAMED else ""
    first = shortened(nodes[0].name)
    return f"{', '.join(kinds[:_NAMED])}{more}, {len(nodes)} nodes, the first of them {first}"


def _zeros(layers: Sequence[Zeros]) -> str:
    """Words on zeros among the weights, where there are many; "" where there are few."""
    zeros, weights = sum(each.zeros for each in layers), sum(each.weights for each in layers)
    if not weights or zeros < weights * _MANY_ZEROS:
        return ""
    text = f"{zeros / weights:.0%} of {count(weights)} weights are zero"
    patterns = Counter(each.pattern for each in layers if each.pattern)
    rules = [
        f"{number} layer{'' if number == 1 else 's'} {pattern}"
        for pattern, number in sorted(patterns.items())
    ]
    return "; ".join((text, *rules))


def _work(inspection: Inspection) -> str:
    """Words on multiply-accumulates, parameters and the memory of activations."""
    from edgec.report.answer import size_words

    summary, memory = inspection.summary, inspection.activations
    work = f"{count(summary.macs)} MACs, {count(summary.parameters)} parameters"
    return work if memory is None else f"{work}, {size_words(memory.whole)} of activations"


def _ways(found: Activations) -> str:
    """Words on ways to take less memory; "" where there are none."""
    from edgec.report.answer import size_words

    ways = ((found.rows, "--rows always"), (found.input_rows, "--input-rows"))
    return ", ".join(f"{size_words(size)} with {way}" for size, way in ways if size is not None)


_MOST = 11
"""Operators that are shown without `-v`."""
_MOST_OF_UNSUPPORTED = 4
"""Operators of a model that is not supported: the reasons need the room."""
_MOST_CAUSES = 2
_NAMED = 2
"""Nodes of one cause that are named one by one, and operators of more nodes."""


def _operators(summary: ModelSummary, title: str) -> object:
    """A row for each kind of operator, those with most work first."""
    kinds: dict[str, list[NodeSummary]] = {}
    for node in summary.nodes:
        kinds.setdefault(node.op, []).append(node)

    def work(nodes: Sequence[NodeSummary]) -> tuple[bool, int, int]:
        unsupported = any(not node.supported for node in nodes)
        return unsupported, sum(node.macs or 0 for node in nodes), len(nodes)

    order = sorted(kinds, key=lambda op: work(kinds[op]), reverse=True)
    most = _MOST if summary.supported else _MOST_OF_UNSUPPORTED
    rows = [
        (
            op,
            str(len(kinds[op])),
            count(work(kinds[op])[1]) if work(kinds[op])[1] else "",
            count(sum(node.parameters or 0 for node in kinds[op])).removeprefix("0"),
            "" if not work(kinds[op])[0] else "no",
        )
        for op in order[:most]
    ]
    if len(order) > most:
        rest = sum(len(kinds[op]) for op in order[most:])
        rows.append((f"{len(order) - most} others", str(rest), "", "", ""))
    columns = ("operator", ">number", ">MACs", ">parameters", *_if_not(summary))
    pools = [_pool_text(node.pool) for node in summary.nodes if node.pool is not None]
    kinds_of_pools = ", ".join(dict.fromkeys(pools))
    note = f"{len(pools)} layers with pooled weights ({kinds_of_pools}); " if pools else ""
    note = f"all operators are supported; {note}" if summary.supported else note
    note += f"-v lists all {len(summary.nodes)} nodes"
    return table(title, columns, [row[: len(columns)] for row in rows], note=note)


def _node_table(summary: ModelSummary, title: str) -> object:
    """A row for each node."""
    pooled = any(node.pool is not None for node in summary.nodes)
    rows = [
        (
            node.name,
            node.op,
            ", ".join(_maybe_shape(shape) for shape in node.output_shapes),
            count(node.macs) if node.macs else "",
            count(node.parameters) if node.parameters else "",
            *([_pool_text(node.pool)] if pooled else []),
            "" if node.supported else "no",
        )
        for node in summary.nodes
    ]
    pool = ("weight pool",) if pooled else ()
    columns = ("node", "operator", "output", ">MACs", ">parameters", *pool, *_if_not(summary))
    return table(title, columns, [row[: len(columns)] for row in rows])


def _if_not(summary: ModelSummary) -> tuple[str, ...]:
    """The column on what is supported, where something is not."""
    return () if summary.supported else ("supported",)


def _print_description(about: Description, out: Console) -> None:
    """Print the file's metadata, a line each."""
    texts = {
        "title": " ".join(filter(None, (about.title, about.version))),
        "description": about.text,
        "author": about.author,
        "license": about.licence,
        "front end": about.front_end,
        "attached files": ", ".join(f"{file.name} ({file.size} B)" for file in about.files),
    }
    for name, text in texts.items():
        if text:
            out.print(f"{name}: {safe(text)}")
    for name, normalize in about.normalize.items():
        out.print(f"pixels of {safe(shortened(name))}: --normalize {normalize}")
    for name, labels in about.labels.items():
        first = ", ".join(labels[:_SHOWN_LABELS])
        more = f", and {len(labels) - _SHOWN_LABELS} more" if len(labels) > _SHOWN_LABELS else ""
        out.print(f"{len(labels)} labels of {safe(shortened(name))}: {safe(first)}{more}")
    for problem in about.problems:
        out.print(f"[yellow]note:[/] {safe(problem)}")


def _pool_text(pool: PoolSummary | None) -> str:
    if pool is None:
        return ""
    sums = f", sums of {pool.terms}" if pool.terms > 1 else ""
    return f"{pool.vectors} vectors of {pool.group}, {pool.index_bits}-bit indices{sums}"


def _maybe_shape(shape: Sequence[int] | None) -> str:
    return "?" if shape is None else "x".join(map(str, shape)) or "scalar"
