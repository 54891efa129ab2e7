"""What becomes of a node test: import, quantize, choose kernels, run in integers, compare.

The float graph is compared with ONNX's outputs first, as tightly as ONNX asks.  It then says what
the integers may do: it is executed on the numbers that the codes of the inputs stand for, once as
it is and a few times with every tensor moved as rounding to 8 bits moves it.  An integer output may
differ from the first by `STEPS` steps of its own scale and `NOISE` times what the latter differ.
Whole numbers and truth values must be equal, but for decisions that this rounding changes.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from node_cases import (
    AT_COMPILE_TIME,
    COMPILE_TIME,
    NodeTest,
    Question,
    all_cases,
    node_test,
    questions,
)
from scope import odd_numbers, out_of_scope

from edgec.base.dtypes import Array, DType
from edgec.base.errors import (
    ConfigError,
    EdgecError,
    InternalError,
    SimulationError,
    UnsupportedModelError,
)
from edgec.base.options import CompileOptions, Observer, QuantOptions, StatePairs
from edgec.floatrun.executor import Executor
from edgec.interp import run_graph
from edgec.ir.graph import Graph, Node
from edgec.kernels.registry import FAMILIES
from edgec.kernels.select import select_kernels
from edgec.target.board import load_board
from edgec.target.target import Target
from edgec.workflow.checks import check_inputs
from edgec.workflow.integer import IntegerModel, RealModel, quantized_model, real_model

STEPS = 2.0
"""Steps of its scale by which an output may differ from the float graph."""
NOISE = 2.0
"""How many times it may differ what rounding every tensor of the float graph changes."""
DRAWS = 6
SHUFFLES = 7
"""Further calibration samples: the numbers of the test in another order."""
_CODES = 255
_NO_NUMBER = 1e30
"""From here on a number only says that something is hidden."""

MATCH, CONSTANTS, REFUSED = "match", "constants only", "refused"
OUT_OF_SCOPE, WRONG, TRACEBACK = "out of scope", "wrong", "traceback"
KINDS = (MATCH, CONSTANTS, REFUSED, OUT_OF_SCOPE, WRONG, TRACEBACK)

Check = Callable[[IntegerModel, list[dict[str, Array]]], None]
"""What else is done with a model that matches, on the codes of its inputs."""


class WrongError(Exception):
    """A result that is not the one of the node test."""


@dataclass(frozen=True)
class Verdict:
    """What became of a node test.

    Attributes:
        kind: one of `KINDS`.
        text: the form in which it matches, or why it does not.
    """

    kind: str
    text: str


def verdict(name: str, folder: Path, check: Check | None = None) -> Verdict:
    """Ask a node test in its forms until one matches.

    Args:
        name: of `all_cases`.
        folder: for the model file.
        check: called for the form that matches.
    """
    test = node_test(all_cases()[name])
    if test is None:
        return Verdict(OUT_OF_SCOPE, out_of_scope(name) or "text, sequences and maps")
    refusals: list[str] = []
    for question in questions(test):
        late = question.form == AT_COMPILE_TIME and test.op not in COMPILE_TIME
        found = _answer(question, test, folder, check)
        if found is None and not late:
            return Verdict(MATCH, question.form)
        if found is not None and found.kind != REFUSED:
            return found
        if found is None or late:
            return _refused(test, CONSTANTS if found is None else REFUSED, refusals)
        refusals.append(found.text)
    return _refused(test, REFUSED, refusals)


def _refused(test: NodeTest, kind: str, refusals: Sequence[str]) -> Verdict:
    reason = out_of_scope(test.name) or odd_numbers((*test.inputs.values(), *test.outputs))
    return Verdict(OUT_OF_SCOPE, reason) if reason else Verdict(kind, _best(refusals))


def _answer(
    question: Question, test: NodeTest, folder: Path, check: Check | None
) -> Verdict | None:
    """What stands against one form; None where it matches."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ask(question, test, folder, check)
    except InternalError as error:
        return Verdict(TRACEBACK, f"{question.form}: {error.what}")
    except SimulationError as error:
        return Verdict(WRONG, f"{question.form}: {error.what}")
    except EdgecError as error:
        return Verdict(REFUSED, _reason(error))
    except WrongError as error:
        return Verdict(WRONG, f"{question.form}: {error}")
    except Exception as error:  # whatever it is, it is a fault of edgec
        frames = traceback.extract_tb(error.__traceback__)
        place = next((f for f in reversed(frames) if "edgec" in Path(f.filename).parts), frames[-1])
        where = f"{Path(place.filename).name}, {place.name}"
        return Verdict(TRACEBACK, f"{question.form}: {type(error).__name__}: {error} ({where})")
    return None


