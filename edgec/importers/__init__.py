"""Model files in, one package a file format: each turns a file into a REAL graph of `ir`.

Imports `base` and `ir`.  The fronts stand side by side on `common`, which knows none of them.
"""
