"""What a command found out: records that become JSON, and tables for people.

Imports `base` and `target`.
"""
