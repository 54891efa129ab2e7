"""Which tensors of a network have int16 codes, and what they mean.

`candidates` says what there is to choose from in a network whose ranges are observed
(`transformer.int16_codes`: in one whose scales are searched); `codes` gives the numbers of int16
codes and proves that no sum of theirs leaves 32 bits; `choose` chooses the fewest tensors that an
accuracy asks for.
"""
