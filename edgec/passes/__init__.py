"""Graph passes: one rewrite a file, the runner (`base`) and the explicit pipelines (`pipeline`).

Owns: every rewrite of a `Graph` except quantization itself.
"""

from edgec.passes.base import Pass, PassesResult, PassNote, dump_graph, run_passes
from edgec.passes.pipeline import INTEGER_PASSES, REAL_PASSES

__all__ = [
    "INTEGER_PASSES",
    "REAL_PASSES",
    "Pass",
    "PassNote",
    "PassesResult",
    "dump_graph",
    "run_passes",
]
