"""A graph as plain JSON data beside numpy arrays, and back: nothing is lost, nothing is executed.

The form follows the dataclasses of the IR.  It is made and read by the same version of edgec; what
another one wrote is refused where a class or field is not known.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError, InternalError
from edgec.ir.graph import Graph

_HOMES = ("edgec.ir.", "edgec.base.")
"""Packages of the classes of a graph; no other module is imported for a file."""


def graph_to_data(graph: Graph) -> tuple[Any, list[Array]]:
    """JSON data of a graph, and the arrays that they number from 0."""
    arrays: list[Array] = []
    return _to_data(graph, arrays), arrays


def graph_from_data(data: Any, arrays: Sequence[Array]) -> Graph:
    """The graph of `graph_to_data`.

    Raises:
        ConfigError: not such data, or of another version of edgec.
    """
    try:
        graph = _from_data(data, arrays)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, ImportError) as error:
        raise ConfigError(f"not a graph of this version of edgec: {error}") from error
    if not isinstance(graph, Graph):
        raise ConfigError("not a graph of this version of edgec")
    return graph


def _to_data(value: object, arrays: list[Array]) -> Any:
    match value:
        case enum.Enum():
            return {"enum": _name(type(value)), "value": value.value}
        case np.ndarray():
            arrays.append(value)
            return {"array": len(arrays) - 1}
        case np.generic():
            return value.item()
        case None | bool() | int() | float() | str():
            return value
        case tuple() | list():
            return [_to_data(item, arrays) for item in value]
        case Mapping():
            pairs = ([_to_data(key, arrays), _to_data(each, arrays)] for key, each in value.items())
            return {"map": list(pairs)}
        case Set():
            return {"set": [_to_data(item, arrays) for item in sorted(value)]}
    if not dataclasses.is_dataclass(value):
        raise InternalError(f"a graph holds a {type(value).__name__}")
    fields = {
        field.name: _to_data(getattr(value, field.name), arrays)
        for field in dataclasses.fields(value)
        if field.init
    }
    return {"class": _name(type(value)), **fields}


def _from_data(data: Any, arrays: Sequence[Array]) -> Any:
    if isinstance(data, list):
        return tuple(_from_data(item, arrays) for item in data)
    if not isinstance(data, dict):
        return data
    if "class" in data:  # first: its fields may be called like the other kinds
        fields = {name: _from_data(each, arrays) for name, each in data.items() if name != "class"}
        return _class(data["class"])(**fields)
    if "array" in data:
        return arrays[data["array"]]
    if "map" in data:
        return {_from_data(key, arrays): _from_data(each, arrays) for key, each in data["map"]}
    if "set" in data:
        return frozenset(_from_data(item, arrays) for item in data["set"])
    return _class(data["enum"])(data["value"])


def _name(of: type) -> str:
    return f"{of.__module__}:{of.__qualname__}"


def _class(name: str) -> Callable[..., Any]:
    """The dataclass or enumeration of the IR that has a name."""
    module, _, path = name.partition(":")
    if not module.startswith(_HOMES):
        raise ValueError(f"there is no class {name}")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    if not (dataclasses.is_dataclass(found) or issubclass(found, enum.Enum)):
        raise ValueError(f"there is no class {name}")
    return found  # type: ignore[no-any-return]
