"""Sum of two int16 tensors on cores with NEON."""
