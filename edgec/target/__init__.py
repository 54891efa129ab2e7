"""Targets of a compile: boards (`boards/*.toml`), their memories and their processor cores.

Imports `base` alone.
"""
