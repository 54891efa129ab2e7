"""ONNX's own node tests, and the forms in which each is asked (see `docs/operators.md`).

A node test is one operator with inputs and the outputs that it must have.  A user's file differs in
three ways: its inputs have a batch axis, its parameters are constants, and its numbers are float32.
A `Question` is a node test brought into such a form, the operator itself unchanged.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.reference import ReferenceEvaluator

from edgec.base.dtypes import Array
from edgec.importers.onnx.screen import MAX_OPSET, MIN_OPSET

COMPILE_TIME = frozenset(
    ("BlackmanWindow", "Constant", "ConstantOfShape", "EyeLike", "HammingWindow", "HannWindow")
) | {"MelWeightMatrix", "Range", "Shape", "Size"}
"""Operators whose inputs are sizes: computed at import, which is all that can be asked of them."""

AT_COMPILE_TIME = "at compile time"
"""The form in which all inputs are constant."""
_MOST_SUBSETS = 3
"""Inputs up to which every choice of constant inputs is asked."""


@dataclass(frozen=True)
class NodeTest:
    """A node test of tensors of numbers.

    Attributes:
        name: ONNX's name of it.
        model: the operator, or its expansion into others.
        inputs: by name, in the order of the model.
        outputs: in the order of the model.
        rtol: how far float outputs may be from these, relative.
        atol: the same, absolute.
    """

    name: str
    model: onnx.ModelProto
    inputs: dict[str, Array]
    outputs: tuple[Array, ...]
    rtol: float
    atol: float

    @property
    def op(self) -> str:
        """The operator that is tested; of an expansion the one that was expanded."""
        return operator_of(self.name)


@dataclass(frozen=True)
class Question:
    """A node test as a model that a user could have.

    Attributes:
        form: what was changed, in words.
        model: what is compiled.
        samples: run-time inputs [S, ...shape with batch 1...] by name, one sample a run.
        wanted: outputs [S, ...] in the order of the model.
    """

    form: str
    model: onnx.ModelProto
    samples: dict[str, Array]
    wanted: tuple[Array, ...]


@cache
def all_cases() -> dict[str, object]:
    """Every node test as onnx makes it, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {case.name: case for case in collect_testcases(None)}


@cache
def _operators() -> dict[str, str]:
    """The tested operator by the name of the test."""
    plain = {
        n: c.model.graph.node[0].op_type for n, c in all_cases().items() if "_expanded" not in n
    }
    found = {}
    for name, case in all_cases().items():
        base = name.split("_expanded")[0]
        nodes = case.model.graph.node
        # Some tests hold further nodes: the one that is meant has the test's name.
        named = [n.op_type for n in nodes if n.op_type.lower() in name.replace("_", "")]
        own = max(named, key=len, default=nodes[0].op_type)
        found[name] = own if "_expanded" not in name else plain.get(base, base)
    return found


def operator_of(name: str) -> str:
    """The operator that a node test is about."""
    return _operators()[name]


def node_test(case: object) -> NodeTest | None:
    """The test as arrays; None where it holds strings, sequences, maps or optional values."""
    ((inputs, outputs),) = case.data_sets
    model = onnx.ModelProto.FromString(case.model.SerializeToString())
    infos = [*model.graph.input, *model.graph.output]
    if any(not info.type.HasField("tensor_type") for info in infos):
        return None
    if any(info.type.tensor_type.elem_type == TensorProto.STRING for info in infos):
        return None
    arrays = [_array(data) for data in inputs]
    names = [info.name for info in model.graph.input]
    return NodeTest(
        case.name,
        _at_known_opset(model),
        dict(zip(names, arrays, strict=True)),
        tuple(_array(data) for data in outputs),
        case.rtol,
        case.atol,
    )


def _array(data: object) -> Array:
    return numpy_helper.to_array(data) if isinstance(data, TensorProto) else np.asarray(data)


def _at_known_opset(model: onnx.ModelProto) -> onnx.ModelProto:
    """Node tests of newer and older operators as the nearest opset that edgec reads.

    Most versions differ in element types only; `questions` leaves out what means something else.
    """
    for opset in model.opset_import:
        if opset.domain in ("", "ai.onnx"):
            opset.version = min(max(opset.version, MIN_OPSET), MAX_OPSET)
    return model


