"""Post-training quantization: from a real graph to an annotated one, and on to integers.

Owns: activation ranges (`observers`, `calibrate`, `synthetic`), which values share parameters
(`ties`), parameters (`params`), weights and biases (`weights`), cross-layer equalization
(`equalize`), bias correction (`bias_correct`), the whole of it (`annotate`), the mechanical
conversion (`to_integer` and its parts) and the measured quality (`report`).  May import: layers 0
to 2.
"""
