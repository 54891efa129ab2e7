"""Fixes the shapes of the graph inputs before anything else is inferred from them.

edgec compiles for one sample.  The batch axis of an input is, in this order:

0. by use: what the front of a file format knows of it, e.g. of the sequence of a recurrent
   operator, whose first axis are the steps;
1. by name: an open dimension called batch, batch_size, n, ..., wherever it stands;
2. by use: an open dimension with the same name as the first dimension of another input;
3. the first dimension.

An open batch becomes 1.  What follows for the shapes:

4. A shape given by the user (`--shape name=1,3,32,32`) wins.  It must agree with what the model
   fixes, except the first dimension if that is the batch, and hold 1 for an open batch.  It may
   have one more dimension than the model, a 1 in front.
5. A fixed first dimension above 1 of an input with two or more dimensions is refused: whether it
   counts samples or belongs to one sample only the user can say, by giving the shape.
6. Any other open dimension must be given by the user; one error names all inputs concerned.

Inputs without a batch axis in front get one: samples are counted on the first axis everywhere.

A model may take `[2, 1, 8]`, the states of two layers for a batch of 1, or `[49, 40]`, an image on
its own.  The graph then takes `[1, 2, 1, 8]`, and a reshape, which costs nothing on the target,
gives the model its own shape.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from edgec.base.errors import ConfigError, ImportModelError
from edgec.base.limits import MAX_ELEMENTS
from edgec.base.names import shown
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.graph_builder import GraphBuilder

Dims = tuple[int | str | None, ...]
"""Sizes of an input; of an open dimension its name, None if it has none."""
NO_SHAPES: Mapping[str, tuple[int, ...]] = MappingProxyType({})
NO_AXES: Mapping[str, int] = MappingProxyType({})
_BATCH = re.compile(r"n|b|bs|batch|batch_?size|.*_batch|batch_.*|.*_batch_?size", re.IGNORECASE)
_EXAMPLE = 32
"""Shown for an open dimension, so that a hint can be typed as it is."""


def resolve_shapes(
    declared: Mapping[str, Dims | None],
    shapes: Mapping[str, Sequence[int]],
    used: Mapping[str, int] = NO_AXES,
) -> dict[str, tuple[int, ...]]:
    """The static shape of every input.

    Args:
        declared: what the model says of each input, None where it says nothing.
        shapes: what the user says, by name of the input.
        used: batch axes that follow from the use of inputs.

    Raises:
        ConfigError: `shapes` names no input or contradicts the model.
        ImportModelError: rule 5 or 6.
    """
    _check_names(shapes, list(declared))
    axes = batch_axes(declared, used)
    fixed: dict[str, tuple[int, ...]] = {}
    open_inputs: dict[str, str] = {}
    for name, own in declared.items():
        dims = _resolve(name, own, shapes.get(name), axes[name])
        sizes = tuple(dim for dim in dims or () if isinstance(dim, int))
        if dims is None or len(sizes) < len(dims):
            open_inputs[_text(name, dims)] = f"--shape {_example(name, dims)}"
        else:
            fixed[name] = _checked(name, sizes)
    if open_inputs:
        raise ImportModelError(
            f"the model leaves dimensions of its inputs open: {', '.join(open_inputs)}",
            hint=f"give their shapes, e.g. {' '.join(open_inputs.values())}; "
            "or let each run of a transformer choose the length: --max-length 32",
        )
    return fixed


def batch_axes(
    declared: Mapping[str, Dims | None], used: Mapping[str, int] = NO_AXES
) -> dict[str, int]:
    """The axis of each input that counts samples, by rules 0 to 3."""
    named = {name: _named_batch(dims) for name, dims in declared.items()}
    first = (dims[0] for name, dims in declared.items() if dims and named[name] is None)
    symbols = {dim for dim in first if isinstance(dim, str)}
    axes = {}
    for name, dims in declared.items():
        shared = next((axis for axis, dim in enumerate(dims or ()) if dim in symbols), 0)
        own = named[name]
        axes[name] = used.get(name, shared if own is None else own)
    return axes


def batch_notes(
    declared: Mapping[str, Dims | None], used: Mapping[str, int] = NO_AXES
) -> tuple[str, ...]:
    """One line for the user, if the model takes any number of samples."""
    places = [
        f"{shown(name)} [{', '.join('?' if d is None else shown(str(d)) for d in dims)}]"
        for (name, dims), axis in zip(
            declared.items(), batch_axes(declared, used).values(), strict=True
        )
        if dims and not isinstance(dims[axis], int)
    ]
    text = f"compiled for batch 1: the model leaves it open in {'; '.join(places)}"
    return (text,) if places else ()


def _named_batch(dims: Dims | None) -> int | None:
    for axis, dim in enumerate(dims or ()):
        if isinstance(dim, str) and _BATCH.fullmatch(dim):
            return axis
    return None


def _check_names(shapes: Mapping[str, Sequence[int]], inputs: list[str]) -> None:
    for name in shapes:
        if name not in inputs:
            known = ", ".join(shown(i) for i in inputs)
            raise ConfigError(
                f"the model has no input {shown(name)!r}", where="--shape", hint=f"inputs: {known}"
            )


def _resolve(
    name: str, declared: Dims | None, given: Sequence[int] | None, axis: int
) -> Dims | None:
    """The dimensions of an input, None where they stay open."""
    if given is not None:
        return _agreed(name, declared, tuple(given), axis)
    if not declared:
        return declared
    first = declared[0]
    dims = tuple(1 if a == axis and not isinstance(d, int) else d for a, d in enumerate(declared))
    closed = all(isinstance(dim, int) for dim in dims)
    if axis == 0 and closed and isinstance(first, int) and first > 1 and len(dims) > 1:
        raise ImportModelError(
            f"the first dimension is fixed to {first}: a batch of {first}, or part of one sample",
            where=shown(name),
            hint=f"if it counts samples: --shape {_example(name, (1, *dims[1:]))}; "
            f"if it belongs to one sample: --shape {_example(name, dims)}",
        )
    return dims


def _agreed(name: str, declared: Dims | None, given: tuple[int, ...], axis: int) -> Dims:
    if declared is not None and len(given) == len(declared) + 1 and given[0] == 1:
        given = given[1:]
    fits = declared is None or (
        len(declared) == len(given)
        and all(
            not isinstance(d, int) or d == g or a == axis == 0
            for a, (d, g) in enumerate(zip(declared, given, strict=True))
        )
    )
    # A model that says 0 itself is refused by `_checked`.
    if not fits or any(
        dim < 1 and dim != d for dim, d in zip(given, declared or given, strict=True)
    ):
        raise _misfit(name, declared, given)
    _need_one_sample(name, declared, given, axis)
    return given


def _need_one_sample(name: str, declared: Dims | None, given: tuple[int, ...], axis: int) -> None:
    """Refuse a batch above 1 where the model leaves it open, and a change of a fixed one."""
    if declared is None or not declared or given[axis] in (1, declared[axis]):
        return
    # Without names, any other open dimension may be the batch.
    nameless = declared[axis] is None
    if nameless and any(d is None and g == 1 for d, g in zip(declared, given, strict=True)):
        return
    raise ConfigError(
        f"shape {_joined(given)} has a batch of {given[axis]}; edgec compiles for a batch of 1",
        where=f"--shape {shown(name)}",
        hint=f"give 1 on axis {axis}",
    )


def _misfit(name: str, declared: Dims | None, given: tuple[int, ...]) -> ConfigError:
    return ConfigError(
        f"shape {_joined(given)} does not fit the input, which is {_sizes(declared)}",
        where=f"--shape {shown(name)}",
    )


def _joined(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


def _checked(name: str, dims: tuple[int, ...]) -> tuple[int, ...]:
    if any(dim < 1 for dim in dims) or math.prod(dims) > MAX_ELEMENTS:
        raise ImportModelError(f"the input has the impossible shape {dims}", where=shown(name))
    return dims


def _sizes(dims: Dims | None) -> str:
    return "x".join(str(dim) if isinstance(dim, int) else "?" for dim in dims or ())


def _text(name: str, dims: Dims | None) -> str:
    return f"{shown(name)} ({_sizes(dims) or 'no shape at all'})"


def _example(name: str, dims: Dims | None) -> str:
    sizes = list(dims or (1, None))
    rest = [axis for axis, dim in enumerate(sizes) if not isinstance(dim, int)]
    if sizes[0] != 1 and len(rest) == 1 and sizes[rest[0]] is None:
        sizes[rest[0]] = 1  # the only dimension that can count samples
    text = ",".join(str(dim if isinstance(dim, int) else _EXAMPLE) for dim in sizes)
    return f"{shown(name)}={text}"


def samples_first(graph: Graph) -> Graph:
    """The graph with inputs [1, ...].

    Args:
        graph: REAL stage, as imported; the shapes of its inputs are those of one sample.
    """
    builder = GraphBuilder.of(graph)
    for name in graph.inputs:
        value = graph.values[name]
        if value.shape[:1] != (1,):
            inner = builder.fresh(f"{name}/sample")
            builder.rewire(name, inner)
            builder.value(replace(value, name=inner))
            builder.value(replace(value, shape=(1, *value.shape)))
            builder.node(inner, ops.Reshape(value.shape), (name,), (inner,))
    return builder.build()