def questions(test: NodeTest) -> Iterator[Question]:
    """The forms of a test, the nearest to ONNX's own first."""
    if test.op not in COMPILE_TIME:
        for asked in (test, *_in_float32(test)):
            for constant in _constant_choices(list(asked.inputs)):
                yield from _run_time(asked, constant)
    yield from _compile_time(test)


def _constant_choices(names: list[str]) -> Iterator[tuple[str, ...]]:
    """Sets of inputs to make constant, small sets first; never all of them."""
    count = len(names)
    if count <= _MOST_SUBSETS:
        for size in range(count):
            yield from itertools.combinations(names, size)
        return
    for kept in range(count, 0, -1):
        yield tuple(names[kept:])


def _run_time(test: NodeTest, constant: tuple[str, ...]) -> Iterator[Question]:
    """The batch axis in its forms: as it is, one in front, the first axis sample by sample."""
    note = f"; constant: {', '.join(constant)}" if constant else ""
    note += "; in float32" if test.name.endswith("@float32") else ""
    base = replace(test, model=_with_constants(test, constant), inputs=_without(test, constant))
    outputs = [len(test.outputs)] if len(test.outputs) == 1 else [len(test.outputs), 1]
    for count in outputs:
        part = note if count == len(test.outputs) else f"{note}; first output"
        asked = _first_outputs(base, count)
        shapes = [array.shape for array in asked.inputs.values()]
        if all(shape and shape[0] == 1 for shape in shapes):
            yield Question(f"as it is{part}", asked.model, *_one_sample(asked))
        yield _framed(asked, part)
        if all(len(shape) > 1 and shape[0] == shapes[0][0] > 1 for shape in shapes):
            yield from _sample_by_sample(asked, part)


def _without(test: NodeTest, names: tuple[str, ...]) -> dict[str, Array]:
    return {name: array for name, array in test.inputs.items() if name not in names}


def _with_constants(test: NodeTest, names: tuple[str, ...]) -> onnx.ModelProto:
    model = onnx.ModelProto.FromString(test.model.SerializeToString())
    kept = [info for info in model.graph.input if info.name not in names]
    del model.graph.input[:]
    model.graph.input.extend(kept)
    for name in names:
        model.graph.initializer.append(numpy_helper.from_array(test.inputs[name], name))
    return model


def _first_outputs(test: NodeTest, count: int) -> NodeTest:
    model = onnx.ModelProto.FromString(test.model.SerializeToString())
    del model.graph.output[count:]
    return replace(test, model=model, outputs=test.outputs[:count])


def _one_sample(test: NodeTest) -> tuple[dict[str, Array], tuple[Array, ...]]:
    samples = {name: array[None] for name, array in test.inputs.items()}
    return samples, tuple(array[None] for array in test.outputs)


def _framed(test: NodeTest, note: str) -> Question:
    """A batch axis of length 1 in front of all inputs and outputs; the operator never sees it."""
    model = onnx.ModelProto.FromString(test.model.SerializeToString())
    graph = model.graph
    before, after = [], []
    for info in graph.input:
        inner, info.name = info.name, f"{info.name}_in"
        before.append(_move("Reshape", info.name, inner, test.inputs[inner].shape, graph))
        _set_shape(info, (1, *test.inputs[inner].shape))
    for info, array in zip(graph.output, test.outputs, strict=True):
        inner, info.name = info.name, f"{info.name}_out"
        after.append(_move("Reshape", inner, info.name, (1, *array.shape), graph))
        _set_shape(info, (1, *array.shape))
    nodes = [*before, *graph.node, *after]
    copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(copies)
    samples = {f"{name}_in": array[None, None] for name, array in test.inputs.items()}
    wanted = tuple(array[None, None] for array in test.outputs)
    return Question(f"batch axis in front{note}", model, samples, wanted)


def _move(
    op: str, source: str, target: str, shape: tuple[int, ...], graph: onnx.GraphProto
) -> onnx.NodeProto:
    name = f"{target}_shape_"
    graph.initializer.append(numpy_helper.from_array(np.asarray(shape, np.int64), name))
    return helper.make_node(op, [source, name], [target])


def _set_shape(info: onnx.ValueInfoProto, shape: tuple[int, ...]) -> None:
    kind = info.type.tensor_type.elem_type
    info.CopyFrom(helper.make_tensor_value_info(info.name, kind, shape))


