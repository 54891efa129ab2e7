"""QONNX in place of Q/DQ: quantizers that say how many bits their numbers have, in one node.

``Quant(x, scale, zero, bits)`` is ``(clip(round(x / scale + zero), low, high) - zero) * scale``
with the integers of `bits` bits, with or without sign, one fewer at one end if `narrow`;
``BipolarQuant`` is the scale, negative for negative numbers.  Constants are stored as the real
numbers that they stand for; codes are what the node rounds them to.

Codes may be counted from another number here: those whose zero point is the least code of int8
(activations after a Relu) become numbers without sign around 0, which all readers of QONNX take.

Sources: QONNX operator documentation (docs/qonnx-custom-ops: IntQuant and BipolarQuant of version
1; Quant is the name of IntQuant that Brevitas writes), the broadcast of a BipolarQuant's scale by
its sample implementation there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import helper, numpy_helper

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError, InternalError
from edgec.ir.graph import Graph, Node

DOMAIN = "qonnx.custom_op.general"
_VERSION = 1
_QUANTIZERS = ("QuantizeLinear", "DequantizeLinear")
_LAYERS = ("Conv", "Gemm", "MatMul")
_MOVES = ("Flatten", "Pad", "Reshape", "Transpose")
_BYTE, _WORD = 8, 32
_BYTES = (np.dtype(np.int8), np.dtype(np.uint8))


class _Form(NamedTuple):
    """The integers of a Quant node.

    Attributes:
        bits: their width.
        signed, narrow: attributes of the node.
        moved: what is added to the codes of the file that is rewritten, and to their zero point.
    """

    bits: int
    signed: bool
    narrow: bool
    moved: int = 0

    @property
    def limits(self) -> tuple[int, int]:
        """Least and greatest integer."""
        if self.signed:
            half = 1 << (self.bits - 1)
            return -half + self.narrow, half - 1
        return 0, (1 << self.bits) - 1 - self.narrow


class _Codes(NamedTuple):
    """Scale and zero point of a QuantizeLinear or DequantizeLinear.

    Attributes:
        scale: float32, one or one a channel.
        zero: the zero points, in the element type of the codes and the shape of `scale`.
        axis: the axis of the channels; 0 where there is one scale.
    """

    scale: Array
    zero: Array
    axis: int

    def equals(self, other: _Codes) -> bool:
        """Whether both give the same codes the same meaning."""
        same = self.zero.dtype == other.zero.dtype and self.axis == other.axis
        pairs = ((self.scale, other.scale), (self.zero, other.zero))
        return same and all(np.array_equal(a, b) for a, b in pairs)


def check_loops(graph: Graph, nodes: Iterable[Node]) -> None:
    """Refuse a network that `as_qonnx` refuses once its nodes are quantized, before that work.

    Args:
        graph: the network.
        nodes: those of it that get quantizers.

    Raises:
        ConfigError: one of them lies in a loop.
    """
    if any(graph.scopes.nodes[node.name] is not None for node in nodes):
        raise _loop_error()


def _loop_error() -> ConfigError:
    return ConfigError(
        "tensors within a loop of the network are quantized, where QONNX has no quantizers",
        where="--qonnx",
        hint="leave it out: the Q/DQ file says the same codes",
    )


def as_qonnx(model: onnx.ModelProto) -> None:
    """Write the quantizers of an exported Q/DQ model as nodes of QONNX.

    A DequantizeLinear of stored codes becomes a Quant of the fewest bits that hold them, or a
    BipolarQuant where all are -1 and 1, or for a layer of signs plus and minus one number; int32
    codes have 32 bits.  A QuantizeLinear, the DequantizeLinear that alone reads it, and a Clip
    before it to fewer numbers become one Quant.  The numbers that the network computes are the
    same.

    Standard nodes stay where codes themselves go in or out (inputs and outputs that are integers),
    and for constants that float32 cannot hold, such as biases beyond 2**24.

    Args:
        model: changed in place.

    Raises:
        ConfigError: a loop of the network quantizes, or there is nothing to write as QONNX.
        InternalError: the result is not valid ONNX.
    """
    if any(node.op_type in _QUANTIZERS for node in _inner(model.graph.node)):
        raise _loop_error()
    if not _Rewriting(model).run():
        raise ConfigError(
            "the file has no quantized tensor that QONNX could say",
            where="--qonnx",
            hint="leave it out",
        )
    model.opset_import.append(helper.make_opsetid(DOMAIN, _VERSION))
    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError as error:
        raise InternalError(f"the exported model is not valid ONNX: {error}") from error


def _inner(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """The nodes of all bodies."""
    for node in nodes:
        for attribute in node.attribute:
            yield from attribute.g.node
            yield from _inner(attribute.g.node)


class _Rewriting:
    """One pass over the nodes of a model."""

    def __init__(self, model: onnx.ModelProto) -> None:
        graph = model.graph
        self._graph = graph
        self._stored = {tensor.name: tensor for tensor in graph.initializer}
        self._made = {name: node for node in graph.node for name in node.output}
        self._readers: dict[str, int] = {}
        for name in self._read():
            self._readers[name] = self._readers.get(name, 0) + 1
        self._names = {*self._stored, *self._made, *(info.name for info in graph.input)}
        self._added: list[onnx.TensorProto] = []
        self._shared: dict[float, str] = {}

    def run(self) -> int:
        """Rewrite what can be; the number of new nodes."""
        found: dict[str, onnx.NodeProto] = {}
        gone: set[str] = set()
        for node in self._graph.node:
            if node.op_type != "DequantizeLinear":
                continue
            if node.input[0] in self._stored:
                new = self._constant(node)
            else:
                new, replaced = self._activation(node)
                gone.update(replaced)
            if new is not None:
                found[node.output[0]] = new
        nodes = [found.get(n.output[0], n) for n in self._graph.node if n.output[0] not in gone]
        copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
        del self._graph.node[:]
        self._graph.node.extend(copies)
        read = {*self._read(), *(info.name for info in self._graph.input)}
        for index in reversed(range(len(self._graph.initializer))):
            if self._graph.initializer[index].name not in read:
                del self._graph.initializer[index]
        self._graph.initializer.extend(self._added)
        return len(found)

    def _read(self) -> Iterator[str]:
        """Names that are read, once for each time."""
        for node in chain(self._graph.node, _inner(self._graph.node)):
            yield from node.input
        yield from (info.name for info in self._graph.output)

    # -- the two kinds of quantizers -------------------------------------------------------------

    def _constant(self, node: onnx.NodeProto) -> onnx.NodeProto | None:
        """The quantizer of stored codes; None where float32 does not hold what they stand for."""
        codes, found = numpy_helper.to_array(self._stored[node.input[0]]), self._codes(node)
        if found is None:
            return None
        scale = _shaped(found.scale, codes.ndim, found.axis)
        zero = _shaped(found.zero.astype(np.float32), codes.ndim, found.axis)
        with np.errstate(over="ignore"):  # vast scales: then the codes do not come back
            real = np.asarray((codes.astype(np.float32) - zero) * scale, np.float32)
            if self._is_binary(node, codes, zero):
                codes, scale = np.sign(codes), np.abs(codes.astype(np.float32).flat[0]) * scale
            again = np.round(real / scale + zero)
        form = constant_form(codes, around_zero=not zero.any())
        same = np.array_equal(again.astype(np.float64), codes.astype(np.float64))
        if form is None or not same:
            return None
        stored = self._new(f"{node.input[0]}_real", real)
        if form.bits == 1 and form.signed:
            step = self._new(f"{node.output[0]}_step", scale)
            return _node("BipolarQuant", [stored, step], node)
        return self._quant(node, stored, scale, zero, form)

    def _is_binary(self, node: onnx.NodeProto, codes: Array, zero: Array) -> bool:
        """Whether stored codes are all plus or minus one number, and layers of signs read them.

        Other layers keep the codes, in whose small steps their biases are.
        """
        layers = [n for n in self._graph.node if node.output[0] in n.input]
        alike = codes.dtype == np.int8 and codes.any() and not zero.any()
        if not alike or np.unique(np.abs(codes.astype(np.int16))).size > 1:
            return False
        return all(n.op_type in _LAYERS and self._are_signs(n.input[0]) for n in layers)

    def _are_signs(self, name: str) -> bool:
        """Whether a tensor holds signs, quantized, moved or padded."""
        node = self._made.get(name)
        while node is not None and node.op_type in (*_QUANTIZERS, *_MOVES):
            node = self._made.get(node.input[0])
        made = None
        if node is not None and node.op_type == "Where":
            made = self._made.get(node.input[0])
        if node is None or made is None or made.op_type != "GreaterOrEqual":
            return False
        numbers = [self._number(name) for name in (made.input[1], *node.input[1:])]
        return numbers == [0.0, 1.0, -1.0]

    def _activation(self, node: onnx.NodeProto) -> tuple[onnx.NodeProto | None, tuple[str, ...]]:
        """The quantizer of what is computed, and outputs of the nodes that it takes in."""
        first, found = self._made.get(node.input[0]), self._codes(node)
        if first is None or found is None or first.op_type != "QuantizeLinear":
            return None, ()
        other = self._codes(first)
        alone = self._readers[first.output[0]] == 1
        same = other is not None and found.equals(other)
        if not (alone and same and found.scale.ndim == 0 and found.zero.dtype in _BYTES):
            return None, ()
        whole, zero = np.iinfo(found.zero.dtype), int(found.zero)
        x, gone = first.input[0], [first.output[0]]
        form = activation_form(whole.min, whole.max, zero)
        clip = self._made.get(x)
        fewer = None if clip is None else self._limits(clip, found)
        if clip is not None and fewer is not None:
            form, x = fewer, clip.input[0]
            gone.append(clip.output[0])
        if form is None:
            raise InternalError(f"codes of a byte around {zero} have no form", where=node.name)
        around = np.asarray(zero + form.moved, np.float32)
        return self._quant(node, x, found.scale, around, form), tuple(gone)

    def _limits(self, clip: onnx.NodeProto, found: _Codes) -> _Form | None:
        """The integers that a Clip leaves, where these are fewer than a byte holds."""
        if clip.op_type != "Clip" or len(clip.input) != 3 or self._readers[clip.output[0]] != 1:
            return None
        bounds = [self._number(name) for name in clip.input[1:]]
        if None in bounds:
            return None
        scale, zero = found.scale.astype(np.float32), int(found.zero)
        ends = [round(float(bound or 0.0) / float(scale)) for bound in bounds]
        exact = all(np.float32(e) * scale == b for e, b in zip(ends, bounds, strict=True))
        whole, low, high = np.iinfo(found.zero.dtype), ends[0] + zero, ends[1] + zero
        inside = whole.min <= low and high <= whole.max and high - low < whole.max - whole.min
        return activation_form(low, high, zero) if exact and inside else None

    # -- tensors ---------------------------------------------------------------------------------

    def _codes(self, node: onnx.NodeProto) -> _Codes | None:
        """Scale and zero point of a node; None where they are not stored, or those of blocks."""
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        own = list(node.input[1:])
        if len(own) != 2 or any(name not in self._stored for name in own):
            return None
        scale, zero = (numpy_helper.to_array(self._stored[name]) for name in own)
        if attributes.get("block_size", 0) or scale.dtype != np.float32 or scale.ndim > 1:
            return None
        return _Codes(scale, zero, int(attributes.get("axis", 1)) if scale.ndim else 0)

    def _number(self, name: str) -> np.float32 | None:
        tensor = self._stored.get(name)
        array = None if tensor is None else numpy_helper.to_array(tensor)
        if array is None or array.size != 1 or not np.all(np.isfinite(array)):
            return None
        return np.float32(array.reshape(-1)[0])

    def _quant(
        self, node: onnx.NodeProto, x: str, scale: Array, zero: Array, form: _Form
    ) -> onnx.NodeProto:
        around = self._same(0.0) if not zero.any() else self._new(f"{node.output[0]}_zero", zero)
        step = self._new(f"{node.output[0]}_step", scale)
        inputs = [x, step, around, self._same(float(form.bits))]
        attributes = {"signed": int(form.signed), "narrow": int(form.narrow)}
        return _node("Quant", inputs, node, **attributes, rounding_mode="ROUND")

    def _same(self, number: float) -> str:
        """The constant that all nodes with this number share."""
        if number not in self._shared:
            stem = f"bits_{number:.0f}" if number else "zero"
            self._shared[number] = self._new(stem, np.asarray(number, np.float32))
        return self._shared[number]

    def _new(self, stem: str, array: Array) -> str:
        name, number = stem, 1
        while name in self._names:
            number += 1
            name = f"{stem}_{number}"
        self._names.add(name)
        self._added.append(numpy_helper.from_array(np.asarray(array, np.float32), name))
        return name


def _node(op: str, inputs: list[str], node: onnx.NodeProto, **attributes: Any) -> onnx.NodeProto:
    """A node of QONNX with the name and the output of another one."""
    return helper.make_node(
        op, inputs, list(node.output), name=node.name, domain=DOMAIN, **attributes
    )


def _shaped(array: Array, rank: int, axis: int) -> Array:
    """Parameters that broadcast against a tensor."""
    if array.ndim == 0:
        return array
    shape = [1] * rank
    shape[axis] = -1
    return array.reshape(shape)


def constant_form(codes: Array, *, around_zero: bool) -> _Form | None:
    """The fewest bits that hold stored codes; one bit with a sign is -1 and 1.

    None for types other than int8, uint8 and int32, whose codes have all 32 bits.

    Args:
        codes: whole numbers of any shape.
        around_zero: the code 0 stands for 0, which BipolarQuant cannot say otherwise.
    """
    if codes.dtype == np.int32:
        return _Form(_WORD, signed=True, narrow=False)
    if codes.dtype not in _BYTES:
        return None
    low, high = int(codes.min(initial=0)), int(codes.max(initial=0))
    if codes.dtype == np.uint8:
        return _Form(max(high.bit_length(), 1), signed=False, narrow=False)
    if around_zero and codes.size and np.all((codes == 1) | (codes == -1)):
        return _Form(1, signed=True, narrow=False)
    bits = max(2, high.bit_length() + 1, (-low - 1).bit_length() + 1 if low < 0 else 0)
    return _Form(bits, signed=True, narrow=low > -(1 << (bits - 1)))


def activation_form(low: int, high: int, zero: int) -> _Form | None:
    """The integers of a Quant that are all from one code to another, around 0 where that can be.

    None where no number of bits has just these.

    Args:
        low, high: least and greatest code.
        zero: the code that stands for 0.
    """
    for moved in (-zero, 0, -low):
        ends, around = (low + moved, high + moved), zero + moved
        bits = ends[1].bit_length()
        for narrow in (False, True):
            forms = (
                _Form(max(bits + 1, 2), signed=True, narrow=narrow, moved=moved),
                _Form(max(bits, 1 + narrow), signed=False, narrow=narrow, moved=moved),
            )
            for form in forms:
                # Readers keep zero points in bytes as well.
                least = -(1 << (_BYTE - 1)) if form.signed else 0
                fits = form.bits <= _BYTE and least <= around < least + (1 << _BYTE)
                if fits and form.limits == ends:
                    return form
    return None