def _reason(error: EdgecError) -> str:
    if isinstance(error, UnsupportedModelError):
        node = error.nodes[0]
        return f"{node.op}: {node.reason}"
    return error.what.splitlines()[0]


def _best(refusals: Sequence[str]) -> str:
    """The first refusal that is about the operator, not about the frame."""
    frames = ("compiles for a batch of 1", "first axis", "elements of type", "the shape")
    ours = [text for text in refusals if not any(word in text for word in frames)]
    return (ours or list(refusals) or ["it cannot be asked"])[0]


def ask(question: Question, test: NodeTest, folder: Path, check: Check | None = None) -> None:
    """Compile a question to integers and compare.

    Raises:
        EdgecError: edgec refuses it.
        WrongError: a result differs.
    """
    path = folder / "model.onnx"
    path.write_bytes(question.model.SerializeToString())
    count = len(next(iter(question.samples.values())))
    data = _calibration(question)
    real = real_model(
        path,
        data,
        CompileOptions(
            state=StatePairs(automatic=False),
        ),
    )
    model = _quantized(real)
    with np.errstate(all="ignore"):
        _compare_float(real.imported, question, test)
    # A check takes one sample less than it is asked for: the last is noise.
    codes = check_inputs(model, count + 1)[:count]
    select_kernels(model.integer, Target.of(load_board("host")), {}, FAMILIES)
    with np.errstate(all="ignore"):
        for sample in codes:
            _compare_integers(model, sample)
    if check is not None:
        check(model, codes)


def _quantized(real: RealModel) -> IntegerModel:
    """Ranges are the extremes of the calibration data, where they are not searched or given.

    Other observers cut extremes off, which is no error of an operator.
    """
    try:
        return quantized_model(
            real,
            CompileOptions(
                state=StatePairs(automatic=False), quant=QuantOptions(observer=Observer.MINMAX)
            ),
        )
    except ConfigError:
        return quantized_model(
            real,
            CompileOptions(
                state=StatePairs(automatic=False),
            ),
        )


def _calibration(question: Question) -> dict[str, Array]:
    """The inputs of the test, and the same numbers in other orders, [N, ...without batch...]."""
    rng = np.random.default_rng(20)
    found = {}
    for name, samples in question.samples.items():
        array = samples[:, 0]
        if array.dtype.kind not in "iu":
            array = array.astype(np.int32 if array.dtype.kind == "b" else np.float32)
        order = [rng.permuted(array[0].ravel()).reshape(array[0].shape) for _ in range(SHUFFLES)]
        found[name] = np.concatenate([array, np.stack(order)])
    return found


def _compare_float(graph: Graph, question: Question, test: NodeTest) -> None:
    tolerance = _tolerance(test)
    found = Executor(graph, graph.outputs).run(
        {name: _as_graph(graph, name, a) for name, a in question.samples.items()}
    )
    for name, wanted in zip(graph.outputs, question.wanted, strict=True):
        array = np.asarray(found[name])
        if array.shape[1:] != wanted.shape[1:]:
            raise WrongError(f"shape {array.shape[1:]} instead of {wanted.shape[1:]}")
        array = np.broadcast_to(array, wanted.shape)
        good = np.isclose(
            array.astype(np.float64),
            wanted.astype(np.float64),
            rtol=max(test.rtol, tolerance),
            # Beside large numbers small ones are as coarse as these.
            atol=max(test.atol, 1e-5, 0.1 * tolerance * np.abs(wanted.astype(np.float64)).max()),
            equal_nan=True,
        )
        if not good.all() and not np.isfinite(wanted.astype(np.float64)).all():
            raise ConfigError("an output is infinite, which has no range")
        if not good.all():
            worst = np.argmin(good.ravel())
            raise WrongError(
                f"in float {(~good).sum()} of {good.size} differ, "
                f"{array.ravel()[worst]:.6g} instead of {wanted.ravel()[worst]:.6g}"
            )


