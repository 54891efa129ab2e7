"""Quantization in tests: a network that was quantized before in a process is not quantized again.

`edgec.workflow.integer.quantize` is a function of its arguments, and graphs are never edited, so
equal arguments may share one result. Boards, commands and main programs are many, networks few.
A `conftest.py` that imports `shared_networks` makes all tests beside it share.
"""

from __future__ import annotations

import hashlib
import logging
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edgec.base.dtypes import Array
from edgec.base.options import IntegerOptions, Precision, Progress, no_progress
from edgec.ir.graph import Graph
from edgec.quant import Quantized, quantize
from edgec.quant.entry import Reweigh
from edgec.quant.precision.goal import Chooser, Prices
from edgec.workflow import integer

_LOG = logging.getLogger("edgec")
_PLAIN = (str, bytes, int, float, complex, Enum, Path, type, np.generic)
_KEPT = 40
"""Results; the one that was asked for longest ago goes first."""


class _UnknownError(TypeError):
    """A value whose content is not known."""


@dataclass(frozen=True)
class _Made:
    """A result, with what was said on the way."""

    result: Quantized
    progress: list[tuple[Any, ...]]
    records: list[logging.LogRecord]


class SharedQuantization:
    """Quantizes as `edgec.quant.quantize` does, or takes the result from the process."""

    def __init__(self) -> None:
        self._made: OrderedDict[str, _Made] = OrderedDict()

    def quantize(
        self,
        graph: Graph,
        calibration: Mapping[str, Array] | None,
        options: IntegerOptions,
        progress: Progress = no_progress,
        *,
        shorter: Graph | None = None,
        prices: Prices | None = None,
        chooser: Chooser | None = None,
        reference: Graph | None = None,
        reweigh: Reweigh | None = None,
    ) -> Quantized:
        """Takes the place of `quantize`; progress and log are those of the first time."""
        narrowed = reference is not None and reference is not graph
        if options.dump_ir is not None or chooser is not None or narrowed:
            return quantize(
                graph,
                calibration,
                options,
                progress,
                shorter=shorter,
                prices=prices,
                chooser=chooser,
                reference=reference,
                reweigh=reweigh,
            )
        read = [getattr(options, field.name) for field in fields(IntegerOptions)]
        # Only tensors that may have int16 codes are chosen by what a board can hold.
        board = None if options.quant.settings().precision is Precision.INT8 else prices
        try:
            key = digest([graph, calibration, read, shorter, board, _LOG.getEffectiveLevel()])
        except _UnknownError:
            return quantize(graph, calibration, options, progress, shorter=shorter, prices=prices)
        if key in self._made:
            made = self._made[key]
            self._made.move_to_end(key)
            for words in made.progress:
                progress(*words)
            for record in made.records:
                logging.getLogger(record.name).handle(record)
            return made.result
        said: list[tuple[Any, ...]] = []

        def tell(*words: Any) -> None:
            said.append(words)
            progress(*words)

        with _Listener() as records:
            result = quantize(graph, calibration, options, tell, shorter=shorter, prices=prices)
        self._made[key] = _Made(result, said, records)
        if len(self._made) > _KEPT:
            self._made.popitem(last=False)
        return result


@pytest.fixture(scope="session", autouse=True)
def shared_networks() -> Iterator[None]:
    """Networks are quantized once in a process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(integer, "quantize", SharedQuantization().quantize)
        yield


class _Listener(logging.Handler):
    """Keeps what edgec logs in a `with` block."""

    def __enter__(self) -> list[logging.LogRecord]:
        self._records: list[logging.LogRecord] = []
        _LOG.addHandler(self)
        return self._records

    def __exit__(self, *_: object) -> None:
        _LOG.removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self._records.append(record)


def digest(value: object) -> str:
    """A digest of plain values, arrays, dataclasses, mappings and sequences of them.

    Raises:
        TypeError: something else is among them.
    """
    found = hashlib.sha256()
    _feed(found, value)
    return found.hexdigest()


def _feed(found: Any, value: object) -> None:
    found.update(f"({type(value).__qualname__} ".encode())
    if isinstance(value, np.ndarray) and value.dtype != object:
        found.update(f"{value.dtype.str} {value.shape} ".encode())
        found.update(np.ascontiguousarray(value).tobytes())
    elif value is None or isinstance(value, _PLAIN):
        found.update(repr(value).encode())
    elif is_dataclass(value):
        for field in fields(value):
            _feed(found, getattr(value, field.name))
    elif isinstance(value, Mapping):
        for key, each in value.items():
            _feed(found, key)
            _feed(found, each)
    elif isinstance(value, list | tuple):
        for each in value:
            _feed(found, each)
    elif isinstance(value, frozenset | set):
        for text in sorted(digest(each) for each in value):
            found.update(text.encode())
    else:
        raise _UnknownError(type(value).__qualname__)
    found.update(b")")
