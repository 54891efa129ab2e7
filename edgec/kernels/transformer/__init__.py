"""Plain C for the operators that only transformers have."""
