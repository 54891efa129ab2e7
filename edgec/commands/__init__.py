"""Commands of edgec without a terminal, one module a command: the Python interface.

Imports everything but `cli`.
"""
