"""What no model may exceed, whatever file it comes in."""

MAX_ELEMENTS = 2**31 - 1
"""Most elements of one tensor; indices are 32-bit on the target."""
MAX_RANK = 8
"""Most dimensions of a tensor; numpy stops at 64, and nobody needs as many."""
MAX_MODEL_BYTES = 512 * 1024 * 1024
"""Most bytes of a model file; a model of a microcontroller is far smaller."""
