"""State that the operator handlers share: the graph they write, with codes dequantized on reading.

An integer file says of each tensor what its codes mean.  The graph has that in the form of Q/DQ
models: every operator reads real numbers from a DequantizeLinear, and a QuantizeLinear makes codes
of what it gives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.errors import ImportModelError, QuantizationError
from edgec.base.names import shown
from edgec.importers.common.loops import LoopBuilder
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.tflite.load_tensor import FileGraph, FileModel, FileOperator, FileTensor
from edgec.importers.tflite.variables import Variables
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.metadata import record_note
from edgec.ir.qparams import QuantParams

MAX_CONVERTED = 1 << 26
"""Most elements of all constants that are stored in another type than the graph's."""
DTYPES = {
    "FLOAT32": DType.FLOAT32,
    "FLOAT16": DType.FLOAT32,
    "FLOAT64": DType.FLOAT32,
    "INT4": DType.INT8,
    "INT8": DType.INT8,
    "UINT8": DType.UINT8,
    "INT16": DType.INT16,
    "UINT16": DType.UINT16,
    "INT32": DType.INT32,
    "UINT32": DType.UINT32,
    "INT64": DType.INT64,
    "BOOL": DType.BOOL,
}
"""Element types of constants."""
_VALUES = {
    "FLOAT32": DType.FLOAT32,
    "INT8": DType.INT8,
    "UINT8": DType.UINT8,
    "INT16": DType.INT16,
    "INT32": DType.INT32,
    "INT64": DType.INT32,
    "BOOL": DType.INT32,
}
"""Element types of computed tensors; whole numbers are int32 on the target."""
_CODES = (DType.INT8, DType.UINT8, DType.INT16)


class Context(LoopBuilder):
    """The graph under construction.

    Attributes:
        model: the file.
        file: its tensors, by their number there.
        owned: numbers of the variable tensors that operators have.
        variables: those that operators name (`variables.py`).
        keeps_state: all of these are kept from run to run.
        apply: translates an operator that reads no constants of all turns.
        translate: attempts operators in order; set by whoever walks the file.
    """

    def __init__(self, name: str, model: FileModel, *, keeps_state: bool = True) -> None:
        super().__init__(name, frozenset(tensor.name for tensor in model.tensors))
        self.model = model
        self.file = model.tensors
        self.owned: list[int] = []
        self.variables = Variables()
        self.keeps_state = keeps_state
        self.apply: Callable[[FileOperator], tuple[Tensor, ...]]
        self.translate: Callable[[Sequence[FileOperator]], None]
        self._kept: list[str] = []
        self._entered: list[FileGraph] = []
        self._real: dict[str, Value] = {}
        self._codes_of: dict[str, str] = {}
        self._converted = 0

    def enter(self, graph: FileGraph) -> bool:
        """Whether a network was not translated yet; from now on it was."""
        if any(each is graph for each in self._entered):
            return False
        self._entered.append(graph)
        return True

    def note_kept(self, name: str) -> None:
        """Say in a note that something is kept from run to run."""
        self._kept.append(shown(name))
        record_note(
            self.builder.metadata,
            "state",
            f"kept from run to run: {', '.join(self._kept)}; "
            "with --state none each run begins anew",
        )

    def add_input(self, number: int, shape: tuple[int, ...]) -> None:
        """Let a tensor of the file be an input of the graph.

        Raises:
            ImportModelError: its elements are neither reals nor codes nor whole numbers.
        """
        tensor = self.file[number]
        try:
            value = Value(tensor.name, shape, value_dtype(tensor), code_params(tensor, shape))
        except UnsupportedError as error:
            raise ImportModelError(
                f"the input {error.reason}", where=shown(tensor.name), hint=error.remedy
            ) from error
        self.tensors[tensor.name] = value
        self.builder.value(value)
        self.builder.inputs.append(tensor.name)

    def constant_of(self, tensor: FileTensor) -> Constant:
        """A constant of the file, with what its codes mean.

        Raises:
            UnsupportedError: edgec has no such element type.
            ImportModelError: what its codes mean is impossible.
        """
        dtype = DTYPES.get(tensor.type)
        if dtype is None or tensor.data is None:
            raise UnsupportedError(
                f"{shown(tensor.name)} holds elements of type {tensor.type}", "use float32 or int8"
            )
        array = tensor.data
        if array.dtype != dtype.numpy:
            self._converted += array.size
            if self._converted > MAX_CONVERTED:
                raise ImportModelError(
                    f"the constants of other types than float32 have more than {MAX_CONVERTED} "
                    "elements"
                )
            array = array.astype(dtype.numpy)
        # Whole numbers are shapes, axes and biases; what a bias means its layer says.
        codes = dtype in _CODES and len(tensor.scales) > 0
        return Constant(tensor.name, array, params(tensor, dtype, array.shape) if codes else None)

    def real(self, value: Value) -> Value:
        """Real numbers of a value: the value itself, or its dequantized codes.

        Raises:
            UnsupportedError: it holds whole numbers, or codes of unknown meaning.
        """
        if value.dtype is DType.FLOAT32:
            return value
        if value.dtype not in _CODES or value.quant is None:
            raise UnsupportedError(
                f"it computes on {value.dtype.value} numbers without a scale",
                "convert the model to float32, or quantize it to int8 with calibration data",
            )
        if value.name not in self._real:
            made = self.emit(ops.DequantizeLinear(), value, dtype=DType.FLOAT32)
            self._real[value.name] = made
            self._codes_of[made.name] = value.name
        return self._real[value.name]

    def _rename(self, value: Value, name: str) -> Value:
        """Give a value another name; what was made of codes is known by it from now on."""
        renamed = super()._rename(value, name)
        codes = self._codes_of.pop(value.name, None)
        if codes is not None:
            self._real[codes] = renamed
        self.variables.rename(value, renamed)
        return renamed

    def stored(self, tensor: Tensor, number: int, *, in_float32: bool = False) -> Tensor:
        """Result of an operator in the type that the file stores: quantized for an integer type.

        Args:
            tensor: the result.
            number: that of the tensor in the file.
            in_float32: see `QuantParams`.

        Raises:
            UnsupportedError: the file stores a computed tensor in a type that edgec has not.
        """
        file = self.file[number]
        if isinstance(tensor, Constant):
            return tensor
        dtype = value_dtype(file)
        if dtype is tensor.dtype:
            return tensor
        quant = code_params(file, tensor.shape)
        if tensor.dtype is not DType.FLOAT32 or quant is None:
            raise UnsupportedError(
                f"its output of type {file.type} is computed as {tensor.dtype.value}",
                "leave conversions between kinds of numbers out",
            )
        quant = replace(quant, in_float32=in_float32)
        return self.emit(ops.QuantizeLinear(), tensor, dtype=quant.dtype, quant=quant)


