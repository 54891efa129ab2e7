"""The compiled library of a model, loaded into this process and run over all processors.

Only numpy and ctypes are needed, so that a process of its own starts quickly (`sim.host_worker`).
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.errors import SimulationError
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

Progress = Callable[[int, int], None]

_DTYPES = (DType.INT8, DType.INT32, DType.INT16)
"""Element types by their values in `edgec_dtype_t`."""
_CANARY = 0x5C
_CANARY_BYTES = 64
_ALIGNMENT = 64
_CHUNKS_PER_WORKER = 8
_MAX_CHUNK = 256
_BUG = "this is a bug of edgec; please report it with the model"


class LoadedModel:
    """A generated library that was compiled for this computer, in this process.

    Args:
        path: the shared library.
        symbol: name of its `edgec_model_t`.

    Raises:
        SimulationError: it cannot be loaded.
    """

    def __init__(self, path: Path, symbol: str) -> None:
        try:
            library = ctypes.CDLL(str(path))
            self._model = NativeModel.in_dll(library, symbol)
            self._batch_run = library.edgec_run_batch
        except (OSError, ValueError, AttributeError) as error:
            raise SimulationError(
                f"cannot load the compiled model: {error}", where=str(path)
            ) from error
        self._batch_run.argtypes = BATCH_RUN_ARGUMENTS
        self._batch_run.restype = ctypes.c_int
        self.name: str = self._model.name.decode("ascii")
        self.digest: str = self._model.digest.decode("ascii")
        self.arena_bytes: int = self._model.arena_bytes
        self.state_bytes: int = self._model.state_bytes
        self.num_steps: int = self._model.num_steps
        self._form = BatchForm()
        self.max_length: int = self._model.max_length
        self.inputs = self._inputs()
        self.outputs = self._tensors(self._model.outputs, self._model.num_outputs)

    def run(self, inputs: Sequence[Array], progress: Progress | None = None) -> list[Array]:
        """Run a batch, on all processors; samples of a model with a state are one new stream.

        Args:
            inputs: int8 [N, ...] per model input, in the model's order; any shape after the first
                axis that has the right size.
            progress: called with (samples done, N), from this thread.

        Returns:
            int8 or int32 [N, elements] per model output.

        Raises:
            SimulationError: inputs that do not fit, or a run that fails.
        """
        if self.state_bytes:
            return self.stream().run(inputs, progress)
        arrays, count = self._checked(inputs)
        outputs = self._outputs(count)
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
        self.inputs = self._inputs()
        self.outputs = self._tensors(self._model.outputs, self._model.num_outputs)

    def trace(self, inputs: Sequence[Array]) -> list[bytes]:
        """Run one sample and keep every step's output tensor.

        Args:
            inputs: int8 per model input, one sample (with or without a batch axis of 1).

        Returns:
            The bytes of the output tensor of each call of a step, in order.

        Raises:
            SimulationError: inputs that do not fit, or a run that fails.
        """
        return self.stream().trace(inputs)

    def stream(self) -> LoadedStream:
        """A new context of the model, with a state of its own, if it has one."""
        return LoadedStream(self)

    def _inputs(self) -> tuple[PortTensor, ...]:
        """Inputs of a sample, which may take several runs."""
        runs = max(self._model.image_runs, 1) // max(self._model.image_passes, 1)
        found = self._tensors(self._model.inputs, self._model.num_inputs)
        return tuple(replace(t, size_bytes=runs * t.size_bytes) for t in found)

    def _tensors(self, array: ctypes.Array[NativeTensor], count: int) -> tuple[PortTensor, ...]:
        """Inputs or outputs as the C library describes them, for a run of the length in force."""
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

    def _outputs(self, count: int) -> list[Array]:
        return [
            np.zeros((count, tensor.size_bytes // tensor.dtype.size_bytes), tensor.dtype.numpy)
            for tensor in self.outputs
        ]

    def _run_chunk(
        self, inputs: Sequence[Array], outputs: Sequence[Array], first: int, count: int
    ) -> int:
        arena = _Guarded(self.arena_bytes)
        self._call(inputs, outputs, (first, count), arena, None, StepHook())
        return count

    def _call(
        self,
        inputs: Sequence[Array],
        outputs: Sequence[Array],
        part: tuple[int, int],
        arena: _Guarded,
        context: NativeContext | None,
        hook: ctypes._CFunctionType,
    ) -> None:
        """Run samples, from the first one on as many as `part` says."""
        first, count = part
        form = BatchForm(self._form.length, self._form.bits)
        if context is not None:
            form.stream = ctypes.pointer(context)
        status = self._batch_run(
            ctypes.byref(self._model),
            arena.address,
            _pointers(inputs),
            _pointers(outputs),
            first,
            count,
            ctypes.byref(form),
            hook,
        )
        self._check(status, "run")
        if not arena.is_intact():
            raise SimulationError(
                f"the model wrote outside its arena (samples {first} to {first + count - 1})",
                where=self.name,
                hint=_BUG,
            )

    def _check(self, status: int, function: str) -> None:
        if status != 0:
            name = STATUS_NAMES[status] if 0 < status < len(STATUS_NAMES) else str(status)
            raise SimulationError(
                f"the model's {function} function returned {name}", where=self.name
            )


class LoadedStream:
    """A context of a model, and the memory that it works in.

    Args:
        model: the model, of the length and width of activations that are set when it runs.

    Attributes:
        outputs: those of the last sample that was traced.

    Raises:
        SimulationError: the model refuses the memory.
    """

    def __init__(self, model: LoadedModel) -> None:
        self._model = model
        self._arena = _Guarded(model.arena_bytes)
        self._state = _Guarded(model.state_bytes)
        self._context: NativeContext | None = None
        self.outputs: list[Array] = []
        if model.state_bytes:
            self._context = NativeContext()
            places = [
                place
                for memory in (self._arena, self._state)
                for place in (memory.address, memory.size_bytes)
            ]
            status = model._model.init_state(ctypes.byref(self._context), *places)
            model._check(status, "init")

    def reset(self) -> None:
        """Begin anew: the state is what it was at first."""
        if self._context is not None:
            self._model._check(self._model._model.reset(ctypes.byref(self._context)), "reset")

    def run(self, inputs: Sequence[Array], progress: Progress | None = None) -> list[Array]:
        """Run the next samples [N, ...] of the stream; see `LoadedModel.run`."""
        arrays, count = self._model._checked(inputs)
        outputs = self._model._outputs(count)
        for first in range(0, count, _MAX_CHUNK):
            part = min(_MAX_CHUNK, count - first)
            self._run(arrays, outputs, (first, part), StepHook())
            if progress is not None:
                progress(first + part, count)
        return outputs

    def trace(self, inputs: Sequence[Array]) -> list[bytes]:
        """Run the next sample and keep every step's output tensor; see `LoadedModel.trace`."""
        samples = [np.asarray(array).reshape(1, -1) for array in inputs]
        arrays, _ = self._model._checked(samples)
        steps: list[bytes] = []

        def keep(_user: int | None, _step: int, output: int, size: int) -> None:
            steps.append(ctypes.string_at(output, size))

        self.outputs = self._model._outputs(1)
        self._run(arrays, self.outputs, (0, 1), StepHook(keep))
        return steps

    def _run(
        self,
        inputs: Sequence[Array],
        outputs: Sequence[Array],
        part: tuple[int, int],
        hook: ctypes._CFunctionType,
    ) -> None:
        self._model._call(inputs, outputs, part, self._arena, self._context, hook)
        if not self._state.is_intact():
            raise SimulationError(
                "the model wrote outside of its state", where=self._model.name, hint=_BUG
            )


class _Guarded:
    """An arena, or a state, between two canaries."""

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        room = size_bytes + 2 * _CANARY_BYTES + _ALIGNMENT
        self._memory = np.full(room, _CANARY, np.uint8)
        start = self._memory.ctypes.data + _CANARY_BYTES
        self.address = -(-start // _ALIGNMENT) * _ALIGNMENT
        self._offset = self.address - self._memory.ctypes.data
        self._end = self._offset + size_bytes

    def is_intact(self) -> bool:
        """Whether nothing was written before or after it."""
        before, after = self._memory[: self._offset], self._memory[self._end :]
        return bool(np.all(before == _CANARY) and np.all(after == _CANARY))


def _pointers(arrays: Sequence[Array]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
