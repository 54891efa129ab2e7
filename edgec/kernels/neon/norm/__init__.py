"""Layer and root mean square normalization on cores with NEON."""
