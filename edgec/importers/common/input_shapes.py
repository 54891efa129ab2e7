"""Fixes the shapes of the graph inputs before anything else is inferred from them.

1. A shape given by the user (`--shape name=1,3,32,32`) wins; it must agree in rank, and in every
   dimension the model fixes, except the first.
2. An open first dimension is the batch and becomes 1.
3. A fixed first dimension above 1 of an input with two or more dimensions is refused: whether the
   network still works for a batch of 1 only the user can say, by giving the shape.
4. Any other open dimension must be given by the user; one error names all inputs concerned.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from edgec.base.errors import ConfigError, ImportModelError
from edgec.base.limits import MAX_ELEMENTS
from edgec.base.names import shown

Dims = tuple[int | None, ...]
NO_SHAPES: Mapping[str, tuple[int, ...]] = MappingProxyType({})


def resolve_shapes(
    declared: Mapping[str, Dims | None], shapes: Mapping[str, Sequence[int]]
) -> dict[str, tuple[int, ...]]:
    """The static shape of every input.

    Args:
        declared: what the model says of each input, None where it says nothing.
        shapes: what the user says, by name of the input.

    Raises:
        ConfigError: `shapes` names no input or contradicts the model.
        ImportModelError: rule 3 or 4.
    """
    _check_names(shapes, list(declared))
    fixed: dict[str, tuple[int, ...]] = {}
    open_inputs: dict[str, str] = {}
    for name, own in declared.items():
        dims = _resolve(name, own, shapes.get(name))
        if dims is None or any(dim is None for dim in dims):
            open_inputs[_text(name, dims)] = f"--shape {_example(name, dims)}"
        else:
            fixed[name] = _checked(name, tuple(dim or 0 for dim in dims))
    if open_inputs:
        raise ImportModelError(
            f"the model leaves dimensions of its inputs open: {', '.join(open_inputs)}",
            hint=f"give their shapes, e.g. {' '.join(open_inputs.values())}; "
            "or let each run of a transformer choose the length: --max-length 32",
        )
    return fixed


def _check_names(shapes: Mapping[str, Sequence[int]], inputs: list[str]) -> None:
    for name in shapes:
        if name not in inputs:
            known = ", ".join(shown(i) for i in inputs)
            raise ConfigError(
                f"the model has no input {shown(name)!r}", where="--shape", hint=f"inputs: {known}"
            )


def _resolve(name: str, declared: Dims | None, given: Sequence[int] | None) -> Dims | None:
    """The dimensions of an input, None where they stay open."""
    if given is not None:
        return _agreed(name, declared, tuple(given))
    if not declared:
        return declared
    batch = 1 if declared[0] is None else declared[0]
    if batch > 1 and len(declared) > 1:
        hint = f"to compile it for one sample: --shape {_example(name, (1, *declared[1:]))}"
        raise ImportModelError(
            f"the model is fixed to a batch of {batch}", where=shown(name), hint=hint
        )
    return (batch, *declared[1:])


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
    if any(dim < 1 for dim in dims) or math.prod(dims) > MAX_ELEMENTS:
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
