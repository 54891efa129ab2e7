"""Static memory: where every tensor and scratch buffer lives in the arena, planned offline.

Owns the plan's types (`plan`), the planner (`planner`, on `problem` and `search`), the bounds that
a plan is measured against (`bounds`), the independent checker (`check`) and a text picture
(`render`).  Knows buffers and steps only, no graphs; imports `base` alone.
"""

from edgec.memory.bounds import disjoint_bound, overlap_bound
from edgec.memory.check import check_plan
from edgec.memory.plan import ALIGNMENT_BYTES, Buffer, MemoryPlan, Overlap, Slot
from edgec.memory.planner import plan_memory
from edgec.memory.render import render_plan

__all__ = [
    "ALIGNMENT_BYTES",
    "Buffer",
    "MemoryPlan",
    "Overlap",
    "Slot",
    "check_plan",
    "disjoint_bound",
    "overlap_bound",
    "plan_memory",
    "render_plan",
]
