"""Fixes the shapes of the graph inputs before anything else is inferred from them.

1. A shape given by the user (`--shape name=1,3,32,32`) wins; it must agree in rank, and in every
   dimension the model fixes, except the first.
2. An open first dimension is the batch and becomes 1.
3. A fixed first dimension above 1 of an input with two or more dimensions is refused: whether the
   network still works for a batch of 1 only the user can say, by giving the shape.
4. Any other open dimension must be given by the user; one error names all inputs concerned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import onnx

from edgec.base.errors import ConfigError, ImportModelError
from edgec.base.names import shown
from edgec.importers.onnx.screen import MAX_ELEMENTS

Dims = tuple[int | None, ...]
NO_SHAPES: Mapping[str, tuple[int, ...]] = MappingProxyType({})


def fix_input_shapes(model: onnx.ModelProto, shapes: Mapping[str, Sequence[int]]) -> None:
    """Give every graph input a static shape, in place; drop all other, now stale, shapes.

    Initializers listed among the inputs (IR version 3) stop being inputs.

    Raises:
        ConfigError: `shapes` names no input or contradicts the model.
        ImportModelError: rule 3 or 4.
    """
    graph = model.graph
    stored = {tensor.name for tensor in graph.initializer}
    for index in reversed(range(len(graph.input))):
        if graph.input[index].name in stored:
            del graph.input[index]
    _check_names(shapes, [info.name for info in graph.input])
    fixed: dict[str, tuple[int, ...]] = {}
    open_inputs: dict[str, str] = {}
    for info in graph.input:
        dims = _resolve(info, shapes.get(info.name))
        if dims is None or any(dim is None for dim in dims):
            open_inputs[_text(info.name, dims)] = f"--shape {_example(info.name, dims)}"
        else:
            fixed[info.name] = _checked(info.name, tuple(dim or 0 for dim in dims))
    if open_inputs:
        raise ImportModelError(
            f"the model leaves dimensions of its inputs open: {', '.join(open_inputs)}",
            hint=f"give their shapes, e.g. {' '.join(open_inputs.values())}; "
            "or let each run of a transformer choose the length: --max-length 32",
        )
    for info in graph.input:
        _set_dims(info, fixed[info.name])
    del graph.value_info[:]
    for info in graph.output:
        info.type.tensor_type.ClearField("shape")


def _check_names(shapes: Mapping[str, Sequence[int]], inputs: list[str]) -> None:
    for name in shapes:
        if name not in inputs:
            known = ", ".join(shown(i) for i in inputs)
            raise ConfigError(
                f"the model has no input {shown(name)!r}", where="--shape", hint=f"inputs: {known}"
            )


def _resolve(info: onnx.ValueInfoProto, given: Sequence[int] | None) -> Dims | None:
    """The dimensions of an input, None where they stay open."""
    if not info.type.HasField("tensor_type"):
        raise ImportModelError(
            "the input is no tensor", where=shown(info.name), hint="export it with tensor inputs"
        )
    declared = _declared(info)
    if given is not None:
        return _agreed(info.name, declared, tuple(given))
    if not declared:
        return declared
    batch = 1 if declared[0] is None else declared[0]
    if batch > 1 and len(declared) > 1:
        hint = f"to compile it for one sample: --shape {_example(info.name, (1, *declared[1:]))}"
        raise ImportModelError(
            f"the model is fixed to a batch of {batch}", where=shown(info.name), hint=hint
        )
    return (batch, *declared[1:])


def _declared(info: onnx.ValueInfoProto) -> Dims | None:
    tensor = info.type.tensor_type
    if not tensor.HasField("shape"):
        return None
    return tuple(d.dim_value if d.HasField("dim_value") else None for d in tensor.shape.dim)


def _agreed(name: str, declared: Dims | None, given: tuple[int, ...]) -> Dims:
    fits = declared is None or (
        len(declared) == len(given)
        and all(d is None or d == g for d, g in zip(declared[1:], given[1:], strict=True))
    )
    # A model that says 0 itself is refused by `_checked`.
    if not fits or any(
        dim < 1 and dim != d for dim, d in zip(given, declared or given, strict=True)
    ):
        wanted = _sizes(declared)
        raise ConfigError(
            f"shape {'x'.join(map(str, given))} does not fit the input, which is {wanted}",
            where=f"--shape {shown(name)}",
        )
    return given


def _checked(name: str, dims: tuple[int, ...]) -> tuple[int, ...]:
    elements = 1
    for dim in dims:
        elements *= dim
    if any(dim < 1 for dim in dims) or elements > MAX_ELEMENTS:
        raise ImportModelError(f"the input has the impossible shape {dims}", where=shown(name))
    return dims


def _sizes(dims: Dims | None) -> str:
    return "x".join("?" if dim is None else str(dim) for dim in dims or ())


def _text(name: str, dims: Dims | None) -> str:
    return f"{shown(name)} ({_sizes(dims) or 'no shape at all'})"


def _example(name: str, dims: Dims | None) -> str:
    # An open dimension is shown as 32, so that the hint can be typed as it is.
    text = ",".join(str(32 if dim is None else dim) for dim in dims or (1, None))
    return f"{shown(name)}={text}"


def _set_dims(info: onnx.ValueInfoProto, dims: tuple[int, ...]) -> None:
    tensor = info.type.tensor_type
    tensor.ClearField("shape")
    # A scalar has a shape without dimensions; touching `shape` makes it present.
    tensor.shape.SetInParent()
    for dim in dims:
        tensor.shape.dim.add().dim_value = dim
