"""Words that are not the wake word: of everyday talk, and those that sound like it."""

from __future__ import annotations

from pathlib import Path


def words(name: str) -> list[str]:
    """The words in a file beside this one."""
    return Path(__file__).with_name(name).read_text("utf-8").split()


TRAINED = words("words_to_train.txt")
"""Speech to train with is made of these words."""
HELD_OUT = words("words_to_test.txt")
"""Speech to test with is made of these, no word of which is trained with."""
NEAR = (
    "computer",
    "hey",
    "hey commuter",
    "hey computing",
    "hey compute",
    "hey complete her",
    "a commuter",
    "they compute",
    "hey peter",
    "hey tutor",
    "say computer science",
    "the computer",
    "hey company",
    "hey come here",
    "hey cooper",
    "may come later",
    "hey accuse her",
    "personal computer",
)
"""What sounds like `hey computer`, to train with and to test with, in other voices."""
