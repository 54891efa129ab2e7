"""Which indices an assignment changes: those that gain most, and none that goes back and forth."""

from __future__ import annotations

import pytest
import torch

from edgec.base.errors import ConfigError
from edgec.finetune.options import Augmentation, Recipe
from edgec.finetune.pooled import FinetuneOptions
from edgec.finetune.pooled.indices import IndexMoves

pytestmark = pytest.mark.torch
LATENT = torch.zeros(8, 2)


def test_the_largest_gains_go_first():
    moves = IndexMoves(LATENT, most_changes=0.25, most_returns=1.0)
    now = torch.zeros(8, dtype=torch.int64)
    wanted = torch.tensor([1, 0, 2, 3, 1, 0, 4, 5])
    gain = torch.tensor([0.1, 0.0, 0.4, 0.2, 0.3, 0.0, 0.5, 0.1])
    assert moves.moved(now, wanted, gain, LATENT).tolist() == [0, 0, 2, 0, 0, 0, 4, 0]


def test_all_change_where_few_want_to():
    moves = IndexMoves(LATENT, most_changes=0.5, most_returns=1.0)
    now, wanted = torch.zeros(8, dtype=torch.int64), torch.tensor([1, 2, 3, 4, 0, 0, 0, 0])
    assert torch.equal(moves.moved(now, wanted, torch.ones(8), LATENT), wanted)


def test_an_index_that_goes_back_and_forth_is_held():
    moves = IndexMoves(LATENT, most_changes=1.0, most_returns=0.1)
    index = torch.zeros(8, dtype=torch.int64)
    held = []
    for number in range(20):
        # The first goes back and forth, the second on and on, the others stay.
        wanted = index.clone()
        wanted[0], wanted[1] = (number + 1) % 2, number + 1
        index = moves.moved(index, wanted, torch.ones(8), LATENT)
        held.append(int(moves.newly_held().sum()))
    assert moves.held.tolist() == [True] + [False] * 7
    assert sum(held) == 1, "an index is held once"
    assert index[1] == 20
    wanted = index.clone()
    wanted[0] = 9
    assert moves.moved(index, wanted, torch.ones(8), LATENT)[0] == index[0]


def test_the_last_epochs_can_be_without_augmentation():
    recipe = Recipe(epochs=10, augmentation=Augmentation(), plain=0.25)
    varied = [recipe.augmentation_in(epoch) is not None for epoch in range(10)]
    assert varied == [True] * 8 + [False] * 2
    assert Recipe(epochs=2, augmentation=Augmentation()).augmentation_in(1) is not None


@pytest.mark.parametrize("wrong", [{"plain": 1.5}, {"most_changes": -0.1}, {"most_returns": 2.0}])
def test_shares_are_shares(wrong: dict[str, float]):
    with pytest.raises(ConfigError, match="is no share"):
        FinetuneOptions(**wrong)  # type: ignore[arg-type]
