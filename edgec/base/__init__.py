"""Foundations of every package: errors, element types, rounding, options, and the files of a user.

Imports nothing of edgec.
"""
