"""The generated library of a build folder, run on this computer in a confined process of its own.

Whoever made the folder may have put any C into it.  So the compiled library never enters edgec's
process: it has no network, writes no file (`toolchain.confined`), and where it crashes, that is an
error with a message.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.errors import SimulationError
from edgec.base.names import shown
from edgec.sim.frames import packed, unpacked
from edgec.sim.host import model_symbol, shared_library
from edgec.sim.loaded import Progress
from edgec.sim.ports import PortTensor
from edgec.toolchain.live_process import StreamingProcess, open_stream

_PACKAGE = Path(__file__).parents[2]
_START = """import sys
sys.path[:] = {path!r}
from edgec.sim.host_worker import main
main(*sys.argv[1:])
"""


@contextlib.contextmanager
def host_process(
    library_dir: Path, build_dir: Path, flags: Sequence[str] = ("-O2",)
) -> Iterator[HostProcess]:
    """Compile a library for this computer and start the process that runs it.

    Args:
        library_dir: the library of a build folder.
        build_dir: where the compiled library goes; created.
        flags: compiler options.

    Raises:
        BuildError: no compiler, or it reports errors.
        SimulationError: the folder holds no generated library, or it cannot be loaded.
    """
    symbol = model_symbol(library_dir)
    path = shared_library(library_dir, build_dir, flags).resolve()
    start = _START.format(path=[str(_PACKAGE), *sys.path])
    with open_stream([sys.executable, "-c", start, path, symbol], quiet=True) as stream:
        yield HostProcess(stream)


class HostProcess:
    """A compiled library in a process of its own; see `sim.loaded.LoadedModel` for the methods.

    Attributes:
        name: the model's name in C.
        digest: digits of the model's SHA-256.
        arena_bytes, state_bytes: its memory.
        num_steps: steps of a run.
        max_length: longest run; 0: all runs have one length.
        inputs, outputs: as the library describes them, for a run of the length in force.
    """

    def __init__(self, stream: StreamingProcess) -> None:
        self._stream = stream
        self._streams = 0
        head, _ = self._next()
        self.name, self.digest = (shown(str(head.get(key))) for key in ("name", "digest"))
        self.arena_bytes, self.state_bytes = _numbers(head, "arena_bytes", "state_bytes")
        self.num_steps, self.max_length = _numbers(head, "num_steps", "max_length")
        self._set_ports(head)

    def run(
        self, inputs: Sequence[Array], progress: Progress | None = None, every: int = 0
    ) -> list[Array]:
        """Run a batch [N, ...] of each input; the outputs, [N, elements] each.

        `every`: samples after which the state is reset; 0: it is not.
        """
        if every == 0:
            return self.run_part({"do": "run"}, inputs, progress)
        stream, count = self.stream(), len(inputs[0])
        found = []
        for start in range(0, count, every):
            stream.reset()
            found.append(stream.run([array[start : start + every] for array in inputs]))
            if progress is not None:
                progress(min(start + every, count), count)
        return [np.concatenate(arrays) for arrays in zip(*found, strict=True)]

    def set_activation_bits(self, bits: int) -> int:
        """Let layers with pooled weights see at most `bits` bits; the width in force."""
        return _numbers(self.ask({"do": "bits", "bits": bits})[0], "bits")[0]

    def set_length(self, length: int) -> None:
        """Let the next runs have `length` tokens; `inputs` and `outputs` then are as long."""
        self._set_ports(self.ask({"do": "length", "length": length})[0])

    def stream(self) -> HostProcessStream:
        """A new context of the model, with a state of its own, if it has one."""
        self.ask({"do": "stream"})
        self._streams += 1
        return HostProcessStream(self, self._streams - 1)

    def run_part(
        self, head: dict[str, Any], inputs: Sequence[Array], progress: Progress | None
    ) -> list[Array]:
        """Ask for a run of samples; the outputs."""
        _, outputs = self.ask(head, inputs, progress)
        self.check_outputs(outputs, len(inputs[0]) if inputs else 0)
        return outputs

    def check_outputs(self, outputs: Sequence[Array], count: int) -> None:
        """Refuse outputs of `count` samples that are not what the model describes.

        Raises:
            SimulationError: they are not.
        """
        found = [(array.dtype, array.nbytes) for array in outputs]
        if found != [(port.dtype.numpy, count * port.size_bytes) for port in self.outputs]:
            raise _damaged()

    def ask(
        self, head: dict[str, Any], arrays: Sequence[Array] = (), progress: Progress | None = None
    ) -> tuple[dict[str, Any], list[Array]]:
        """Send a message and wait for its answer; `progress` gets (done, all) meanwhile.

        Raises:
            SimulationError: the run fails, the process has ended, or its answer is damaged.
        """
        self._stream.write(b"".join(packed(head, arrays)))
        while True:
            answer, found = self._next()
            if "done" not in answer:
                return answer, found
            if progress is not None:
                progress(*_numbers(answer, "done", "of"))

    def _next(self) -> tuple[dict[str, Any], list[Array]]:
        answer, found = unpacked(self._stream.read_all)
        error = answer.get("error")
        if error is None:
            return answer, found
        if not isinstance(error, list) or len(error) != 3:
            raise _damaged()
        what, where, hint = (shown(str(text)) for text in error)
        raise SimulationError(what, where=where, hint=hint)

    def _set_ports(self, head: dict[str, Any]) -> None:
        self.inputs, self.outputs = (_ports(head, key) for key in ("inputs", "outputs"))


class HostProcessStream:
    """A context of the model in that process; see `sim.loaded.LoadedStream`.

    Attributes:
        outputs: those of the last sample that was traced.
    """

    def __init__(self, model: HostProcess, number: int) -> None:
        self._model = model
        self._number = number
        self.outputs: list[Array] = []

    def reset(self) -> None:
        """Begin anew: the state is what it was at first."""
        self._model.ask({"do": "reset", "stream": self._number})

    def run(self, inputs: Sequence[Array], progress: Progress | None = None) -> list[Array]:
        """Run the next samples [N, ...] of the stream; the outputs, [N, elements] each."""
        return self._model.run_part({"do": "run", "stream": self._number}, inputs, progress)

    def trace(self, inputs: Sequence[Array]) -> list[bytes]:
        """Run the next sample; the bytes of the output tensor of each call of a step."""
        _, arrays = self._model.ask({"do": "trace", "stream": self._number}, inputs)
        steps = len(arrays) - len(self._model.outputs)
        self.outputs = arrays[max(steps, 0) :]
        self._model.check_outputs(self.outputs, 1)
        return [array.tobytes() for array in arrays[:steps]]


def _ports(head: dict[str, Any], key: str) -> tuple[PortTensor, ...]:
    try:
        return tuple(
            PortTensor(int(size), DType(name), int(zero_point))
            for size, name, zero_point in head[key]
        )
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise _damaged() from error


def _numbers(head: dict[str, Any], *keys: str) -> tuple[int, ...]:
    try:
        return tuple(int(head[key]) for key in keys)
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise _damaged() from error


def _damaged() -> SimulationError:
    return SimulationError("a message of the compiled model is damaged")
