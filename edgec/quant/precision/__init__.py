"""Choice of the tensors of a network that have int16 codes, and the scales of these codes.

`candidates` says what there is to choose from in a network whose ranges are observed
(`transformer.int16_codes`: in one whose scales are searched); `codes` gives the numbers of int16
codes and proves that no sum of theirs leaves 32 bits; `choose` chooses the fewest tensors that an
accuracy asks for.
"""
