"""Specifications that take the numbers of another one."""

from __future__ import annotations

import dataclasses
from typing import Any


def fields_of(spec: Any) -> dict[str, Any]:
    """The fields of a specification, as keyword arguments of a class that derives from its own."""
    return {field.name: getattr(spec, field.name) for field in dataclasses.fields(spec)}
