"""Float execution of a model by onnxruntime: the yardstick of every quantized result."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnxruntime.capi import onnxruntime_pybind11_state as _ort
from onnxruntime.capi.onnxruntime_inference_collection import InferenceSession

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError, ImportModelError, InternalError
from edgec.base.streams import RESETS

_RUNTIME_ERRORS: tuple[type[Exception], ...] = (
    _ort.Fail,
    _ort.InvalidArgument,
    _ort.InvalidGraph,
    _ort.InvalidProtobuf,
    _ort.NoModel,
    _ort.NoSuchFile,
    _ort.NotImplemented,
    _ort.RuntimeException,
    RuntimeError,
)
_QUIET = 4
"""onnxruntime's severity "fatal": errors arrive as exceptions, warnings concern its developers."""
_DTYPES = {
    "tensor(float)": "float32",
    "tensor(float16)": "float16",
    "tensor(double)": "float64",
    "tensor(int8)": "int8",
    "tensor(uint8)": "uint8",
    "tensor(int16)": "int16",
    "tensor(uint16)": "uint16",
    "tensor(int32)": "int32",
    "tensor(int64)": "int64",
    "tensor(bool)": "bool",
}
BATCH_SAMPLES = 64
"""Samples a call for models with a free batch dimension."""


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """An input or output of a model.

    Attributes:
        name: its name in the model.
        shape: None where the model leaves a dimension open.
        dtype: numpy name of the element type, e.g. "float32" or "int8".
    """

    name: str
    shape: tuple[int | None, ...]
    dtype: str

    @property
    def is_float(self) -> bool:
        """True for floating-point elements."""
        return np.dtype(self.dtype).kind == "f"