def _tolerance(test: NodeTest) -> float:
    """How exact the numbers of a test are: those of 16 bits (bfloat16 is of kind V) are coarse."""
    arrays = (*test.inputs.values(), *test.outputs)
    coarse = any(a.dtype.kind in "fV" and a.dtype.itemsize == 2 for a in arrays)
    return 2e-2 if coarse else 1e-3


def _as_graph(graph: Graph, name: str, array: Array) -> Array:
    return array.astype(graph.values[name].dtype.numpy)


def _compare_integers(model: IntegerModel, codes: dict[str, Array]) -> None:
    """One sample: integers beside the float graph on what the codes stand for."""
    found = run_graph(model.integer, codes)
    inputs = {name: _file_input(model, name, array)[None] for name, array in codes.items()}
    names = model.imported.outputs
    executor = Executor(model.imported, names)
    exact = executor.run(inputs)
    rng = np.random.default_rng(41)
    noisy = [executor.run(inputs, _Rounding(rng)) for _ in range(DRAWS)]
    for name, own in zip(names, model.integer.outputs, strict=True):
        array = _file_output(model, name, own, found[own])
        others = np.stack([np.asarray(draw[name])[0] for draw in noisy])
        _compare_output(model.integer, own, array, np.asarray(exact[name])[0], others)


class _Rounding:
    """Moves every float tensor by up to half a step of its own range, as 8 bits do."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def __call__(self, node: Node, output: Array, known: object) -> Array:
        if output.dtype.kind != "f" or not np.isfinite(output).all():
            return output
        # Masks put the lowest number in place of logits: the range is that of the others.
        numbers = np.abs(output) < _NO_NUMBER
        if not numbers.any():
            return output
        kept = output[numbers]
        low, high = kept.min(), kept.max()
        step = (max(high, 0) - min(low, 0)) / _CODES
        moved = kept + step * self._rng.uniform(-0.5, 0.5, kept.shape)
        # Codes reach no further than the range does.
        result = output.copy()
        result[numbers] = np.clip(moved, low, high)
        return result


def _compare_output(graph: Graph, name: str, array: Array, exact: Array, noisy: Array) -> None:
    if array.shape != exact.shape:
        raise WrongError(f"shape {array.shape} instead of {exact.shape} in integers")
    quant = graph.values[name].quant
    if quant is None:
        sure = (noisy == exact).all(axis=0)
        if (array != exact)[sure].any():
            raise WrongError(f"{(array != exact)[sure].sum()} of {sure.sum()} decisions differ")
        return
    # A code may stand for a number just beyond those that a function has a value for.
    sure = np.isfinite(exact) & np.isfinite(noisy).all(axis=0)
    if not sure.any():
        raise WrongError("no element has a value")
    noise = float(np.abs(noisy - exact)[:, sure].max(initial=0.0))
    bound = STEPS * quant.tensor_scale + NOISE * noise
    gap = np.abs(array - exact)[sure]
    if not (gap <= bound).all():
        ends = f"{exact.min():.4g} to {exact.max():.4g}"
        raise WrongError(f"off by {gap.max():.4g}, bound {bound:.4g}, range {ends}")


def _file_input(model: IntegerModel, name: str, codes: Array) -> Array:
    """What codes of an input stand for, as the file takes it."""
    quant, dtype = model.integer.values[name].quant, model.imported.values[name].dtype
    array = codes
    if dtype is DType.FLOAT32 and quant is not None:
        array = quant.dequantize64(codes)
        features = model.integer.input_features.get(name)
        array = array if features is None else features.from_steps(array)
    elif dtype is DType.UINT8:
        array = (codes.astype(np.int16) + 128).astype(np.uint8)
    axes = model.integer.input_layouts.get(name)
    return array if axes is None else array.transpose(np.argsort(axes))


def _file_output(model: IntegerModel, name: str, own: str, codes: Array) -> Array:
    """An output of the graph in numbers and axes of the file."""
    quant, dtype = model.integer.values[own].quant, model.imported.values[name].dtype
    array = codes.astype(np.int64)
    if dtype is DType.UINT8:
        array = array + 128
    elif quant is not None and dtype is DType.FLOAT32:
        array = quant.dequantize64(codes)
    axes = model.integer.output_layouts.get(own)
    return array if axes is None else array.transpose(np.argsort(axes))
