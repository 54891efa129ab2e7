"""What the code is made for: boards (`boards/*.toml`), their memories and their processor cores.

Imports `base` alone.
"""
