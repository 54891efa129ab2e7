"""Logarithm of softmax over the last axis in plain C."""
