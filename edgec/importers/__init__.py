"""Model files in, one package a file format: each turns a file into a REAL graph of `ir`.

Imports `base` and `ir`.
"""
