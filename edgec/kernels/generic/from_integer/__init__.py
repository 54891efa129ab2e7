"""Codes of integers in plain C."""
