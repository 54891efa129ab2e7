"""The chart of layers in turns: a block for each call, in its turn and its lane."""

import dataclasses

from profile_samples import sample_report

from edgec.base.calls import Firing, StepLoop
from edgec.profile.turns_chart import turns_charts

FIRINGS = (Firing(0, 1, 5, 2, 1), Firing(1, 2, 2, 3))


def chart(count, firings=FIRINGS):
    layers = sample_report("a", "b").layers
    (found,) = turns_charts([StepLoop("a to b", count, 0, 2, firings)], layers)
    return found


def test_a_block_for_each_call():
    found = chart(6)
    assert [len(lane.blocks) for lane in found.lanes] == [5, 2]
    first, second = (lane.blocks for lane in found.lanes)
    assert first[1].place == second[0].place
    assert first[3].place == second[1].place
    assert first[0].place == "left: 1.00%; width: 14.67%"
    assert "turn 3: rows 3 to 5" in second[1].title
    assert found.words == "2 layers, all turns"
    assert [tick.text for tick in found.ticks] == list("012345")


def test_many_turns_are_cut_off():
    found = chart(400, tuple(dataclasses.replace(each, count=200) for each in FIRINGS))
    assert "the first 48 of 400 turns" in found.words
    assert [len(lane.blocks) for lane in found.lanes] == [48, 24]


def test_loops_that_run_all_their_steps_have_no_chart():
    assert turns_charts([StepLoop("steps", 6, 0, 2)], sample_report("a", "b").layers) == ()
