"""Dense layers of int16 activations with the DSP extension: two pixels by two filters."""
