"""Which tensors of a network have int16 codes, and what they mean.

`codes` gives the numbers of int16 codes and proves that no sum of theirs leaves 32 bits; `choose`
chooses the fewest tensors that an accuracy asks for.
"""
