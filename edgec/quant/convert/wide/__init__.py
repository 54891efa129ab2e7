"""From operators on 16-bit codes to their integer operators, by the rules of TensorFlow Lite Micro.

A file with int16 activations brings all of its scales, so its graph goes from the REAL stage
straight to the INTEGER one.  `WIDE_CHECKS` has every operator that such a network may hold.
"""
