"""What each command of edgec does, one module a command, without a terminal: the Python interface.

Imports everything but `cli`.
"""
