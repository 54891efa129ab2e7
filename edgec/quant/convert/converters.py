"""The converters of all operators: one home for what each becomes, whatever the network."""

from edgec.quant.convert import arithmetic, attention, elementwise, linear, move, norm

CONVERTERS = arithmetic.CONVERTERS.joined(
    attention.CONVERTERS,
    elementwise.CONVERTERS,
    linear.CONVERTERS,
    move.CONVERTERS,
    norm.CONVERTERS,
)
"""What makes the integer operator of each real one; `joined` adds others."""
