"""The campaigns: a name and a module each, which holds a record `CAMPAIGN`."""

from __future__ import annotations

import importlib

from .campaign import Campaign

MODULES: dict[str, str] = {
    "boards": "boards",
    "data": "data",
    "models": "models",
    "networks": "networks",
    "tflite": "tflite_files",
    "projects": "projects",
    "protocol": "protocol",
    "signals": "signals",
}


def load(name: str) -> Campaign:
    """The campaign of that name."""
    found = importlib.import_module(f"{__package__}.{MODULES[name]}").CAMPAIGN
    assert isinstance(found, Campaign)
    return found
