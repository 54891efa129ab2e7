"""Every limit of what edgec reads and makes, in one place; docs/limits.md is its table.

They bound time and memory for files that nobody vouches for.  Whatever passes a limit is refused
with one message before work is done for it.
"""

from __future__ import annotations

SWEEP_BLOCK_NODES = 128
"""Nodes that a pass rewrites at a time in a large graph."""
SWEEP_WHOLE_NODES = 1000
"""Nodes of the largest graph that a pass rewrites as a whole."""
