"""Campaign `networks`: ordinary random networks, quantized with data, judged on fresh samples.

A finding is an error that is no refusal; a signal to noise below 15 dB where the static
quantization of onnxruntime keeps 25 dB with the same samples; and, whatever that keeps, less than
25 dB with int16 codes and without a warning, in a network whose float32 and float64 results agree.
The last is judged on the samples that int8 weights can have 25 dB on: where logits, or the two
elements of a norm, lie closer together than rounding of weights moves them, the float network
itself jumps as its weights move by up to half a step.
Every fourth network comes quantized, by onnxruntime: its file is compiled as it is.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import numpy_helper

from edgec.base.dtypes import Array

from .campaign import Campaign, Case, Outcome

if TYPE_CHECKING:
    from .random_networks import Network

_MODEL, _QDQ, _MOVED = "model.onnx", "qdq.onnx", "moved.onnx"
_LAYERS = frozenset(("Conv", "ConvTranspose", "Gemm", "MatMul"))
_CALIBRATION, _FRESH = 96, 48
"""Samples that ranges are found on, and others that the result is judged on."""
_STREAM = 16
"""Steps of a stream, for networks with a state."""
_LEAST_DB, _THEIRS_DB = 15.0, 25.0
_INT16_DB, _STEADY_DB = 25.0, 60.0
"""Least of int16 codes where float32 and float64 agree to that."""
_DRAWS = 16
"""Float networks with moved weights that show on which samples these decide."""
_WORSE_DB = 6.0
"""What is as much below onnxruntime is counted by itself."""
_QUANTIZED_SHARE, _INT16_SHARE = 0.25, 0.3

Results = dict[str, Array]


def prepare(shared: Path) -> None:
    """Import what cases need."""
    del shared
    import onnxruntime.quantization  # noqa: F401

    import edgec.workflow.integer  # noqa: F401

    from . import random_networks  # noqa: F401


def run(case: Case) -> Outcome:
    """Make a network, quantize it with default options, and compare."""
    from edgec.base.errors import EdgecError, InternalError

    from .random_networks import random_network

    logging.disable(logging.WARNING)
    rng = case.random()
    path = case.folder / _MODEL
    net = random_network(rng)
    onnx.save(net.model(), path)
    numbers = np.random.default_rng(rng.getrandbits(32))
    data, fresh = (_samples(net, count, numbers) for count in (_CALIBRATION, _FRESH))
    quantized, careful = rng.random() < _QUANTIZED_SHARE, rng.random() < _INT16_SHARE
    form = _form(net, rng.getrandbits(32)) if quantized else {}
    wanted = _outputs(net, path, fresh)
    theirs = _theirs(net, path, data, wanted, fresh, case.folder / _QDQ, form)
    if quantized and theirs == -math.inf:
        return Outcome("onnxruntime does not quantize it")
    try:
        steady = _signal_to_noise(wanted, _exact(path, fresh))
        given = case.folder / _QDQ if quantized else path
        ours, warned = _ours(net, given, None if quantized else data, fresh, wanted)
        print(f"edgec {ours:.1f} dB, onnxruntime {theirs:.1f} dB, float {steady:.1f} dB {form}")
        if steady < _STEADY_DB:
            return Outcome("float32 and float64 differ")
        if ours < _LEAST_DB and theirs >= _THEIRS_DB:
            found = f"{ours:.1f} dB on fresh samples, {theirs:.1f} dB by onnxruntime"
            return Outcome("noisy", found)
        if not quantized and (careful or ours < _INT16_DB):
            calm = _calm(net, path, fresh, wanted, numbers)
            wide, warned = _ours(net, path, data, fresh, wanted, int16=True, judged=calm)
            print(f"int16 {wide:.1f} dB on {calm.sum()}", *warned, sep="\n  ", flush=True)
            if wide < _INT16_DB and not warned:
                return Outcome("noisy with int16", f"{wide:.1f} dB with int16 codes")
    except InternalError:
        raise
    except EdgecError as error:
        return Outcome(f"refused: {str(error).splitlines()[0]}")
    if ours < _LEAST_DB:
        return Outcome("noisy by onnxruntime, too")
    return Outcome("right" if ours >= theirs - _WORSE_DB else f"right, {_WORSE_DB:g} dB worse")


def _samples(net: Network, count: int, rng: np.random.Generator) -> Results:
    """Normal numbers in the units of the input; of a network with a state also where it begins."""
    shape = net.shapes["x"]
    found = (rng.normal(0, 1, (count, *shape[1:])) * net.unit).astype(np.float32)
    starts = np.arange(count) % _STREAM == 0
    return {"x": found, "reset": starts} if net.states else {"x": found}


def _session(path: Path) -> Any:
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _steps(net: Network, path: Path, data: Results) -> Iterator[tuple[Results, Results]]:
    """Inputs and outputs of a file in onnxruntime, as it is, for each sample."""
    session = _session(path)
    names = [each.name for each in session.get_outputs()]
    state: Results = {}
    for index, sample in enumerate(data["x"]):
        if not state or data["reset"][index]:
            state = {name: np.zeros(net.shapes[name], np.float32) for name in net.states}
        given = {"x": sample[None], **state}
        found = dict(zip(names, session.run(None, given), strict=True))
        state = {name: found[next_one] for name, next_one in net.states.items()}
        yield given, found


def _outputs(net: Network, path: Path, data: Results) -> Results:
    """Real outputs of a file in onnxruntime; float64 [N, ...] each."""
    found = [outputs for _, outputs in _steps(net, path, data)]
    return {name: np.stack([each[name] for each in found]).astype(float) for name in net.outputs}


def _exact(path: Path, fresh: Results) -> Results:
    """Outputs of the imported graph in float64."""
    from edgec.base.streams import RESETS
    from edgec.floatrun.executor import Executor
    from edgec.importers.formats import import_model

    graph = import_model(path)
    given = {RESETS if name == "reset" else name: array for name, array in fresh.items()}
    return dict(Executor(graph, graph.outputs).run(given))


def _ours(
    net: Network,
    path: Path,
    data: Results | None,
    fresh: Results,
    wanted: Results,
    *,
    int16: bool = False,
    judged: Array | slice = slice(None),
) -> tuple[float, tuple[str, ...]]:
    """Signal to noise of the integer graph in dB on what is judged, and what was warned of."""
    from edgec.base.options import CompileOptions, Precision, QuantOptions
    from edgec.base.streams import RESETS
    from edgec.quant.common.sample_codes import runs
    from edgec.workflow.integer import graph_side, quantized_model, real_model

    options = CompileOptions(quant=QuantOptions(precision=Precision.INT16 if int16 else None))
    real = real_model(path, data, options)
    model = quantized_model(real, options)
    graph = model.integer
    given = graph_side(real.imported, real.graph, fresh)
    if net.states:
        given[RESETS] = fresh["reset"]
    found: dict[str, list[Array]] = {name: [] for name in graph.outputs if name in wanted}
    for codes in runs(graph, given):
        for name, arrays in found.items():
            array = graph.quant(name).dequantize(codes[name]).reshape(graph.shape(name))
            layout = graph.output_layouts.get(name, tuple(range(array.ndim)))
            arrays.append(array.transpose(np.argsort(layout)))
    results = {name: np.stack(arrays) for name, arrays in found.items()}
    chosen = ({name: array[judged] for name, array in each.items()} for each in (wanted, results))
    return _signal_to_noise(*chosen), model.quantization.warnings


def _calm(
    net: Network, path: Path, fresh: Results, wanted: Results, rng: np.random.Generator
) -> Array:
    """Samples that no draw of weights within half a step changes by too much; bool [N]."""
    model, moved = onnx.load(path), path.with_name(_MOVED)
    weights = _weights(model.graph)
    calm = np.ones(len(fresh["x"]), bool)
    for _ in range(_DRAWS):
        for tensor in model.graph.initializer:
            if tensor.name in weights:
                real = weights[tensor.name]
                step = np.abs(real).max(axis=_but_outputs(real), keepdims=True) / 127.0
                other = real + step * rng.uniform(-0.5, 0.5, real.shape)
                tensor.CopyFrom(numpy_helper.from_array(other.astype(np.float32), tensor.name))
        onnx.save(model, moved)
        for name, found in _outputs(net, moved, fresh).items():
            noise, signal = (
                np.square(each).reshape(len(calm), -1).sum(axis=1)
                for each in (found - wanted[name], wanted[name])
            )
            calm &= noise <= signal.mean() / 10.0 ** (_INT16_DB / 10.0)
    return calm


def _but_outputs(weights: Array) -> tuple[int, ...]:
    """The axes of weights that are summed over."""
    return tuple(range(1, weights.ndim)) if weights.ndim > 2 else (0,)


def _weights(graph: onnx.GraphProto) -> dict[str, Array]:
    """Constants that layers multiply by, those in loops, too."""
    held = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    bodies = (a.g for node in graph.node for a in node.attribute if a.HasField("g"))
    nodes = (node for part in (graph, *bodies) for node in part.node)
    names = {node.input[1] for node in nodes if node.op_type in _LAYERS}
    return {name: held[name] for name in names if name in held}


def _form(net: Network, seed: int) -> Mapping[str, Any]:
    """Arguments of onnxruntime's quantization: int8 codes, int16 codes, or some tensors int16."""
    from onnxruntime.quantization import QuantType

    rng = np.random.default_rng(seed)
    kind = rng.integers(3)
    if kind == 0:
        return {"activation_type": QuantType.QInt8, "weight_type": QuantType.QInt8}
    if kind == 1:
        return {"activation_type": QuantType.QInt16, "weight_type": QuantType.QInt8}
    tensors = [name for name in net.shapes if name.startswith("t") and rng.random() < 0.3]
    wide = {name: [{"quant_type": QuantType.QInt16}] for name in tensors}
    return {
        "activation_type": QuantType.QInt8,
        "weight_type": QuantType.QInt8,
        "extra_options": {"TensorQuantOverrides": wide},
    }


