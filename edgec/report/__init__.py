"""Results of commands: records that become JSON, and tables for people.

Imports `base` and `target`.
"""
