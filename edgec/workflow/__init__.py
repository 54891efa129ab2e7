"""The steps that commands share: a file becomes an integer graph, firmware is built, checked, run.

Imports everything but `profile`, `commands` and `cli`.
"""
