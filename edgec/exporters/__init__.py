"""Graphs out as model files, one package a file format.

Imports `base` and `ir`.
"""