def _sample_by_sample(test: NodeTest, note: str) -> Iterator[Question]:
    """Axis 0 as the batch, where ONNX's reference gives the same numbers for each sample alone."""
    count = len(next(iter(test.inputs.values())))
    if any(array.ndim == 0 or len(array) != count for array in test.outputs):
        return
    model = onnx.ModelProto.FromString(test.model.SerializeToString())
    samples = {name: array[:, None] for name, array in test.inputs.items()}
    wanted = tuple(array[:, None] for array in test.outputs)
    for info in model.graph.input:
        _set_shape(info, (1, *test.inputs[info.name].shape[1:]))
    for info, array in zip(model.graph.output, test.outputs, strict=True):
        _set_shape(info, (1, *array.shape[1:]))
    for index in range(count):
        one = {name: array[index] for name, array in samples.items()}
        if not _gives(model, one, [array[index] for array in wanted], test):
            return
    yield Question(f"one sample at a time{note}", model, samples, wanted)


def _in_float32(test: NodeTest) -> Iterator[NodeTest]:
    """The same numbers in float32, where ONNX's reference gives the same results for them."""
    given = {array.dtype for array in test.inputs.values()}
    # The numbers of an operator all have one type; indices and shapes have another.
    for kind in sorted((kind for kind in given if kind.kind in "iu"), key=str):
        model = onnx.ModelProto.FromString(test.model.SerializeToString())
        onnx_kind = helper.np_dtype_to_tensor_dtype(kind)
        for info in (*model.graph.input, *model.graph.output):
            if info.type.tensor_type.elem_type == onnx_kind:
                info.type.tensor_type.elem_type = TensorProto.FLOAT
        inputs = {n: _float_if(a, kind) for n, a in test.inputs.items()}
        outputs = tuple(_float_if(a, kind) for a in test.outputs)
        if _is_legal(model) and _gives(model, inputs, list(outputs), test):
            yield replace(
                test, name=f"{test.name}@float32", model=model, inputs=inputs, outputs=outputs
            )


def _float_if(array: Array, kind: np.dtype) -> Array:
    return array.astype(np.float32) if array.dtype == kind else array


def _is_legal(model: onnx.ModelProto) -> bool:
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return False
    return True


def _gives(
    model: onnx.ModelProto, inputs: dict[str, Array], wanted: list[Array], test: NodeTest
) -> bool:
    """Whether ONNX's reference computes these outputs for these inputs."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = ReferenceEvaluator(model).run(None, inputs)
    except Exception:  # the reference has errors of all kinds where a form makes no sense
        return False
    return all(
        np.shape(a) == b.shape
        and np.allclose(
            np.asarray(a, np.float64),
            b.astype(np.float64),
            max(test.rtol, 1e-3),
            1e-5,
            equal_nan=True,
        )
        for a, b in zip(found, wanted, strict=True)
    )


def _is_finite(array: Array) -> bool:
    """Whether all are numbers of float32; bfloat16 is of no kind of numpy's own."""
    if array.dtype.kind not in "fiubV":
        return False
    return bool(np.isfinite(array.astype(np.float32)).all())


def _compile_time(test: NodeTest) -> Iterator[Question]:
    """All inputs constant: the outputs, made float, are added to an input of zeros."""
    if not all(_is_finite(array) and array.size for array in test.outputs):
        return
    model = _with_constants(test, tuple(test.inputs))
    graph = model.graph
    wanted, samples = [], {}
    found = list(graph.output)
    del graph.output[:]
    for info, array in zip(found, test.outputs, strict=True):
        name, real = info.name, array.astype(np.float32)
        rng = np.random.default_rng(array.size)
        largest = np.abs(real).max() or 1.0
        zeros = (largest * rng.uniform(-1, 1, (1, *array.shape))).astype(np.float32)
        graph.input.append(
            helper.make_tensor_value_info(f"{name}_x", TensorProto.FLOAT, (1, *array.shape))
        )
        graph.node.append(helper.make_node("Cast", [name], [f"{name}_f"], to=TensorProto.FLOAT))
        graph.node.append(helper.make_node("Add", [f"{name}_x", f"{name}_f"], [f"{name}_sum"]))
        graph.output.append(
            helper.make_tensor_value_info(f"{name}_sum", TensorProto.FLOAT, (1, *array.shape))
        )
        samples[f"{name}_x"] = zeros[None]
        wanted.append((zeros + real)[None])
    yield Question(AT_COMPILE_TIME, model, samples, tuple(wanted))
