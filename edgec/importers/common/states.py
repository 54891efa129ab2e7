"""State of a model: inputs that take, in the next run, what an output gives in this one.

A file says nothing of which inputs these are.  They are told by their names, which exporters and
people write in few ways, or by the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.errors import ConfigError
from edgec.base.names import shown
from edgec.base.options import StatePairs
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.metadata import record_note, record_pairs

BY_NAMES = StatePairs()
"""State that the names of inputs and outputs say."""
_WORDS = (
    r"state|hidden|cell|cache|memory|mem|ctx|context|buffer|buf|hx|cx|h|c|past|prev|hist|history"
)
_STATE = re.compile(rf"(?:.*[_./-])?(?:[a-z]*(?:{_WORDS})s?)(?:[_./-]?\d+)?(?:[_./-].*)?")
"""Names, in lower case, of what is kept."""
_BEFORE_AFTER = (
    *(("past_key_values", "present"), ("past", "present"), ("prev", "next"), ("prev", "new")),
    *(("old", "new"), ("in", "out"), ("input", "output")),
)
_ENDINGS = ("n", "_n", "_out", "_output", "_new", "_next", "_updated", "out", ".out")
_BEGINNINGS = ("new_", "next_", "updated_", "output_", "out_")


def with_state(graph: Graph, asked: StatePairs, resets: Mapping[str, Array]) -> Graph:
    """The graph with carried values in place of inputs and outputs that are its state.

    Args:
        graph: REAL stage, as imported.
        asked: pairs that the user gives, none at all, or those that names say.
        resets: numbers after a reset by input; zeros for all others.

    Raises:
        ConfigError: a pair that is asked for does not exist or does not fit.
    """
    pairs = _found(graph) if asked.automatic else _checked(graph, asked.pairs)
    if not pairs:
        return graph
    builder = GraphBuilder.of(graph)
    for source, target in pairs.items():
        value = graph.values[source]
        start = resets.get(source, np.zeros(value.shape, np.float32))
        zero = builder.constant(f"{source}/reset", start.astype(np.float32).reshape(value.shape))
        builder.inputs.remove(source)
        builder.node(f"{source}/carry", ops.Carry(None), (zero,), (source,))
        after = builder.fresh(f"{target}/kept")
        builder.value(replace(value, name=after))
        builder.node(f"{source}/update", ops.Update(), (target, source), (after,))
    kept = set(pairs.values())
    builder.outputs = [name for name in builder.outputs if name not in kept]
    record_pairs(builder.metadata, pairs)
    listed = ", ".join(f"{shown(a)} = {shown(b)}" for a, b in pairs.items())
    hint = "; --state none makes inputs and outputs of them" if asked.automatic else ""
    record_note(builder.metadata, "state", f"kept from run to run: {listed}{hint}")
    return builder.build()


def paired_names(names: Iterable[str], outputs: Iterable[str]) -> dict[str, str]:
    """Output of the run before for each input that a name pairs with one.

    Args:
        names: those of the inputs of a model.
        outputs: those of its outputs.
    """
    given, free = tuple(names), {name.lower(): name for name in outputs}
    found: dict[str, str] = {}
    for name in given:
        fitting = {free[each] for each in _after(name.lower()) if each in free} - {name}
        if len(fitting) == 1:
            found[name] = fitting.pop()
    taken = list(found.values())
    return {name: output for name, output in found.items() if taken.count(output) == 1}


def _after(name: str) -> Iterator[str]:
    """Names that the output may have which an input of this name is kept from."""
    for before, after in _BEFORE_AFTER:
        yield from (
            re.sub(rf"(?<![a-z]){before}(?![a-z])", after, name, count=1),
            re.sub(rf"{before}$", after, name),
        )
    if _STATE.fullmatch(name):
        yield from (f"{name}{ending}" for ending in _ENDINGS)
        yield from (f"{beginning}{name}" for beginning in _BEGINNINGS)
        # h0 becomes hn.
        yield re.sub(r"0$", "n", name)
        yield re.sub(r"^(prev|past|old|last|init|initial)[_.]?", "", name)


def _found(graph: Graph) -> dict[str, str]:
    """Pairs of one shape; none where no input or no output would be left."""
    pairs = {
        source: target
        for source, target in paired_names(graph.inputs, graph.outputs).items()
        if _problem(graph, source, target) is None
    }
    left = len(graph.inputs) > len(pairs) and len(graph.outputs) > len(pairs)
    return pairs if left else {}


def _checked(graph: Graph, pairs: Mapping[str, str]) -> dict[str, str]:
    for source, target in pairs.items():
        where = f"--state {shown(source)}={shown(target)}"
        for name, names, kind in (
            (source, graph.inputs, "input"),
            (target, graph.outputs, "output"),
        ):
            if name not in names:
                known = ", ".join(shown(each) for each in names)
                raise ConfigError(
                    f"the model has no {kind} {shown(name)}",
                    where=where,
                    hint=f"{kind}s: {known}",
                )
        problem = _problem(graph, source, target)
        if problem is not None:
            raise ConfigError(problem, where=where, hint="pair tensors of one shape and type")
    doubles = [name for name in pairs.values() if list(pairs.values()).count(name) > 1]
    if doubles:
        raise ConfigError(f"the output {shown(doubles[0])} is kept twice", where="--state")
    if len(pairs) == len(graph.inputs):
        raise ConfigError("no input is left", where="--state", hint="keep fewer tensors")
    if len(pairs) == len(graph.outputs):
        raise ConfigError("no output is left", where="--state", hint="keep fewer tensors")
    return dict(pairs)


def _problem(graph: Graph, source: str, target: str) -> str | None:
    """The reason why an input cannot take an output of the run before; None where it can."""
    before, after = graph.values[source], graph.values[target]
    if before.dtype is not after.dtype or before.dtype is not DType.FLOAT32:
        return f"the input is {before.dtype.value}, the output {after.dtype.value}: state is float"
    if before.shape != after.shape:
        return f"the input is {list(before.shape)}, the output {list(after.shape)}"
    return None
