"""Runs of generated code: natively (`host`) and as firmware (`emulator`), compared with the oracle.

Owns the host build of a generated library, the client of the firmware's protocol, the emulators and
the comparison with the oracle (`compare`).
"""
