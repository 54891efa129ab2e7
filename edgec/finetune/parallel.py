"""One training run in several processes, each on a device of its own.

All of them have the whole network and draw the same batches.  Each computes the gradients of its
part of a batch; they are averaged (`torch.distributed`), so that all take the same steps.
Normalizations see the part alone, as in PyTorch's `DistributedDataParallel`.
"""

from __future__ import annotations

import os
import queue
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import distributed, multiprocessing

from edgec.base.errors import EdgecError, TrainingError
from edgec.base.options import Progress, no_progress

_T = TypeVar("_T")
_WAIT_S = 0.5


@dataclass(frozen=True, slots=True)
class Part:
    """Share of one process in a training run.

    Attributes:
        number: the process, counted from 0; the first one tells and saves.
        count: processes.
    """

    number: int = 0
    count: int = 1

    @property
    def is_first(self) -> bool:
        """This process tells how far the run is, and saves its state."""
        return self.number == 0

    def of(self, batch: torch.Tensor) -> torch.Tensor:
        """This process's samples of a batch [N, ...]."""
        return batch[self.number :: self.count]

    def average(self, parameters: Iterable[torch.Tensor]) -> None:
        """Replace gradients by their averages over all processes."""
        gradients = [each.grad for each in parameters if each.grad is not None]
        if self.count == 1 or not gradients:
            return
        flat = torch.cat([gradient.reshape(-1).float() for gradient in gradients])
        distributed.all_reduce(flat)
        flat /= self.count
        parts = flat.split([gradient.numel() for gradient in gradients])
        for gradient, part in zip(gradients, parts, strict=True):
            gradient.copy_(part.reshape(gradient.shape))

    def add_up(self, tensor: torch.Tensor) -> None:
        """Replace a tensor of the CPU by its sum over all processes."""
        if self.count == 1:
            return
        on_gpu = distributed.get_backend() == "nccl"
        sums = tensor.cuda() if on_gpu else tensor
        distributed.all_reduce(sums)
        tensor.copy_(sums)

    def total(self, *numbers: float) -> list[float]:
        """The sums of numbers over all processes."""
        sums = torch.tensor(numbers, dtype=torch.float64)
        self.add_up(sums)
        return [float(each) for each in sums]


def in_parts(
    count: int, device: str, work: Callable[[Part, Progress], _T], progress: Progress
) -> _T:
    """Run `work` in processes that each do their part; the result of the first one.

    Args:
        count: processes; 1: this one.
        device: "cpu" or "cuda", whose numbers are those of the processes.
        work: can be pickled, as can what it returns.
        progress: told what the first process tells.

    Raises:
        EdgecError: what a process raised.
        TrainingError: a process ended without a result.
    """
    if count == 1:
        return work(Part(), progress)
    context = multiprocessing.get_context("spawn")
    told: Any = context.Queue()
    with tempfile.TemporaryDirectory() as folder:
        meeting = (Path(folder) / "meeting").as_uri()
        found = [
            context.Process(target=_process, args=(part, device, meeting, told, work), daemon=True)
            for part in (Part(number, count) for number in range(count))
        ]
        with _running(found):
            return _result(found, told, progress)


@contextmanager
def _running(processes: list[Any]) -> Iterator[None]:
    """Processes that end with this block, however it ends."""
    with _without_interrupts():
        for process in processes:
            process.start()
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Programs started here never see Ctrl-C, sent to all by a terminal: this process ends them.

    It waits until they have started.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _result(processes: list[Any], told: Any, progress: Progress) -> Any:
    while True:
        try:
            kind, value = told.get(timeout=_WAIT_S)
        except queue.Empty:
            if any(process.exitcode for process in processes):
                raise TrainingError(
                    "a process of the training ended without a word",
                    where="--devices",
                    hint="its memory may not have sufficed: train on fewer devices",
                ) from None
            continue
        if kind == "failed":
            raise value
        if kind == "done":
            return value
        progress(*value)


def _process(
    part: Part, device: str, meeting: str, told: Any, work: Callable[[Part, Progress], object]
) -> None:
    """One of the processes."""
    if device == "cuda":
        torch.cuda.set_device(part.number)
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // part.count))

    def tell(text: str, done: int = 0, total: int = 0) -> None:
        told.put(("told", (text, done, total)))

    distributed.init_process_group(
        "nccl" if device == "cuda" else "gloo",
        init_method=meeting,
        rank=part.number,
        world_size=part.count,
    )
    try:
        result = work(part, tell if part.is_first else no_progress)
        if part.is_first:
            told.put(("done", result))
    except EdgecError as error:
        told.put(("failed", error))
    finally:
        distributed.destroy_process_group()
