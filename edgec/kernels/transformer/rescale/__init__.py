"""Requantization of the elements of a transformer's stream in plain C."""
