"""What every package may use: errors, element types, rounding, options, and the files of a user.

Imports nothing of edgec.
"""
