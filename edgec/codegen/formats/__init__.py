"""Libraries of a model for other build systems: one module a format, which ends in one record."""