def value_dtype(tensor: FileTensor) -> DType:
    """The element type of a computed tensor.

    Raises:
        UnsupportedError: edgec does not compute such.
    """
    dtype = _VALUES.get(tensor.type)
    if dtype is None:
        raise UnsupportedError(
            f"has activations of type {tensor.type}",
            "convert the model to float32, int8, or int16 activations with int8 weights",
        )
    return dtype


def code_params(tensor: FileTensor, shape: tuple[int, ...]) -> QuantParams | None:
    """Quantization parameters of a computed tensor; None if it holds no codes.

    Raises:
        UnsupportedError: it has a scale for each channel, or int16 codes of another zero point than
            0, which the quantization specification of TensorFlow Lite asks for.
    """
    dtype = _VALUES.get(tensor.type)
    if dtype not in _CODES or dtype is None or not len(tensor.scales):
        return None
    if len(tensor.scales) > 1:
        raise UnsupportedError(
            "has activations quantized per channel", "quantize activations per tensor"
        )
    if dtype is DType.INT16 and np.any(tensor.zero_points):
        raise UnsupportedError(
            f"has int16 activations whose zero point, {tensor.zero_points[0]}, is not 0",
            "convert it again: the zero point of int16 codes is 0 in TensorFlow Lite",
        )
    return params(tensor, dtype, shape)


def params(tensor: FileTensor, dtype: DType, shape: tuple[int, ...]) -> QuantParams:
    """Scales and zero points of a tensor.

    Raises:
        ImportModelError: they are impossible, or do not fit the tensor.
    """
    scales = tuple(np.asarray(tensor.scales, np.float64).tolist())
    zeros = tuple(int(zero) for zero in tensor.zero_points)
    axis = None if len(scales) == 1 else tensor.axis
    if axis is not None and not (0 <= axis < len(shape) and shape[axis] == len(scales)):
        raise ImportModelError(
            f"{len(scales)} scales do not fit axis {axis} of {list(shape)}",
            where=shown(tensor.name),
        )
    try:
        return QuantParams(scales, zeros, dtype, axis)
    except QuantizationError as error:
        raise ImportModelError(
            f"its quantization is impossible: {error.what}", where=shown(tensor.name)
        ) from error


def bias_params(x: QuantParams | None, weight: QuantParams | None, outputs: int) -> QuantParams:
    """Quantization parameters of int32 biases: products of the scales of input and weights.

    Raises:
        UnsupportedError: the input or the weights are no codes.
    """
    if x is None or weight is None:
        raise UnsupportedError("its bias is an integer, its input is not", "convert it again")
    product: Array = np.float32(x.tensor_scale) * np.asarray(weight.scale, np.float32)
    scales = np.broadcast_to(product, outputs)
    return QuantParams(tuple(float(s) for s in scales), (0,) * outputs, DType.INT32, axis=0)
