"""Runs what was emitted: natively (`host`), as firmware in an emulator (`emulator`), and compares.

Owns the host build of a generated library, the client of the firmware's protocol, the emulators and
the comparison with the oracle (`compare`).
"""
