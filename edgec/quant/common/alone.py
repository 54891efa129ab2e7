"""Each layer of an integer graph on its own, with the exact values before it.

A layer reads the codes of what the float network computes.  What it gives, less what the float
layer gives for the numbers that these codes stand for, is the noise that this layer itself adds.
A tensor that the float network does not have, such as a further form of one, belongs to the layers
that read it: its noise is theirs.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.floatrun.cycles import repeated
from edgec.floatrun.executor import Executor
from edgec.interp.int_interp import run_node
from edgec.ir import ops, qops
from edgec.ir.graph import Graph, Node, Value
from edgec.quant.common.sample_codes import sample_codes


@dataclass(frozen=True, slots=True, eq=False)
class Alone:
    """A layer that was run on its own.

    Attributes:
        node: the node of the integer graph.
        real: name of the float tensor that its output has codes of.
        error: what it adds to that tensor, float64 [S, ...] (in a loop: [S * turns, ...]) in the
            tensor's shape.
        coded: what the nearest codes of the exact tensor stand for, float64, likewise.
        weighted: whether its weights were rounded, by edgec and not by the model's file, and it
            reads what the layers before it give as such, not a further form of it.
    """

    node: Node
    real: str
    error: Array
    coded: Array
    weighted: bool


def tried_nodes(real: Graph, integer: Graph) -> dict[str, tuple[Node, str]]:
    """By output of the integer graph: the nodes to run alone, with the float tensors' names.

    Args:
        real: REAL stage.
        integer: INTEGER stage.
    """
    found: dict[str, tuple[Node, str]] = {}
    taken = {name for name in integer.values if name in real.values}
    for node in integer.nodes:
        value = integer.values[node.output]
        name = _stands_for(real, value)
        if value.quant is None or name is None:
            continue
        if name == value.name or name not in taken:
            found[value.name] = node, name
            taken.add(name)
    return found


def _stands_for(real: Graph, value: Value) -> str | None:
    """The float tensor that a value has codes of, in whichever form; None where there is none."""
    name = value.name if value.name in real.values else value.form_of
    return name if name in real.values else None


def run_alone(
    real: Graph, integer: Graph, known: Mapping[str, Array], data: Mapping[str, Array]
) -> Iterator[Alone]:
    """Run every layer on its own; in graph order.

    Args:
        real: REAL stage.
        integer: INTEGER stage.
        known: float64 [S, ...], or [S * turns, ...] in a loop, by float tensor, for all that
            `tried_nodes` names.
        data: graph input name to real or whole numbers [S, ...].
    """
    tried = tried_nodes(real, integer)
    count = len(next(iter(data.values())))
    each = [sample_codes(integer, data, index) for index in range(count)]
    codes = {name: np.stack([sample[name] for sample in each]) for name in integer.inputs}
    reads = {name: frozenset({name}) for name in integer.inputs}
    exact = {
        name: quant.after_axes(1).dequantize64(codes[name]).reshape(known[name].shape)
        for name in integer.inputs
        if (quant := integer.values[name].quant) is not None
    }
    rescaled: set[str] = set()
    for node in integer.nodes:
        before = frozenset[str]().union(*(reads.get(name, frozenset()) for name in node.inputs))
        if node.attrs.border is not None or node.attrs.updates:
            # Codes pass unchanged, so nothing is added; where turns end, their rows are joined.
            name = _stands_for(real, integer.values[node.output]) or ""
            codes[node.output] = _nearest(integer, node.output, known[name])
            reads[node.output] = frozenset()
            if integer.values[node.output].quant is not None:
                quant = integer.quant(node.output).after_axes(1)
                exact[name] = quant.dequantize64(codes[node.output]).reshape(known[name].shape)
                reads[node.output] = frozenset({name})
            continue
        results = _results(integer, node, codes)
        if node.output not in tried:
            reads[node.output] = before
            if isinstance(node.attrs, qops.QRescale) or not rescaled.isdisjoint(node.inputs):
                rescaled.add(node.output)
            codes[node.output] = results
            continue
        name, quant = tried[node.output][1], integer.quant(node.output).after_axes(1)
        changed = {each: exact[each] for each in before if each in exact}
        own = _own_nodes(real, name, changed)
        wanted = _float_layer(real, own, name, known, changed)
        given = quant.dequantize64(results)
        codes[node.output] = _nearest(integer, node.output, known[name])
        coded = quant.dequantize64(codes[node.output])
        exact[name], reads[node.output] = coded.reshape(wanted.shape), frozenset({name})
        error = given.reshape(wanted.shape) - wanted
        weighted = rescaled.isdisjoint(node.inputs) and any(_is_rounded(real, n) for n in own)
        yield Alone(node, name, error, exact[name], weighted)


def _nearest(integer: Graph, name: str, values: Array) -> Array:
    """The nearest codes of a tensor, [S, ...], or [S * turns, ...] in a loop; masks as they are."""
    rows = values.reshape(-1, *integer.values[name].shape)
    if integer.values[name].quant is None:
        return rows.astype(np.int32)
    return integer.quant(name).after_axes(1).quantize(rows)


def _results(integer: Graph, node: Node, codes: Mapping[str, Array]) -> Array:
    """The codes that a node gives for every row of its operands."""
    operands = {name: codes[name] for name in node.inputs if name in codes}
    rows = max(len(array) for array in operands.values())
    full = {name: repeated(array, rows) for name, array in operands.items()}
    found = ({name: array[row] for name, array in full.items()} for row in range(rows))
    return np.stack([run_node(integer, node, each) for each in found])


def _own_nodes(real: Graph, name: str, before: Container[str]) -> tuple[Node, ...]:
    """The nodes of the float network that compute a tensor from those before it."""
    wanted, found = {name}, []
    for node in reversed(real.nodes):
        if node.output in wanted:
            found.append(node)
            wanted.update(each for each in node.inputs if each not in before)
    return tuple(reversed(found))


def _is_rounded(real: Graph, node: Node) -> bool:
    """Whether edgec rounds the weights of a float layer."""
    if not isinstance(node.attrs, ops.Weighted):
        return False
    weight = real.constants.get(ops.layer_inputs(node).w)
    return weight is not None and weight.quant is None


def _float_layer(
    real: Graph,
    own: tuple[Node, ...],
    name: str,
    known: Mapping[str, Array],
    changed: Mapping[str, Array],
) -> Array:
    """Float value of a tensor when those before it hold other numbers."""
    made = {node.output for node in own}
    read = (each for node in own for each in node.inputs)
    inputs = tuple(dict.fromkeys(x for x in read if x in real.values and x not in made))
    cut = real.replace(
        nodes=own, inputs=inputs, outputs=(name,), output_layouts={}, input_layouts={}
    )
    again = Executor(cut, [name], real.scopes.values).run_again(known, changed)
    return again.get(name, known[name])