class FloatModel:
    """An ONNX model, ready to run on the CPU; results are the same on every run.

    Attributes:
        inputs, outputs: what the model takes and gives, in its order.
    """

    def __init__(
        self, model: Path | onnx.ModelProto, *, threads: int = 1, optimize: bool = True
    ) -> None:
        """Load a model from a file or from memory.

        Args:
            model: an ONNX file or a loaded model.
            threads: threads inside one operator.
            optimize: False: run QDQ models operator by operator, in float between codes, instead of
                by onnxruntime's own int8 kernels, some of which saturate 16-bit sums.

        Raises:
            ImportModelError: onnxruntime cannot load it.
        """
        self._where = str(model) if isinstance(model, Path) else model.graph.name
        source = str(model) if isinstance(model, Path) else model.SerializeToString()
        options = _ort.SessionOptions()
        options.log_severity_level = _QUIET
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.use_deterministic_compute = True
        # Products of float activations and integer weights in float, not in int8 (its default, 4).
        options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "1")
        if not optimize:
            options.graph_optimization_level = _ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        try:
            self._session = InferenceSession(source, options, providers=["CPUExecutionProvider"])
        except _RUNTIME_ERRORS as error:
            raise ImportModelError(
                f"onnxruntime cannot load the model: {_first_line(error)}", where=self._where
            ) from error
        self.inputs = tuple(_info(arg) for arg in self._session.get_inputs())
        self.outputs = tuple(_info(arg) for arg in self._session.get_outputs())

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the inputs, in the model's order."""
        return tuple(info.name for info in self.inputs)

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the outputs, in the model's order."""
        return tuple(info.name for info in self.outputs)

    def run(
        self,
        inputs: Mapping[str, Array],
        outputs: Sequence[str] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> dict[str, Array]:
        """Run N samples, stacked along the first axis.

        A model with a fixed first dimension of 1 is run once a sample, one with a free first
        dimension in batches; as many at a time as there are processors.

        Args:
            inputs: for each input, [N, ...] of the model's element type (floats are converted);
                or [N, *shape] where a sample is a whole input, whose batch is not its first axis.
            outputs: names of the outputs wanted; None: all.
            progress: told (samples done, samples).

        Returns:
            [N, ...] for each output: the results of the runs, stacked along the first axis (an
            output whose first dimension is not 1 a sample gets a new one).

        Raises:
            ConfigError: an input is missing or unknown, or has a wrong shape or element type.
        """
        feeds = self._checked(inputs)
        wanted = list(self.output_names if outputs is None else outputs)
        samples = len(next(iter(feeds.values()))) if feeds else 0
        whole = {info.name for info in self.inputs if feeds[info.name].ndim > len(info.shape)}
        step = 1 if whole else self._step(samples)

        def run_at(start: int) -> list[Array]:
            part = {
                name: array[start] if name in whole else array[start : start + step]
                for name, array in feeds.items()
            }
            return self._run(part, wanted)

        runs = []
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            try:
                for done, results in enumerate(pool.map(run_at, range(0, samples, step)), start=1):
                    runs.append(results)
                    if progress is not None:
                        progress(min(done * step, samples), samples)
            finally:
                # After an error or Ctrl-C: do not start what has not started.
                pool.shutdown(wait=True, cancel_futures=True)
        return {
            name: _joined([results[index] for results in runs], step)
            for index, name in enumerate(wanted)
        }

    def run_steps(
        self,
        inputs: Mapping[str, Array],
        state: Mapping[str, str],
        outputs: Sequence[str] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> dict[str, Array]:
        """Run the steps of streams, each with the state that the one before it left.

        Args:
            inputs: for each input that is no state [N, ...]; `RESETS`, bool [N], says which steps
                begin a stream: by default the first.
            state: the outputs that the model takes in the next step, by input.  A stream begins
                with what the model stores for the input, or with zeros.
            outputs: as for `run`.
            progress: told (steps done, steps).

        Returns:
            As `run`.

        Raises:
            ConfigError: see `run`.
        """
        own = tuple(info for info in self.inputs if info.name not in state)
        feeds = {info.name: _checked_input(info, inputs) for info in own}
        count = len(next(iter(feeds.values()), ()))
        resets = np.asarray(inputs.get(RESETS, np.arange(count) == 0), bool)
        wanted = list(self.output_names if outputs is None else outputs)
        zeros = {
            info.name: np.zeros([size or 1 for size in info.shape], info.dtype)
            for info in self.inputs
            if info.name in state
        }
        kept, runs = zeros, []
        for step in range(count):
            kept = zeros if resets[step] else kept
            given = {
                info.name: np.asarray(feeds[info.name][step])
                if feeds[info.name].ndim > len(info.shape)
                else feeds[info.name][step : step + 1]
                for info in own
            }
            results = self._run({**given, **kept}, [*wanted, *state.values()])
            runs.append(results[: len(wanted)])
            kept = dict(zip(state, results[len(wanted) :], strict=True))
            if progress is not None:
                progress(step + 1, count)
        return {name: _joined([run[i] for run in runs], 1) for i, name in enumerate(wanted)}

    def _step(self, samples: int) -> int:
        """Samples a call: what the model's first dimension asks for."""
        fixed = {info.shape[0] for info in self.inputs if info.shape and info.shape[0] is not None}
        if not fixed:
            return BATCH_SAMPLES
        step = fixed.pop()
        if fixed or samples % step:
            raise ConfigError(f"{samples} samples do not fill batches of {step}", where=self._where)
        return step

    def _run(self, feeds: dict[str, Array], wanted: list[str]) -> list[Array]:
        try:
            results = self._session.run(wanted, feeds)
        except _RUNTIME_ERRORS as error:
            raise InternalError(
                f"onnxruntime failed: {_first_line(error)}", where=self._where
            ) from error
        return [_array(result) for result in results]

    def _checked(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        known = ", ".join(self.input_names)
        for name in inputs:
            if name not in self.input_names:
                raise ConfigError(f"the model has no input {name!r}", hint=f"inputs: {known}")
        feeds = {info.name: _checked_input(info, inputs) for info in self.inputs}
        if len({len(array) for array in feeds.values()}) > 1:
            raise ConfigError("the inputs hold different numbers of samples", where=known)
        if not feeds or not len(next(iter(feeds.values()))):
            raise ConfigError("the inputs hold no samples", where=known)
        return feeds


def _array(result: object) -> Array:
    """An output as an array; the dictionaries of a ZipMap, one a sample, as rows of scores."""
    if isinstance(result, list) and result and isinstance(result[0], dict):
        labels = list(result[0])
        return np.asarray([[found[label] for label in labels] for found in result], np.float32)
    return np.asarray(result)


def _checked_input(info: TensorInfo, inputs: Mapping[str, Array]) -> Array:
    if info.name not in inputs:
        raise ConfigError(
            "the data hold no array for this input", where=info.name, hint=f"expected {_text(info)}"
        )
    array = np.asarray(inputs[info.name])
    # A sample is a part of the input's first axis, or a whole input.
    sample = info.shape[1:] if array.ndim <= len(info.shape) else info.shape
    fits = array.ndim == len(sample) + 1 and all(
        size is None or size == given for size, given in zip(sample, array.shape[1:], strict=True)
    )
    if not fits:
        raise ConfigError(
            f"array of shape {list(array.shape)} does not fit the input",
            where=info.name,
            hint=f"expected {_text(info)}",
        )
    if info.is_float and array.dtype.kind in "fiu":
        return np.ascontiguousarray(array, info.dtype)
    if array.dtype != np.dtype(info.dtype):
        raise ConfigError(
            f"array of {array.dtype} does not fit the input",
            where=info.name,
            hint=f"expected {_text(info)}",
        )
    return np.ascontiguousarray(array)


def _text(info: TensorInfo) -> str:
    sizes = ", ".join("?" if size is None else str(size) for size in info.shape[1:])
    return f"{info.dtype} [N, {sizes}]" if sizes else f"{info.dtype} [N]"


def _joined(parts: list[Array], step: int) -> Array:
    if step == 1 and (parts[0].ndim == 0 or parts[0].shape[0] != 1):
        return np.stack(parts)
    return np.concatenate(parts)


def _info(arg: _ort.NodeArg) -> TensorInfo:
    shape = tuple(size if isinstance(size, int) else None for size in arg.shape or ())
    return TensorInfo(arg.name, shape, _DTYPES.get(arg.type, "object"))


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__
