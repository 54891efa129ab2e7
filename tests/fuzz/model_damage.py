"""Ways to damage an ONNX model: each changes one thing that the format has a place for."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

INTEGERS = (
    *(-(2**63), -(2**31) - 1, -(2**31), -7, -3, -2, -1, 0, 1, 2, 3, 5, 7, 16, 100, 255, 1000),
    *(4096, 65536, 2**20, 2**24, 2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1),
)
FLOATS = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, 3.7, 1e-45, 1e-40, 1e-30, 1e-8, 1e6, 1e20, 1e30, 3.4e38),
    *(-3.4e38, float("inf"), float("-inf"), float("nan")),
)
NAMES = (
    *("", " ", "x", "y", "int", "../../up", "/etc/passwd", "a/b", "a\\b", "con", "*/", "/*", "//"),
    *('"; system("id"); //', "%s%n%d", "{{ name }}", "[red]x[/red]", "[/]", "[bold", "\n", "\r\n"),
    *("\t", "\0", "\x1b[2J", "é", "\u202e", "名前", "\U0001f600", "a" * 300, "a" * 20_000, "??/"),
    *("__class__", "0", "-1", "--out", "$(id)", "`id`", "#define x", "\\\n", "edgec_", "main"),
)
STRINGS = (b"", b"x", b"SAME_UPPER", b"VALID", b"NOTSET", b"constant", b"\xff\xfe", b"a" * 5000)
TYPES = (
    *(TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16),
    *(TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.INT32),
    *(TensorProto.INT64, TensorProto.BOOL, TensorProto.STRING, TensorProto.COMPLEX64),
    *(TensorProto.INT4, TensorProto.UINT4, TensorProto.UNDEFINED, 99),
)
LOCATIONS = (
    *(
        "",
        ".",
        "..",
        "../secret",
        "/etc/passwd",
        "data.bin",
        "data.bin/x",
        "link",
        "sub/../data.bin",
    ),
    *("model.onnx", "/dev/zero", "C:\\x", "a" * 5000, "\0", "data.bin\0x"),
)
OPERATORS = (
    *("Conv", "Relu", "Add", "Mul", "MatMul", "Gemm", "Softmax", "Reshape", "Transpose", "Concat"),
    *("Split", "Slice", "Pad", "MaxPool", "AveragePool", "ReduceMean", "Clip", "Cast", "Where"),
    *("QuantizeLinear", "DequantizeLinear", "Resize", "Gather", "ArgMax", "LayerNormalization"),
    *("Attention", "Einsum", "Expand", "Shape", "Constant", "ConstantOfShape", "Tile", "Range"),
    *(
        "If",
        "Loop",
        "LSTM",
        "Identity",
        "Squeeze",
        "Unsqueeze",
        "BatchNormalization",
        "Pow",
        "Sqrt",
    ),
    *("Div", "Sub", "Exp", "Log", "Neg", "NonZero", "TopK", "RandomNormal", "Nonsense", ""),
)

Damage = Callable[[onnx.ModelProto, random.Random], None]


def _node(model: onnx.ModelProto, rng: random.Random) -> onnx.NodeProto:
    return rng.choice(model.graph.node)


def _tensor(model: onnx.ModelProto, rng: random.Random) -> TensorProto | None:
    return rng.choice(model.graph.initializer) if model.graph.initializer else None


def _names(model: onnx.ModelProto) -> Sequence[str]:
    graph = model.graph
    made = [name for node in graph.node for name in node.output]
    given = [each.name for each in (*graph.input, *graph.initializer)]
    return [*made, *given]


def attribute_value(model: onnx.ModelProto, rng: random.Random) -> None:
    """Another number, string or length of a list."""
    found = [attribute for node in model.graph.node for attribute in node.attribute]
    if not found:
        return
    attribute = rng.choice(found)
    if attribute.type == AttributeProto.INT:
        attribute.i = rng.choice(INTEGERS)
    elif attribute.type == AttributeProto.FLOAT:
        attribute.f = rng.choice(FLOATS)
    elif attribute.type == AttributeProto.STRING:
        attribute.s = rng.choice(STRINGS)
    elif attribute.type == AttributeProto.INTS:
        values = list(attribute.ints)
        place = rng.randrange(len(values) + 1)
        if rng.random() < 0.6 and values:
            values[min(place, len(values) - 1)] = rng.choice(INTEGERS)
        elif rng.random() < 0.5:
            values.insert(place, rng.choice(INTEGERS))
        else:
            del values[place:]
        del attribute.ints[:]
        attribute.ints.extend(values)
    elif attribute.type == AttributeProto.TENSOR:
        _change_tensor(attribute.t, rng)


def attribute_form(model: onnx.ModelProto, rng: random.Random) -> None:
    """An attribute of another type or name, twice, without a value, or gone."""
    node = _node(model, rng)
    if not node.attribute or rng.random() < 0.2:
        name = rng.choice(("axis", "axes", "perm", "kernel_shape", "pads", "group", "to", "alpha"))
        value = rng.choice((rng.choice(INTEGERS), [1, 2], [], 0.5, "x", b"\xff"))
        if value != []:
            node.attribute.append(helper.make_attribute(name, value))
        return
    attribute = rng.choice(node.attribute)
    kind = rng.randrange(6)
    if kind == 0:
        attribute.ref_attr_name = rng.choice(("alpha", *NAMES[:4]))
    elif kind == 1:
        attribute.type = rng.choice(list(AttributeProto.AttributeType.values()))
    elif kind == 2:
        node.attribute.append(attribute)
    elif kind == 3:
        attribute.name = rng.choice((*NAMES, "axis", "pads"))
    elif kind == 4:
        attribute.Clear()
    else:
        node.attribute.remove(attribute)


def tensor_content(model: onnx.ModelProto, rng: random.Random) -> None:
    """Other numbers, shape, type or length of an initializer."""
    tensor = _tensor(model, rng)
    if tensor is not None:
        _change_tensor(tensor, rng)


def _change_tensor(tensor: TensorProto, rng: random.Random) -> None:
    kind = rng.randrange(8)
    if kind <= 2:
        _change_numbers(tensor, rng)
    elif kind == 3:
        tensor.dims.append(rng.choice((0, 1, 1, 2, -1, 2**31, 2**40)))
    elif kind == 4 and tensor.dims:
        tensor.dims[rng.randrange(len(tensor.dims))] = rng.choice(INTEGERS)
    elif kind == 5:
        tensor.data_type = rng.choice(TYPES)
    elif kind == 6:
        tensor.raw_data = tensor.raw_data[: rng.randrange(len(tensor.raw_data) + 1)]
    elif kind == 7:
        _change_type(tensor, rng)


def _change_numbers(tensor: TensorProto, rng: random.Random) -> None:
    try:
        array = np.array(numpy_helper.to_array(tensor))
    except (TypeError, ValueError):
        return
    if not array.size or array.dtype.kind not in "fiu":
        return
    flat = array.reshape(-1)
    number = rng.choice(FLOATS if array.dtype.kind == "f" else INTEGERS)
    with np.errstate(all="ignore"):
        wanted = np.asarray(number).astype(array.dtype)
        if rng.random() < 0.4:
            flat[:] = wanted
        elif rng.random() < 0.3 and array.dtype.kind == "f":
            flat *= wanted
        else:
            flat[rng.randrange(flat.size)] = wanted
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))


def _change_type(tensor: TensorProto, rng: random.Random) -> None:
    """The same numbers in another type, or in fewer axes."""
    try:
        array = np.array(numpy_helper.to_array(tensor))
        with np.errstate(all="ignore"):
            kinds = ("float32", "float64", "float16", "int64", "int32", "int8", "uint8", "bool")
            array = array.reshape(-1) if rng.random() < 0.3 else array.astype(rng.choice(kinds))
    except (TypeError, ValueError):
        return
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))


def tensor_place(model: onnx.ModelProto, rng: random.Random) -> None:
    """Data outside of the file, or nowhere; an initializer that is an input, twice, or gone."""
    tensor = _tensor(model, rng)
    if tensor is None:
        return
    kind = rng.randrange(5)
    if kind <= 1:
        entries = {
            "location": rng.choice(LOCATIONS),
            "offset": str(rng.choice((0, 1, -1, 4096, 2**63, "x", ""))),
            "length": str(rng.choice((0, 4, len(tensor.raw_data), -1, 2**40, "1e3"))),
        }
        if rng.random() < 0.5:
            tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in entries.items():
            if rng.random() < 0.8:
                tensor.external_data.add(key=key, value=value)
    elif kind == 2:
        model.graph.initializer.remove(tensor)
    elif kind == 3:
        model.graph.initializer.append(tensor)
    else:
        info = helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
        model.graph.input.append(info)


def declared_shape(model: onnx.ModelProto, rng: random.Random) -> None:
    """Another shape or type of an input, an output or a value."""
    graph = model.graph
    infos = [*graph.input, *graph.input, *graph.output, *graph.value_info]
    if not infos:
        return
    kind = rng.choice(infos).type
    shape = kind.tensor_type.shape
    choice = rng.randrange(6)
    if choice <= 1 and shape.dim:
        rng.choice(shape.dim).dim_value = rng.choice(INTEGERS)
    elif choice == 2 and shape.dim:
        rng.choice(shape.dim).dim_param = rng.choice((*NAMES, "N", "batch"))
    elif choice == 3:
        kind.tensor_type.elem_type = rng.choice(TYPES)
    elif choice == 4 and shape.dim:
        del shape.dim[rng.randrange(len(shape.dim))]
    else:
        rng.choice((kind.Clear, lambda: kind.tensor_type.ClearField("shape"), shape.dim.add))()


def edges(model: onnx.ModelProto, rng: random.Random) -> None:
    """A node reads or writes something else."""
    node = _node(model, rng)
    ends = node.input if rng.random() < 0.75 else node.output
    names = (*_names(model), "", "nowhere")
    choice = rng.randrange(4)
    if choice == 0 or not ends:
        ends.append(rng.choice(names))
    elif choice == 1:
        del ends[rng.randrange(len(ends))]
    else:
        ends[rng.randrange(len(ends))] = rng.choice(names)


def nodes(model: onnx.ModelProto, rng: random.Random) -> None:
    """A node less, twice, somewhere else, or of another operator."""
    node = _node(model, rng)
    choice = rng.randrange(6)
    if choice <= 1:
        node.op_type = rng.choice((*OPERATORS, rng.choice(model.graph.node).op_type))
    elif choice == 2:
        node.domain = rng.choice(("", "ai.onnx", "ai.onnx.ml", "com.microsoft", *NAMES))
    elif choice == 3:
        model.graph.node.append(node)
    elif choice == 4 and len(model.graph.node) > 1:
        model.graph.node.remove(node)
    else:
        _insert(model, rng)


def _insert(model: onnx.ModelProto, rng: random.Random) -> None:
    """An operator on an edge."""
    readers = [node for node in model.graph.node if node.input]
    if not readers:
        return
    node = rng.choice(readers)
    place = rng.randrange(len(node.input))
    name = f"inserted{rng.randrange(1 << 30)}"
    extra = [rng.choice(_names(model)) for _ in range(rng.choice((0, 0, 1, 2)))]
    op = rng.choice(OPERATORS)
    model.graph.node.append(helper.make_node(op, [node.input[place], *extra], [name]))
    node.input[place] = name


def names(model: onnx.ModelProto, rng: random.Random) -> None:
    """A hostile name for a tensor, everywhere, or for a node, the graph or the producer."""
    new = rng.choice(NAMES)
    choice = rng.randrange(4)
    if choice == 0:
        _node(model, rng).name = new
    elif choice == 1:
        model.graph.name = new
        model.producer_name = rng.choice(NAMES)
        model.doc_string = rng.choice(NAMES)
    else:
        _rename(model, rng.choice(_names(model) or [""]), new)


def _rename(model: onnx.ModelProto, old: str, new: str) -> None:
    graph = model.graph
    for each in (*graph.input, *graph.output, *graph.initializer, *graph.value_info):
        if each.name == old:
            each.name = new
    for node in graph.node:
        for ends in (node.input, node.output):
            for place, name in enumerate(ends):
                if name == old:
                    ends[place] = new


def header(model: onnx.ModelProto, rng: random.Random) -> None:
    """Versions, properties, functions, graph inputs and outputs."""
    choice = rng.randrange(7)
    if choice == 0 and model.opset_import:
        model.opset_import[0].version = rng.choice((*INTEGERS, 7, 9, 11, 13, 18, 21, 23))
    elif choice == 1:
        model.ir_version = rng.choice((0, 3, 4, 8, 10, 2**31, 2**62))
    elif choice == 2:
        keys = [entry.key for entry in model.metadata_props]
        key = rng.choice((*keys, "edgec.activation_bits", "edgec.input", *NAMES))
        model.metadata_props.add(key=key, value=rng.choice((*NAMES, "8", "-1", "{", "[1,2")))
    elif choice == 3:
        _as_function(model, rng)
    elif choice == 4 and model.graph.output:
        model.graph.output[0].name = rng.choice((*_names(model), "", "nowhere"))
    elif choice == 5:
        model.graph.output.add(name=rng.choice((*_names(model), "nowhere")))
    else:
        model.opset_import.add(domain=rng.choice(("", "ai.onnx.ml", *NAMES)), version=1)


def _as_function(model: onnx.ModelProto, rng: random.Random) -> None:
    """A node becomes the call of a function that holds it, or that calls itself."""
    node = _node(model, rng)
    inner = onnx.NodeProto.FromString(node.SerializeToString())
    function = model.functions.add(name="F", domain="own")
    function.opset_import.add(domain="", version=model.opset_import[0].version)
    function.input.extend(node.input)
    function.output.extend(node.output)
    function.node.append(inner)
    if rng.random() < 0.5:
        model.opset_import.add(domain="own", version=1)
    if rng.random() < 0.3:
        inner.op_type, inner.domain = "F", "own"
    for attribute in inner.attribute:
        if rng.random() < 0.3:
            attribute.ref_attr_name = attribute.name
    node.op_type, node.domain = "F", "own"


def properties(model: onnx.ModelProto, rng: random.Random) -> None:
    """Properties of nodes: what edgec writes there, and anything else."""
    found = [entry for node in model.graph.node for entry in node.metadata_props]
    if found and rng.random() < 0.7:
        rng.choice(found).value = rng.choice((*NAMES, "0", "9", "-1", "8", "1e99", "nan"))
        return
    keys = ("edgec.activation_bits", "edgec.pool", "edgec.", "pkg.torch.onnx.name", *NAMES)
    _node(model, rng).metadata_props.add(key=rng.choice(keys), value=rng.choice(NAMES))


DAMAGES: Sequence[Damage] = (
    *(attribute_value, attribute_value, attribute_value, attribute_form),
    *(tensor_content, tensor_content, tensor_content, tensor_place, declared_shape),
    *(declared_shape, edges, edges, nodes, nodes, names, header, properties),
)


def damaged_bytes(data: bytes, rng: random.Random) -> bytes:
    """A file with some bytes flipped, cut out, repeated or cut off."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        place = rng.randrange(len(changed) + 1)
        choice = rng.randrange(5)
        if choice <= 1 and place < len(changed):
            changed[place] = rng.randrange(256)
        elif choice == 2:
            changed[place:place] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 9)))
        elif choice == 3:
            del changed[place : place + rng.choice((1, 4, 100))]
        elif rng.random() < 0.3:
            del changed[place:]
    return bytes(changed)
