"""The converters of all operators: one home for what each becomes, whatever the network."""

from edgec.quant.convert import (
    arithmetic,
    attention,
    choice,
    elementwise,
    linear,
    move,
    norm,
    sound,
    trees,
)

CONVERTERS = arithmetic.CONVERTERS.joined(
    attention.CONVERTERS,
    choice.CONVERTERS,
    elementwise.CONVERTERS,
    linear.CONVERTERS,
    move.CONVERTERS,
    norm.CONVERTERS,
    sound.CONVERTERS,
    trees.CONVERTERS,
)
"""What makes the integer operator of each real one; `joined` adds others."""
