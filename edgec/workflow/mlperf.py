"""Firmware for MLPerf Tiny's runner: which benchmark a model is for, and its numbers as codes.

Source: mlcommons/tiny, benchmark/reference_submissions and benchmark/runner.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.samples import Normalize
from edgec.codegen.cliterals import c_float, c_list
from edgec.codegen.firmware_app import FirmwareApp
from edgec.codegen.project_contexts import MlperfContext
from edgec.report.model import TensorReport
from edgec.workflow.codes import encode

ENERGY_BAUD = 9600
DECIMALS = 3
"""Decimals of the results that the runner is told."""
_BYTES = 256
_PIXELS = "--pixels, --normalize"


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark of MLPerf Tiny.

    Attributes:
        name: the runner's name for its network.
        shape: one input as the runner sends it, row-major.
        dtype: element type of that.
        baud: bits a second of the runner's line, but where energy is measured.
        scale, zero_point: ``real = scale * (code - zero_point)`` of int8 numbers, which are codes
            of the reference network.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    baud: int = 115_200
    scale: float = 1.0
    zero_point: int = 0

    @property
    def elements(self) -> int:
        """Numbers of one input."""
        return math.prod(self.shape)

    @property
    def is_anomaly_detection(self) -> bool:
        """The result is how far the output is from the input."""
        return self.dtype == "float32"


BENCHMARKS = (
    Benchmark("ic01", (32, 32, 3), "uint8"),
    Benchmark("vww01", (96, 96, 3), "uint8"),
    Benchmark("kws01", (49, 10), "int8", scale=0.5847029089927673, zero_point=83),
    Benchmark("ad01", (640,), "float32", baud=921_600),
)
_HINT = (
    "MLPerf Tiny's benchmarks have one input of 32 x 32 x 3 (ic01), 96 x 96 x 3 (vww01), 49 x 10 "
    "(kws01) or 640 numbers (ad01)"
)


def benchmark_of(inputs: Sequence[TensorReport], outputs: Sequence[TensorReport]) -> Benchmark:
    """The benchmark that a model is for, by the size of its input.

    Raises:
        ConfigError: it is for none of them.
    """
    if len(inputs) != 1 or len(outputs) != 1:
        raise ConfigError(
            f"the model has {len(inputs)} inputs and {len(outputs)} outputs",
            where="--app",
            hint=_HINT,
        )
    tensor, output = inputs[0], outputs[0]
    sizes = {each.elements: each for each in BENCHMARKS}
    found = sizes.get(math.prod(tensor.library_shape))
    if found is None or tensor.length_axis is not None:
        shape = " x ".join(map(str, tensor.shape))
        raise ConfigError(f"the model's input is {shape}", where="--app", hint=_HINT)
    _check_order(tensor, found)
    if tensor.library_dtype == "int32" or output.library_dtype == "int32":
        raise ConfigError(
            "the runner takes scores, the model gives numbers of classes or takes token ids",
            where="--app",
            hint="export the network without ArgMax",
        )
    if found.is_anomaly_detection and math.prod(output.library_shape) != found.elements:
        raise ConfigError(
            f"the model's output has {math.prod(output.library_shape)} numbers, that of ad01 640",
            where="--app",
            hint="anomaly detection compares the output with the input",
        )
    return found


def _check_order(tensor: TensorReport, benchmark: Benchmark) -> None:
    """The runner sends pixels with their channels side by side."""
    sizes = tuple(size for size in tensor.library_shape if size != 1)
    if len(sizes) == len(benchmark.shape) and sizes != benchmark.shape:
        wanted = " x ".join(map(str, benchmark.shape))
        raise ConfigError(
            f"the firmware's input is {' x '.join(map(str, sizes))}, the runner sends {wanted}",
            where="--app",
            hint="export the network with its channels last",
        )


def numbers_to_codes(
    benchmark: Benchmark, numbers: Array, tensor: TensorReport, pixels: Normalize | None
) -> Array:
    """The library's codes of what the runner sends, as `edgec run` makes them.

    A model of integers takes pixels and codes as its own; what another takes is quantized.

    Args:
        benchmark: the benchmark of the model.
        numbers: [N, elements], of the benchmark's type.
        tensor: the model's input.
        pixels: how pixels become the model's numbers; None: not said.

    Returns:
        [N, elements], of the library's type.

    Raises:
        ConfigError: pixels, and it is not known how they become real numbers.
    """
    known = _model_numbers(benchmark, numbers, tensor, pixels)
    library = known.reshape(len(numbers), *tensor.library_shape[1:])
    moved = tuple(np.argsort(tensor.layout)) if tensor.layout else None
    samples = library.transpose(moved) if moved else library
    return encode(samples, tensor).reshape(len(numbers), -1)


def _model_numbers(
    benchmark: Benchmark, numbers: Array, tensor: TensorReport, pixels: Normalize | None
) -> Array:
    """Numbers of the runner as the model takes them: float32, or its own integers."""
    if pixels is not None and benchmark.dtype != "uint8":
        raise ConfigError(f"{benchmark.name} has no pixels", where=_PIXELS)
    is_float = tensor.dtype == "float32"
    if benchmark.is_anomaly_detection:
        return numbers
    if benchmark.dtype == "int8":
        real = (numbers.astype(np.float64) - benchmark.zero_point) * benchmark.scale
        return real.astype(np.float32) if is_float or tensor.dtype == "uint8" else numbers
    pixels = pixels or (tensor.normalize if is_float else None)
    if pixels is not None:
        pixels.check(benchmark.shape[-1], _PIXELS)
        images = numbers.reshape(-1, benchmark.shape[-1])
        return pixels.apply(images).reshape(numbers.shape)
    if is_float:
        raise ConfigError(
            "it is not said how the runner's pixels of 0 to 255 become the model's numbers",
            where="--app",
            hint="add --normalize scale=1/255 for 0 to 1, scale=1 for 0 to 255",
        )
    return (numbers.astype(np.int16) - 128).astype(np.int8) if tensor.dtype == "int8" else numbers


def mlperf_app(
    inputs: Sequence[TensorReport],
    outputs: Sequence[TensorReport],
    pixels: Normalize | None,
    *,
    energy: bool,
) -> FirmwareApp:
    """The main program for the runner.

    Args:
        inputs, outputs: tensors of the model, as it sees them and as the library does.
        pixels: how the runner's pixels become the model's numbers; None: not said.
        energy: time stamps are pulses at a pin.

    Raises:
        ConfigError: the model is for no benchmark.
    """
    benchmark = benchmark_of(inputs, outputs)
    tensor, output = inputs[0], outputs[0]
    codes = np.dtype(tensor.library_dtype)
    tables = () if benchmark.is_anomaly_detection else _tables(benchmark, tensor, pixels)
    scales, zero_points = _features(tensor)
    config = MlperfContext(
        model=benchmark.name,
        energy=int(energy),
        input_bytes=benchmark.elements * np.dtype(benchmark.dtype).itemsize,
        input_elements=benchmark.elements,
        output_elements=math.prod(output.library_shape),
        output_scale=c_float(output.scale),
        code_type=f"{codes.name}_t",
        most_code=int(np.iinfo(codes).max),
        channels=len(tables),
        tables=tables,
        features=len(scales) if benchmark.is_anomaly_detection else 0,
        scales=c_list([c_float(scale) for scale in scales])
        if benchmark.is_anomaly_detection
        else None,
        zero_points=c_list([str(zero_point) for zero_point in zero_points]),
    )
    return FirmwareApp("mlperf", config, ENERGY_BAUD if energy else benchmark.baud)


def _features(tensor: TensorReport) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """One scale and zero point, or those of each element of a tensor whose features have some."""
    if not tensor.feature_scales:
        return (tensor.scale,), (tensor.zero_point,)
    quant, shape = tensor.quant, tensor.library_shape
    assert quant.axis is not None
    own = [size if axis == quant.axis else 1 for axis, size in enumerate(shape)]
    number = np.broadcast_to(np.arange(len(quant.scale)).reshape(own), shape).reshape(-1)
    return tuple(quant.scale[i] for i in number), tuple(quant.zero_point[i] for i in number)


def _tables(
    benchmark: Benchmark, tensor: TensorReport, pixels: Normalize | None
) -> tuple[Array, ...]:
    """The codes of all bytes: one table, or one for each channel where they differ."""
    bytes_ = np.arange(_BYTES, dtype=np.uint8).view(benchmark.dtype)
    numbers = np.repeat(bytes_[:, None], benchmark.elements, axis=1)
    last = benchmark.shape[-1]
    codes = numbers_to_codes(benchmark, numbers, tensor, pixels).reshape(_BYTES, -1, last)[:, 0, :]
    alike = bool((codes == codes[:, :1]).all())
    return tuple(codes[:, channel] for channel in range(1 if alike else last))


def expected_results(
    benchmark: Benchmark, numbers: Array, codes: Array, output: TensorReport
) -> str:
    """Results that the firmware must print between the brackets of `m-results-[...]`.

    Args:
        benchmark: the benchmark of the model.
        numbers: one input as the runner sends it, flat.
        codes: the library's output for it.
        output: what the codes mean.
    """
    values = output.quant.dequantize(codes.reshape(output.library_shape)).reshape(-1)
    if benchmark.is_anomaly_detection:
        gaps = values.astype(np.float64) - numbers.astype(np.float64)
        # One after the other, as the firmware adds them.
        values = np.array([sum((gaps * gaps).tolist()) / gaps.size], np.float32)
    return ",".join(f"{value:.{DECIMALS}f}" for value in values.tolist())
