"""Parts that every way of choosing scales shares.

Owns: parameters from ranges (`params`), calibration samples (`calibration`, `synthetic`), integer
weights and operands (`weights`), tables and numbers of integer operators (`tables`, `numbers`), the
proof that nothing overflows 32 bits (`intervals`), what is refused (`refuse`) and the measured
quality (`report`).
"""
