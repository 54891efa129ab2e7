"""Plain C for every core: the arithmetic of convolutional networks."""
