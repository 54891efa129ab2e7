"""Samples varied in a few ways, for each of which the teacher is asked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pooled_digits import constants, data, interrupting
from trained_digits import accuracy, digits, trained_digits

from edgec.base.errors import ConfigError
from edgec.finetune.batches import Samples, Views, drawing, fits
from edgec.finetune.options import Augmentation, Recipe, TrainingData
from edgec.finetune.parallel import Part
from edgec.finetune.pooled import FinetuneOptions, finetune
from edgec.ir.graph import Graph

pytestmark = pytest.mark.torch
COUNT = 600
SHIFTED = Augmentation(shift=1)


class Teacher:
    """Says what it sees: the sums of an image's rows.  Counts how many it was asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
        self.asked += len(inputs["x"])
        return inputs["x"].sum((2, 3))


def samples() -> Samples:
    x = np.arange(COUNT * 6, dtype=np.float32).reshape(COUNT, 2, 3, 1)
    return Samples(TrainingData({"x": x}, np.arange(COUNT) % 2), torch.device("cpu"))


def views(teacher: Teacher, **options: Any) -> Views:
    recipe = replace(Recipe(epochs=8, views=3), **options)
    return Views(samples(), recipe, teacher, 2, Part())


def test_the_teacher_is_asked_once_for_each_view():
    teacher = Teacher()
    found = views(teacher, augmentation=SHIFTED)
    each = [found.of(epoch) for epoch in range(8)]
    assert teacher.asked == 3 * COUNT
    assert each[0] is each[3] is each[6]
    assert not torch.equal(each[0].logits, each[1].logits)


def test_what_it_said_is_of_the_samples_that_are_seen():
    found = views(Teacher(), augmentation=SHIFTED)
    index = torch.tensor([599, 0, 300])
    for epoch in range(3):
        view = found.of(epoch)
        inputs, labels = view.batch(index)
        assert torch.equal(inputs["x"].sum((2, 3)), view.logits[index])
        assert labels.tolist() == [1, 0, 0]


def test_data_as_they_are_are_one_view():
    teacher = Teacher()
    found = views(teacher, augmentation=SHIFTED, plain=0.5)
    assert [found.of(epoch) is found.of(4) for epoch in range(8)] == [False] * 4 + [True] * 4
    x = samples().batch(torch.arange(COUNT), {})[0]["x"]
    assert torch.equal(found.of(4).batch(torch.arange(COUNT))[0]["x"], x)


def test_a_view_depends_on_seed_and_epoch_alone():
    one, two = (views(Teacher(), augmentation=SHIFTED) for _ in range(2))
    one.of(0)
    assert torch.equal(one.of(2).logits, two.of(2).logits)
    other = views(Teacher(), augmentation=SHIFTED, seed=1)
    assert not torch.equal(one.of(2).logits, other.of(2).logits)


def test_one_view_after_the_other_is_drawn_anew():
    seen = [drawing(epoch, 3) for epoch in range(15)]
    assert seen == [0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5, 6, 4, 5]
    teacher = Teacher()
    found = views(teacher, augmentation=SHIFTED, renew=True)
    each = [found.of(epoch) for epoch in range(8)]
    assert teacher.asked == 5 * COUNT
    assert each[1] is each[4]
    assert not torch.equal(each[0].logits, each[3].logits)
    alone = views(Teacher(), augmentation=SHIFTED, renew=True).of(7)
    assert torch.equal(alone.logits, each[7].logits)


def test_more_than_memory_holds_is_refused():
    with pytest.raises(ConfigError, match=r"9000000 views .* GiB") as caught:
        views(Teacher(), views=9_000_000)
    assert "or fewer" in str(caught.value.hint)
    with pytest.raises(ConfigError, match="views is -1"):
        Recipe(views=-1)


def test_samples_stay_where_they_take_too_much_of_a_device(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _device: (100, 200))
    gpu = torch.device("cuda")
    assert fits([torch.zeros(12)], gpu)
    assert not fits([torch.zeros(12), torch.zeros(1)], gpu)
    assert fits([torch.zeros(1000)], torch.device("cpu"))


OPTIONS = FinetuneOptions(
    epochs=4, batch=64, bits=(8, 4), device="cpu", augmentation=SHIFTED, views=2
)


@pytest.mark.parametrize(("devices", "renew"), [(1, False), (2, True)])
def test_a_run_with_views_repeats_resumes_and_learns(
    pooled: Graph, tmp_path: Path, devices: int, *, renew: bool
):
    options = replace(OPTIONS, devices=devices, renew=renew, checkpoint=tmp_path / "run.checkpoint")
    whole = finetune(trained_digits(), pooled, data(1200), replace(options, checkpoint=None))

    with pytest.raises(KeyboardInterrupt):
        finetune(trained_digits(), pooled, data(1200), options, interrupting(3))
    assert constants(finetune(trained_digits(), pooled, data(1200), options)) == constants(whole)
    before, after = (accuracy(each, digits().test_x, digits().test_y) for each in (pooled, whole))
    assert after > before
