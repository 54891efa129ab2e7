"""Sum or difference of two int8 tensors as TensorFlow Lite Micro computes it, in plain C."""
