"""A process that runs a compiled library for edgec: `sim.host_process` starts it, confined.

Its arguments are the shared library and the name of its model; messages come through standard
input, answers go to standard output, which the library itself cannot write to by chance.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import EdgecError, SimulationError
from edgec.sim.frames import packed, unpacked
from edgec.sim.loaded import LoadedModel, LoadedStream


class _Worker:
    """The library, and the streams that were begun."""

    def __init__(self, path: Path, symbol: str, source: BinaryIO, sink: BinaryIO) -> None:
        self._source, self._sink = source, sink
        self._model = LoadedModel(path, symbol)
        self._streams: list[LoadedStream] = []
        model = self._model
        names = ("name", "digest", "arena_bytes", "state_bytes", "num_steps", "max_length")
        self._answer({**{name: getattr(model, name) for name in names}, **self._ports()})

    def serve(self) -> None:
        """Answer messages until there are no more."""
        while True:
            head, arrays = unpacked(self._read)
            try:
                self._do(head, arrays)
            except EdgecError as error:
                self._answer(refusal(error))

    def _do(self, head: dict[str, Any], arrays: Sequence[Array]) -> None:
        runner = self._model if head.get("stream") is None else self._streams[head["stream"]]
        match head["do"]:
            case "run":
                self._answer({}, runner.run(arrays, self._progress))
            case "bits":
                self._answer({"bits": self._model.set_activation_bits(head["bits"])})
            case "length":
                self._model.set_length(head["length"])
                self._answer(self._ports())
            case "stream":
                self._streams.append(self._model.stream())
                self._answer({})
            case "reset":
                self._streams[head["stream"]].reset()
                self._answer({})
            case "trace":
                stream = self._streams[head["stream"]]
                steps = [np.frombuffer(step, np.uint8) for step in stream.trace(arrays)]
                self._answer({}, [*steps, *stream.outputs])

    def _ports(self) -> dict[str, Any]:
        model = self._model
        return {
            key: [[port.size_bytes, port.dtype.value, port.zero_point] for port in ports]
            for key, ports in (("inputs", model.inputs), ("outputs", model.outputs))
        }

    def _progress(self, done: int, count: int) -> None:
        self._answer({"done": done, "of": count})

    def _answer(self, head: dict[str, Any], arrays: Sequence[Array] = ()) -> None:
        for part in packed(head, arrays):
            self._sink.write(part)
        self._sink.flush()

    def _read(self, size: int) -> bytes:
        data = self._source.read(size)
        if len(data) < size:
            raise EOFError
        return data


def refusal(error: EdgecError) -> dict[str, Any]:
    """The message that tells of an error."""
    return {"error": [error.what, error.where, error.hint]}


def main(path: str, symbol: str) -> None:
    """Serve until standard input ends."""
    with os.fdopen(os.dup(1), "wb") as sink:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        try:
            _Worker(Path(path), symbol, sys.stdin.buffer, sink).serve()
        except SimulationError as error:
            for part in packed(refusal(error)):
                sink.write(part)
        except EOFError:
            return


if __name__ == "__main__":
    main(*sys.argv[1:3])