def _theirs(
    net: Network,
    path: Path,
    data: Results,
    wanted: Results,
    fresh: Results,
    target: Path,
    form: Mapping[str, Any],
) -> float:
    """Signal to noise of onnxruntime's static quantization in dB; -inf where it has none."""
    from onnxruntime import quantization

    class Reader(quantization.CalibrationDataReader):  # type: ignore[misc]
        """The samples, one after the other."""

        def __init__(self) -> None:
            self._left = (given for given, _ in _steps(net, path, data))

        def get_next(self) -> Results | None:
            return next(self._left, None)

    qdq = quantization.QuantFormat.QDQ
    try:
        quantization.quantize_static(path, target, Reader(), qdq, per_channel=True, **form)
        return _signal_to_noise(wanted, _outputs(net, target, fresh))
    except Exception as error:  # whatever it cannot do is no yardstick
        print(f"onnxruntime: {error}", flush=True)
        return -math.inf


def _signal_to_noise(wanted: Results, found: Results) -> float:
    """Least of all outputs, of all samples together, in dB; infinite where nothing differs."""
    return min(_decibels(array, found[name]) for name, array in wanted.items())


def _decibels(wanted: Array, found: Array) -> float:
    largest = float(np.abs(wanted).max(initial=0.0)) or 1.0  # squares of small numbers are 0
    noise = float(np.sum(((found.reshape(wanted.shape) - wanted) / largest) ** 2))
    signal = float(np.sum((wanted / largest) ** 2))
    if noise == 0.0:
        return math.inf
    return 10.0 * math.log10(signal / noise) if signal else -math.inf


CAMPAIGN = Campaign(
    summary="random networks with calibration data, judged on fresh samples beside onnxruntime",
    run=run,
    nightly=3000,
    prepare=prepare,
    seconds=240.0,
    memory_bytes=6 << 30,
)
