"""The integer graph beside the quantized file that it was made of.

The file is executed as it is, operator by operator in float64 (`floatrun.executor`), before any
pass has touched its graph: what edgec makes of scales, zero points and biases is thereby judged
against what the file says, not against edgec's own reading of it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.floatrun.codes import nearest_codes
from edgec.floatrun.executor import Executor
from edgec.interp import run_graph, run_graph_batch
from edgec.ir import ops
from edgec.ir.graph import Graph, Value
from edgec.ir.qparams import QuantParams
from edgec.ir.weighted import code_bounds
from edgec.quant.common.params import code_range
from edgec.report.model import QdqFileReport, TensorGap
from edgec.workflow.checks import check_inputs
from edgec.workflow.integer import IntegerModel

_SAMPLES = 8
_LARGE_GAP = 4
_LARGE_SHARE = 0.25
"""Outputs that differ by more than both, in steps of 8 bits, deserve a warning;
docs/quantization.md has figures.
"""
_FINE = 1 << 8
"""Codes of int16 in a step of 8 bits: TensorFlow Lite's multipliers of 15 bits and interpolated
tables are some codes away from real arithmetic.
"""
_MOST_AXES = 4
"""Axes longer than 1 of a tensor whose order of axes is looked for."""


def compare_file(model: IntegerModel) -> QdqFileReport | None:
    """Outputs of the reference beside those of the user's own file.

    None for a file that rounds no activations: it says nothing about codes.
    """
    if not any(isinstance(node.attrs, ops.QuantizeLinear) for node in model.imported.nodes):
        return None
    samples = check_inputs(model, _SAMPLES)
    inputs = {
        name: _in_reach(model, name, np.concatenate([each[name] for each in samples]))
        for name in samples[0]
    }
    oracle = run_graph_batch(model.integer, inputs)
    names = model.imported.outputs
    wanted = Executor(model.imported, names).run(_file_inputs(model, inputs))
    pairs = list(_outputs(model, oracle, wanted))
    gaps = [_gap(name, *pair) for name, pair in zip(names, pairs, strict=True)]
    elements = [ours.size for ours, _ in pairs]
    far = [np.mean(_far(*pair)) for pair in pairs]
    return QdqFileReport(
        samples=len(samples),
        differing=float(np.average([gap.differing for gap in gaps], weights=elements)),
        worst=max(gaps, key=lambda gap: gap.largest_gap / gap.step),
        first=_first_gap(model, inputs, oracle, wanted),
        far=float(np.average(far, weights=elements)) if any(g.step > 1 for g in gaps) else None,
        rounding=model.integer.rounding.value,
    )


def _outputs(
    model: IntegerModel, oracle: Mapping[str, Array], wanted: Mapping[str, Array]
) -> Iterator[tuple[Array, Array]]:
    """Each output of the graph and of the file, codes [S, ...]."""
    for name, own in zip(model.imported.outputs, model.integer.outputs, strict=True):
        yield oracle[own], _output_codes(model, name, own, wanted[name])


def _far(ours: Array, theirs: Array) -> Array:
    """True where codes differ, of int16 by half a step of 8 bits; the shape of `ours`."""
    gaps = np.abs(ours.astype(np.int64) - theirs.astype(np.int64).reshape(ours.shape))
    return np.asarray(gaps >= max(_step(ours) // 2, 1))


def _step(codes: Array) -> int:
    return _FINE if codes.dtype == np.int16 else 1


def file_warnings(found: QdqFileReport | None) -> tuple[str, ...]:
    """A sentence where the outputs are far from the file's own."""
    if found is None:
        return ()
    share, worst = found.differing if found.far is None else found.far, found.worst
    if share <= _LARGE_SHARE or worst.largest_gap <= _LARGE_GAP * worst.step:
        return ()
    first = f"; the first tensor that differs is {found.first.name!r}" if found.first else ""
    return (
        f"{share:.0%} of the outputs differ from what the file itself computes, by up to "
        f"{worst.largest_gap} codes{first}",
    )


def _in_reach(model: IntegerModel, name: str, codes: Array) -> Array:
    """Codes of an input, none beyond the numbers that the file's own codes reach.

    Those of int16 are around 0 here; in the file they may be around another number.
    """
    quant = model.integer.values[name].quant
    theirs = _first_codes(model.imported, name)
    if quant is None or quant.dtype is not DType.INT16 or theirs is None:
        return codes
    reach = code_range(theirs)
    return np.clip(codes, *quant.quantize(np.array([reach.low, reach.high])))


def _first_codes(imported: Graph, name: str) -> QuantParams | None:
    """The codes that a file gives an input, which operators may move before; None: several."""
    readers = imported.consumers.get(name, ())
    while len(readers) == 1 and isinstance(readers[0].attrs, ops.Reshape | ops.Transpose):
        readers = imported.consumers.get(readers[0].output, ())
    if len(readers) != 1 or not isinstance(readers[0].attrs, ops.QuantizeLinear):
        return None
    return imported.values[readers[0].output].quant


