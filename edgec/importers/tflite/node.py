"""One operator of a .tflite file as the handlers read it."""

from __future__ import annotations

from typing import Any

from flatbuffers import flexbuffers

from edgec.base.dtypes import Array, DType
from edgec.base.errors import ImportModelError
from edgec.base.names import shown
from edgec.importers.common.attributes import normal_axis
from edgec.importers.common.boundary import library_call
from edgec.importers.common.tensors import Tensor, UnknownTensorError, UnsupportedError
from edgec.importers.tflite.context import Context, value_dtype
from edgec.importers.tflite.load_tensor import MAX_NAME, FileGraph, FileOperator, FileTensor
from edgec.importers.tflite.variables import Handle, Variable
from edgec.ir.graph import Constant, Value
from edgec.ir.qparams import QuantParams


class TfliteNode:
    """One operator: inputs as tensors, attributes with their defaults."""

    def __init__(self, operator: FileOperator, context: Context) -> None:
        self._operator = operator
        self._context = context
        self.op = operator.op
        self.outputs = tuple(context.file[number].name for number in operator.outputs)

    @property
    def input_count(self) -> int:
        """Number of inputs, absent ones in the middle included."""
        return len(self._operator.inputs)

    @property
    def output_number(self) -> int:
        """Number of the first output in the file."""
        return self._operator.outputs[0]

    def file_number(self, index: int) -> int:
        """Number of an input in the file."""
        return self._operator.inputs[index]

    @property
    def output_scale(self) -> float:
        """Scale of the first output in the file; 0 if there is none."""
        return self._scale(self.output_number)

    def input_scale(self, index: int) -> float:
        """Scale of an input in the file, of whole numbers too; 0 if there is none."""
        return self._scale(self._operator.inputs[index])

    def _scale(self, number: int) -> float:
        scales = self._context.file[number].scales
        return float(scales[0]) if len(scales) else 0.0

    @property
    def output_dtype(self) -> DType:
        """Element type of the first output.

        Raises:
            UnsupportedError: edgec does not compute such.
        """
        return value_dtype(self._context.file[self.output_number])

    def has(self, index: int) -> bool:
        """True when an input is present."""
        return index < self.input_count and self._operator.inputs[index] >= 0

    @property
    def custom(self) -> bytes:
        """Attributes of an operator of somebody's own, a flexbuffer."""
        return self._operator.custom

    @property
    def output_file(self) -> FileTensor:
        """First output in the file."""
        return self._context.file[self.output_number]

    def variable(self) -> Variable:
        """The variable that input 0 is a handle of.

        Raises:
            UnsupportedError: it is none.
            UnknownTensorError: an unsupported operator computes it.
        """
        found = self._found(0)
        if not isinstance(found, Handle):
            raise UnsupportedError("its input 0 is no variable", "correct the model")
        return found.variable

    def tensor(self, index: int) -> Tensor:
        """An input as it is stored: real numbers, codes or whole numbers.

        Raises:
            UnsupportedError: the input is absent, a state, a handle of a variable, or of a type
                that edgec has not.
            UnknownTensorError: an unsupported operator computes it.
        """
        found = self._found(index)
        if isinstance(found, Handle):
            raise UnsupportedError(
                "it reads a variable itself, not its elements", "convert the model without it"
            )
        return found

    def _found(self, index: int) -> Tensor:
        if not self.has(index):
            raise UnsupportedError(f"input {index} is absent", "convert the model again")
        file = self._context.file[self._operator.inputs[index]]
        known = self._context.tensors.get(file.name)
        if known is not None:
            return known
        if file.obstacle:
            raise UnsupportedError(
                f"its input {shown(file.name)} {file.obstacle}",
                "convert the model without it",
            )
        if file.data is None:
            raise UnknownTensorError(file.name)
        return self._constant(index)

    def _constant(self, index: int) -> Constant:
        file = self._context.file[self._operator.inputs[index]]
        made = self._context.constant_of(file)
        self._context.tensors[file.name] = made
        return made

    def value(self, index: int) -> Value:
        """A computed input, as it is stored."""
        found = self.tensor(index)
        if isinstance(found, Constant):
            raise UnsupportedError(
                f"input {index} is a constant, which only weights and operands may be",
                "convert the model with constants folded",
            )
        return found

    def real(self, index: int) -> Value:
        """A computed input as real numbers."""
        return self._context.real(self.value(index))

    def operand(self, index: int) -> Tensor:
        """An input as real numbers, computed or constant (codes of a constant stay codes)."""
        found = self.tensor(index)
        if isinstance(found, Value):
            return self._context.real(found)
        if found.quant is None and found.dtype is not DType.FLOAT32:
            raise UnsupportedError("an operand holds integers", "compute on floats")
        return found

    def moved(self, index: int) -> Value:
        """A computed input whose elements are only moved: real numbers or whole numbers."""
        found = self.value(index)
        return found if found.dtype is DType.INT32 else self._context.real(found)

    def movable(self, index: int) -> Tensor:
        """An input whose elements are only moved: real numbers, whole numbers, or a constant."""
        found = self.tensor(index)
        return found if isinstance(found, Constant) else self.moved(index)

    def input_params(self, index: int) -> QuantParams | None:
        """Quantization parameters of an input; None if it holds no codes."""
        return self.tensor(index).quant

    def axes(self, index: int, rank: int) -> tuple[int, ...]:
        """A constant input that names axes: each once, in order, at least one."""
        found = {normal_axis(axis, rank) for axis in self.whole(index, "axes")}
        if not found:
            raise UnsupportedError("it names no axis", "leave it out")
        return tuple(sorted(found))

    def constant(self, index: int, what: str) -> Constant:
        """An input that must be known at compile time."""
        found = self.tensor(index)
        if isinstance(found, Value):
            raise UnsupportedError(
                f"{what} is computed at run time", f"convert the model with a constant {what}"
            )
        return found

    def real_array(self, index: int, what: str) -> Array:
        """A constant input as float32 numbers."""
        return self.constant(index, what).real()

    def whole(self, index: int, what: str) -> tuple[int, ...]:
        """A constant input as a flat list of whole numbers."""
        found = self.constant(index, what)
        if found.array.dtype.kind not in "iub" or found.quant is not None:
            raise UnsupportedError(f"{what} holds no whole numbers", "correct the model")
        return tuple(int(number) for number in found.array.reshape(-1))

    def integer(self, name: str, default: int = 0) -> int:
        """An attribute: a whole number, an enumeration's number or a truth value."""
        return int(self._attribute(name, default))

    def number(self, name: str, default: float = 0.0) -> float:
        """An attribute: a real number."""
        return float(self._attribute(name, default))

    def own(self, name: str, default: int = 0) -> int:
        """An attribute of an operator of somebody's own: a whole number or a truth value."""
        if not self.custom:
            return default
        with library_call("an attribute cannot be read"):
            attributes = flexbuffers.GetRoot(bytearray(self.custom)).AsMap
            known = {key.AsKey for key in attributes.Keys}
            return int(attributes[name].AsInt) if name in known else default

    def integers(self, name: str) -> tuple[int, ...]:
        """An attribute: a list of whole numbers; empty if it is absent."""
        found = self._attribute(f"{name}AsNumpy", 0)
        return () if isinstance(found, int) else tuple(int(number) for number in found)

    def text(self, name: str) -> str | None:
        """An attribute: text; None if it is absent.

        Raises:
            ImportModelError: it is longer than a name.
        """
        found = self._attribute(name, 0) or None
        if found is not None and len(found) > MAX_NAME:
            raise ImportModelError(f"its {name} has {len(found)} bytes, more than {MAX_NAME}")
        return found.decode("utf-8", "replace") if found is not None else None

    def body(self, name: str) -> FileGraph:
        """The network whose number is an attribute.

        Raises:
            ImportModelError: the attribute is absent.
        """
        number = self.integer(name)
        if number < 1:
            raise ImportModelError("it does not say which network it calls")
        return self._context.model.bodies[number - 1]

    def expect(self, kind: str) -> None:
        """Refuse attributes of another operator.

        Raises:
            ImportModelError: the file gives this operator attributes of another kind.
        """
        if self._operator.kind not in ("", kind):
            raise ImportModelError(
                f"its attributes are {self._operator.kind}, not {kind}",
                hint="the file is damaged; convert the model again",
            )

    def _attribute(self, name: str, default: float) -> Any:
        if self._operator.options is None:
            return default
        with library_call("an attribute cannot be read"):
            return getattr(self._operator.options, name)()
