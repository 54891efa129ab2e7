"""Runs a generated library on this computer: the same C, compiled natively, over all processors."""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.errors import SimulationError
from edgec.base.resources import data_dir
from edgec.sim.native import (
    BATCH_RUN_ARGUMENTS,
    STATUS_NAMES,
    BatchForm,
    NativeContext,
    NativeModel,
    NativeTensor,
    StepHook,
)
from edgec.sim.ports import PortTensor
from edgec.target.board import Board
from edgec.toolchain.cc import HostCompiler, compile_shared, host_compiler

Progress = Callable[[int, int], None]

_SYMBOL = re.compile(r"\bextern\s+const\s+edgec_model_t\s+(edgec_\w+_model)\s*;")
_DTYPES = (DType.INT8, DType.INT32, DType.INT16)
"""Element types by their values in `edgec_dtype_t`."""
_CANARY = 0x5C
_CANARY_BYTES = 64
_ALIGNMENT = 64
_CHUNKS_PER_WORKER = 8
_MAX_CHUNK = 256


def runs_natively(board: Board) -> bool:
    """Whether this computer can run what is generated for a board: NEON kernels have no other form.

    All else is C for any processor.
    """
    return not board.core.has_neon or platform.machine() in ("aarch64", "arm64")


class HostModel:
    """A generated library, compiled for this computer and loaded.

    The compiled library stays in `build_dir` under a name that depends on all that went into it, so
    that the next `HostModel` of the same sources starts at once.

    Args:
        library_dir: the folder that `codegen.emit_library` wrote.
        build_dir: where the compiled library goes; created.
        flags: compiler options.
        compiler: default: the first C compiler found.

    Raises:
        BuildError: no compiler, or it reports errors.
        SimulationError: the folder holds no generated library, or it cannot be loaded.
    """

    def __init__(
        self,
        library_dir: Path,
        build_dir: Path,
        *,
        flags: Sequence[str] = ("-O2",),
        compiler: HostCompiler | None = None,
    ) -> None:
        symbol = model_symbol(library_dir)
        path = _build(library_dir, build_dir, tuple(flags), compiler or host_compiler())
        try:
            library = ctypes.CDLL(str(path))
            self._model = NativeModel.in_dll(library, symbol)
            self._batch_run = library.edgec_batch_run
        except (OSError, ValueError, AttributeError) as error:
            raise SimulationError(
                f"cannot load the compiled model: {error}", where=str(path)
            ) from error
        self._batch_run.argtypes = BATCH_RUN_ARGUMENTS
        self._batch_run.restype = ctypes.c_int
        self.name: str = self._model.name.decode("ascii")
        self.digest: str = self._model.digest.decode("ascii")
        self.arena_bytes: int = self._model.arena_bytes
        self.num_steps: int = self._model.num_steps
        self._form = BatchForm()
        self.max_length: int = self._model.max_length
        self.inputs = self._tensors(self._model.inputs, self._model.num_inputs)
        self.outputs = self._tensors(self._model.outputs, self._model.num_outputs)

    def run(self, inputs: Sequence[Array], progress: Progress | None = None) -> list[Array]:
        """Run a batch, on all processors.

        Args:
            inputs: int8 [N, ...] per model input, in the model's order; any shape after the first
                axis that has the right size.
            progress: called with (samples done, N), from this thread.

        Returns:
            int8 or int32 [N, elements] per model output.

        Raises:
            SimulationError: inputs that do not fit, or a run that fails.
        """
        arrays, count = self._checked(inputs)
        outputs = [
            np.zeros((count, tensor.size_bytes // tensor.dtype.size_bytes), tensor.dtype.numpy)
            for tensor in self.outputs
        ]
        workers = os.cpu_count() or 1
        chunk = min(max(1, count // (workers * _CHUNKS_PER_WORKER)), _MAX_CHUNK)
        with ThreadPoolExecutor(max_workers=workers) as pool:
            jobs = {
                pool.submit(self._run_chunk, arrays, outputs, first, min(chunk, count - first))
                for first in range(0, count, chunk)
            }
            try:
                self._collect(jobs, count, progress)
            finally:
                # After an error or Ctrl-C: do not start what has not started.
                pool.shutdown(wait=True, cancel_futures=True)
        return outputs

    def set_activation_bits(self, bits: int) -> int:
        """Let layers with pooled weights see at most `bits` bits of each activation.

        Returns:
            The width in force: `bits`, or the nearest that the model has.

        Raises:
            SimulationError: the widths of the model are fixed.
        """
        if not self._model.set_activation_bits:
            raise SimulationError("the widths of this model are fixed", where=self.name)
        # The model says which width that is; each run sets it in its own context.
        self._form.bits = int(self._model.set_activation_bits(NativeContext(), bits))
        return self._form.bits

    def set_length(self, length: int) -> None:
        """Let the next runs have `length` tokens; `inputs` and `outputs` then are as long.

        Raises:
            SimulationError: the model has no such length.
        """
        if not 1 <= length <= self.max_length:
            most = self.max_length
            known = f"lengths are 1 to {most}" if most else "its length is fixed"
            raise SimulationError(f"no run has the length {length}: {known}", where=self.name)
        self._form.length = length
        self.inputs = self._tensors(self._model.inputs, self._model.num_inputs)
        self.outputs = self._tensors(self._model.outputs, self._model.num_outputs)

    def trace(self, inputs: Sequence[Array]) -> list[bytes]:
        """Run one sample and keep every step's output tensor.

        Args:
            inputs: int8 per model input, one sample (with or without a batch axis of 1).

        Returns:
            The bytes of the output tensor of each step, in order.

        Raises:
            SimulationError: inputs that do not fit, or a run that fails.
        """
        samples = [np.asarray(array).reshape(1, -1) for array in inputs]
        arrays, _ = self._checked(samples)
        outputs = [np.zeros((1, tensor.size_bytes), np.uint8) for tensor in self.outputs]
        steps: list[bytes] = []

        def keep(_user: int | None, _step: int, output: int, size: int) -> None:
            steps.append(ctypes.string_at(output, size))

        self._run_chunk(arrays, outputs, 0, 1, StepHook(keep))
        if len(steps) != self.num_steps:
            raise SimulationError(
                f"{len(steps)} steps ran, {self.num_steps} expected", where=self.name
            )
        return steps

    def _tensors(self, array: ctypes.Array[NativeTensor], count: int) -> tuple[PortTensor, ...]:
        """What C says about inputs or outputs, for a run of the length in force."""
        less = self.max_length - self._form.length if self._form.length else 0
        return tuple(
            PortTensor(t.bytes - less * t.row_bytes, _DTYPES[t.dtype], t.zero_point)
            for t in array[:count]
        )

    def _collect(self, jobs: set[Future[int]], count: int, progress: Progress | None) -> None:
        done = 0
        for job in as_completed(jobs):
            done += job.result()
            if progress is not None:
                progress(done, count)

    def _checked(self, inputs: Sequence[Array]) -> tuple[list[Array], int]:
        """The inputs as C takes them, and the number of samples."""
        if len(inputs) != len(self.inputs):
            raise SimulationError(
                f"{len(inputs)} inputs given, {len(self.inputs)} expected", where=self.name
            )
        arrays = [np.ascontiguousarray(array) for array in inputs]
        counts = {len(array) if array.ndim else 0 for array in arrays}
        if len(counts) != 1:
            raise SimulationError("the inputs differ in the number of samples", where=self.name)
        count = counts.pop()
        for index, (array, tensor) in enumerate(zip(arrays, self.inputs, strict=True)):
            if array.dtype != tensor.dtype.numpy or array.nbytes != count * tensor.size_bytes:
                raise SimulationError(
                    f"input {index} is {array.dtype} {list(array.shape)}, expected "
                    f"{tensor.dtype.value} of {tensor.size_bytes} bytes a sample",
                    where=self.name,
                )
        return arrays, count

    def _run_chunk(
        self,
        inputs: Sequence[Array],
        outputs: Sequence[Array],
        first: int,
        count: int,
        hook: ctypes._CFunctionType | None = None,
    ) -> int:
        arena = _Arena(self.arena_bytes)
        status = self._batch_run(
            ctypes.byref(self._model),
            arena.address,
            _pointers(inputs),
            _pointers(outputs),
            first,
            count,
            ctypes.byref(self._form),
            hook or StepHook(),
        )
        if status != 0:
            name = STATUS_NAMES[status] if 0 < status < len(STATUS_NAMES) else str(status)
            raise SimulationError(f"the model's run function returned {name}", where=self.name)
        if not arena.is_intact():
            raise SimulationError(
                f"the model wrote outside its arena (samples {first} to {first + count - 1})",
                where=self.name,
                hint="this is a bug of edgec; please report it with the model",
            )
        return count


class _Arena:
    """An arena between two canaries."""

    def __init__(self, size_bytes: int) -> None:
        room = size_bytes + 2 * _CANARY_BYTES + _ALIGNMENT
        self._memory = np.full(room, _CANARY, np.uint8)
        start = self._memory.ctypes.data + _CANARY_BYTES
        self.address = -(-start // _ALIGNMENT) * _ALIGNMENT
        self._offset = self.address - self._memory.ctypes.data
        self._end = self._offset + size_bytes

    def is_intact(self) -> bool:
        """Whether nothing was written before or after the arena."""
        before, after = self._memory[: self._offset], self._memory[self._end :]
        return bool(np.all(before == _CANARY) and np.all(after == _CANARY))


def model_symbol(library_dir: Path) -> str:
    """Name of the `edgec_model_t` that a library exports, from its headers.

    Raises:
        SimulationError: there is none, or more than one.
    """
    headers = sorted((library_dir / "include").glob("*.h"))
    found: set[str] = set()
    for header in headers:
        found.update(_SYMBOL.findall(header.read_text("utf-8", "replace")))
    if len(found) != 1:
        raise SimulationError(
            f"{len(found)} models found in the library's headers, expected one",
            where=str(library_dir),
            hint="point at the folder of a generated library",
        )
    return found.pop()


def _build(
    library_dir: Path, build_dir: Path, flags: tuple[str, ...], compiler: HostCompiler
) -> Path:
    """The compiled library, from the cache if its sources have not changed."""
    host_dir = data_dir("firmware") / "host"
    includes = (library_dir / "include", host_dir)
    sources = (*sorted((library_dir / "src").glob("*.c")), host_dir / "edgec_batch.c")
    digest = hashlib.sha256(repr((str(compiler.path), compiler.version, flags)).encode())
    headers = (path for folder in (*includes, library_dir / "src") for path in folder.rglob("*.h"))
    for path in (*sources, *sorted(headers)):
        digest.update(f"\n{path.name} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    output = build_dir / f"host-{digest.hexdigest()[:16]}.so"
    if not output.is_file():
        compile_shared(sources, includes, output, flags, compiler)
    return output


def _pointers(arrays: Sequence[Array]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