def _file_inputs(model: IntegerModel, codes: Mapping[str, Array]) -> dict[str, Array]:
    """Codes of the graph's inputs [S, ...] as the file takes them: its type, its axes."""
    given = {}
    for name in model.integer.inputs:
        quant, dtype = model.integer.values[name].quant, model.imported.values[name].dtype
        array = codes[name]
        if dtype is DType.FLOAT32 and quant is not None:
            features = model.integer.input_features.get(name)
            array = quant.dequantize(array)
            array = array if features is None else features.from_steps(array)
        elif dtype is DType.UINT8:
            array = (array.astype(np.int16) + 128).astype(np.uint8)
        axes = model.integer.input_layouts.get(name)
        given[name] = array if axes is None else array.transpose(np.argsort(axes))
    return given


def _output_codes(model: IntegerModel, name: str, own: str, found: Array) -> Array:
    """An output of the file [S, ...] as codes of the graph, in the graph's axes."""
    axes = model.integer.output_layouts.get(own)
    # With an axis for samples, like the values of the executor.
    moved = found if axes is None else found.transpose((0, *(axis + 1 for axis in axes)))
    if model.imported.values[name].dtype is DType.UINT8:
        return np.asarray(moved.astype(np.int64) - 128)
    return _codes(model.integer, own, moved)


def _codes(graph: Graph, name: str, found: Array) -> Array:
    """Values of the file as codes of a value of the graph; integers are codes already.

    Codes that the file rounds to may have less than the range of their type; what computes them
    ends in it.
    """
    quant = graph.values[name].quant
    if quant is None or found.dtype.kind != "f":
        return found
    made = graph.producers.get(name)
    bounds = None if made is None else code_bounds(made.attrs)
    codes = nearest_codes(found, quant)
    return codes if bounds is None else np.clip(codes, *bounds)


def _gap(name: str, ours: Array, theirs: Array) -> TensorGap:
    gaps = np.abs(ours.astype(np.int64).ravel() - theirs.astype(np.int64).ravel())
    return TensorGap(name, float(np.mean(gaps != 0)), int(gaps.max(initial=0)), _step(ours))


def _first_gap(
    model: IntegerModel,
    inputs: Mapping[str, Array],
    oracle: Mapping[str, Array],
    wanted: Mapping[str, Array],
) -> TensorGap | None:
    """The first tensor of the graph that differs from the file's, on the first input where any do.

    Tensors that the file does not have, or has in another size, are passed over.
    """
    index = _first_sample(model, oracle, wanted)
    if index is None:
        return None
    one = {name: array[index : index + 1] for name, array in inputs.items()}
    ours = run_graph(model.integer, one)
    known = [
        (name, source)
        for node in model.integer.nodes
        for name in node.outputs
        if (source := _source(model, name)) is not None
    ]
    names = list(dict.fromkeys(source for _, source in known))
    theirs = Executor(model.imported, names).run(_file_inputs(model, one))
    gaps = (_tensor_gap(model.integer, own, ours[own], theirs[source]) for own, source in known)
    return next((gap for gap in gaps if gap.largest_gap >= max(gap.step // 2, 1)), None)


def _first_sample(
    model: IntegerModel, oracle: Mapping[str, Array], wanted: Mapping[str, Array]
) -> int | None:
    """The first input on which an output differs."""
    differ: set[int] = set()
    for ours, theirs in _outputs(model, oracle, wanted):
        unlike = _far(ours, theirs).reshape(len(theirs), -1)
        differ.update(np.flatnonzero(unlike.any(axis=1)).tolist())
    return min(differ, default=None)


def _source(model: IntegerModel, name: str) -> str | None:
    """The tensor of the file that a value of the graph stands for."""
    value = model.integer.values[name]
    for source in (name, value.form_of):
        found = model.imported.values.get(source)
        if found is not None and found.elements == value.elements and _searchable(found):
            return source
    return None


def _searchable(value: Value) -> bool:
    return sum(size > 1 for size in value.shape) <= _MOST_AXES


def _tensor_gap(graph: Graph, own: str, ours: Array, found: Array) -> TensorGap:
    """The gap of a tensor in the order of axes in which it is smallest.

    Layouts of values inside the graph are not recorded; where the numbers agree in some order of
    axes, that is the one.
    """
    gaps = [_gap(own, ours, _codes(graph, own, array)) for array in _orders(found, ours.shape)]
    return min(gaps, key=lambda gap: (gap.differing, gap.largest_gap), default=TensorGap(own, 0, 0))


def _orders(array: Array, shape: tuple[int, ...]) -> Iterator[Array]:
    """All orders of the axes of a tensor that give a shape, but for axes of length 1."""
    sizes = [size for size in array.shape if size > 1]
    wanted = [size for size in shape if size > 1]
    packed = array.reshape(sizes)
    if sorted(sizes) != sorted(wanted):
        if math.prod(sizes) == math.prod(wanted):
            yield packed
        return
    for axes in itertools.permutations(range(len(sizes))):
        if [sizes[axis] for axis in axes] == wanted:
            yield packed.transpose(axes)
