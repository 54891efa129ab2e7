"""Which indices an assignment changes: those that gain most, and none that goes back and forth."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from edgec.base.errors import ConfigError
from edgec.finetune.options import Augmentation, Recipe
from edgec.finetune.pooled import FinetuneOptions, MoveLimits
from edgec.finetune.pooled.pools import IndexMoves, Wish

pytestmark = pytest.mark.torch
LATENT = torch.zeros(8, 2)


def wish(index: torch.Tensor, gain: torch.Tensor | None = None) -> Wish:
    """The latent weights ask for these vectors; each is one away from the present one."""
    ones = torch.ones(8)
    gain = ones if gain is None else gain
    return Wish(ones.bool(), index, gain, ones, total=8.0, latent=LATENT)


def test_the_largest_gains_go_first():
    moves = IndexMoves(LATENT, MoveLimits(most_changes=0.25))
    now = torch.zeros(8, dtype=torch.int64)
    wanted = torch.tensor([1, 0, 2, 3, 1, 0, 4, 5])
    gain = torch.tensor([0.1, 0.0, 0.4, 0.2, 0.3, 0.0, 0.5, 0.1])
    assert moves.moved(now, wish(wanted, gain)).tolist() == [0, 0, 2, 0, 0, 0, 4, 0]


def test_only_what_is_asked_changes_and_is_averaged():
    moves = IndexMoves(LATENT, MoveLimits())
    now, asked = torch.zeros(8, dtype=torch.int64), torch.arange(8) % 2 == 0
    wanted = torch.where(asked, 1, 0)
    asking = replace(wish(wanted), asked=asked, latent=LATENT + 1)
    assert torch.equal(moves.moved(now, asking), wanted)
    assert torch.equal(moves.latent[:, 0] > 0, asked)


def test_all_change_where_few_want_to():
    moves = IndexMoves(LATENT, MoveLimits(most_changes=0.5))
    now, wanted = torch.zeros(8, dtype=torch.int64), torch.tensor([1, 2, 3, 4, 0, 0, 0, 0])
    assert torch.equal(moves.moved(now, wish(wanted)), wanted)


@pytest.mark.parametrize("ratio, moved", [(0.6, 2), (0.36, 1), (0.35, 0), (1.0, 4)])
def test_weights_change_by_no_more_than_the_trust_ratio(ratio: float, moved: int):
    """Each move changes the weights by 1 of their square of 8: two change it by half, in length."""
    moves = IndexMoves(LATENT, MoveLimits(trust_ratio=ratio))
    now, wanted = torch.zeros(8, dtype=torch.int64), torch.tensor([0, 1, 2, 3, 4, 0, 0, 0])
    gain = torch.tensor([0.0, 0.1, 0.4, 0.2, 0.3, 0.0, 0.0, 0.0])
    index = moves.moved(now, wish(wanted, gain))
    assert int((index != now).sum()) == moved
    assert torch.equal(index != now, torch.isin(torch.arange(8), gain.argsort()[8 - moved :]))


def test_an_index_that_goes_back_and_forth_is_held():
    moves = IndexMoves(LATENT, MoveLimits(most_returns=0.1))
    index = torch.zeros(8, dtype=torch.int64)
    held = []
    for number in range(20):
        # The first goes back and forth, the second on and on, the others stay.
        wanted = index.clone()
        wanted[0], wanted[1] = (number + 1) % 2, number + 1
        index = moves.moved(index, wish(wanted))
        held.append(int(moves.newly_held().sum()))
    assert moves.held.tolist() == [True] + [False] * 7
    assert sum(held) == 1, "an index is held once"
    assert index[1] == 20
    wanted = index.clone()
    wanted[0] = 9
    assert moves.moved(index, wish(wanted))[0] == index[0]


def test_the_last_epochs_can_be_without_augmentation():
    recipe = Recipe(epochs=10, augmentation=Augmentation(), plain=0.25)
    varied = [recipe.augmentation_in(epoch) is not None for epoch in range(10)]
    assert varied == [True] * 8 + [False] * 2
    assert Recipe(epochs=2, augmentation=Augmentation()).augmentation_in(1) is not None


@pytest.mark.parametrize("wrong", [{"most_changes": -0.1}, {"most_returns": 2.0}])
def test_shares_are_shares(wrong: dict[str, float]):
    with pytest.raises(ConfigError, match="is no share"):
        MoveLimits(**wrong)
    with pytest.raises(ConfigError, match="is no share"):
        FinetuneOptions(plain=1.5)


def test_what_bounds_an_optimizer_is_checked():
    with pytest.raises(ConfigError, match="trust_ratio is 0"):
        MoveLimits(trust_ratio=0.0)
    with pytest.raises(ConfigError, match="latent_momentum is 1"):
        FinetuneOptions(latent_momentum=1.0)
