"""One run in two processes: it repeats, resumes, learns, and ends when one of them does."""

from __future__ import annotations

import functools
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from pooled_digits import constants, data, interrupting
from trained_digits import accuracy, digits, trained_digits

from edgec.base.errors import ConfigError, TrainingError
from edgec.base.options import Progress, no_progress
from edgec.finetune.parallel import Part, in_parts
from edgec.finetune.pooled import FinetuneOptions, finetune
from edgec.ir.graph import Graph

pytestmark = pytest.mark.torch
TWO = FinetuneOptions(epochs=2, batch=64, bits=(8, 4), device="cpu", devices=2)


def test_gradients_are_those_of_the_whole_batch():
    one, two = in_parts(2, "cpu", _gradient, no_progress), _gradient(Part(), no_progress)
    assert np.allclose(one, two, rtol=1e-6)


def _gradient(part: Part, _progress: Progress) -> list[float]:
    """That of a mean over five samples, which two processes cannot share evenly."""
    weight = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    x = torch.arange(10.0).reshape(5, 2)
    mine = part.of(x)
    loss = (mine @ weight).pow(2).mean() * (part.count * len(mine) / len(x))
    loss.backward()  # type: ignore[no-untyped-call]
    part.average([weight])
    assert part.total(len(mine)) == [5.0]
    assert weight.grad is not None
    return [float(each) for each in weight.grad]


def test_it_repeats_and_learns(pooled: Graph):
    told: list[str] = []
    options = replace(TWO, epochs=6)
    one = finetune(
        trained_digits(), pooled, data(1200), options, lambda text, *_args: told.append(text)
    )
    two = finetune(trained_digits(), pooled, data(1200), options)
    assert constants(one) == constants(two)
    assert len({text for text in told if "loss" in text}) == 6, "one process tells"
    before, after = (accuracy(graph, digits().test_x, digits().test_y) for graph in (pooled, one))
    assert after > before


def test_it_resumes(pooled: Graph, tmp_path: Path):
    options = replace(TWO, checkpoint=tmp_path / "run.checkpoint")
    whole = finetune(trained_digits(), pooled, data(), replace(options, checkpoint=None))

    with pytest.raises(KeyboardInterrupt):
        finetune(trained_digits(), pooled, data(), options, interrupting(1))
    assert constants(finetune(trained_digits(), pooled, data(), options)) == constants(whole)


def _failing(part: Part, _progress: Progress, *, silently: bool) -> None:
    if part.is_first:
        part.total(1.0)  # waits for the other one
    elif silently:
        os._exit(9)
    raise ConfigError("no", where=f"process {part.number}")


def test_what_one_of_them_raises_ends_all():
    with pytest.raises(ConfigError, match="process 1"):
        in_parts(2, "cpu", functools.partial(_failing, silently=False), no_progress)


def test_one_that_is_killed_ends_all():
    with pytest.raises(TrainingError, match="ended without a word"):
        in_parts(2, "cpu", functools.partial(_failing, silently=True), no_progress)


def test_more_devices_than_samples_are_refused():
    with pytest.raises(ConfigError, match="65 devices cannot share 64 samples"):
        replace(TWO, devices=65)
