"""Static memory: where every tensor and scratch buffer lives, planned offline.

Owns the plan's types (`plan`), the planner (`planner`, on `problem` and `search`), what
any plan needs (`peak`), the independent checker (`check`) and a text picture
(`render`).  Knows buffers and steps only, no graphs; imports `base` alone.
"""

from edgec.memory.check import check_plan
from edgec.memory.peak import Peak, disjoint_bound
from edgec.memory.plan import ALIGNMENT_BYTES, Buffer, MemoryPlan, Overlap, Slot, Space
from edgec.memory.planner import plan_memory
from edgec.memory.render import render_plan

__all__ = [
    "ALIGNMENT_BYTES",
    "Buffer",
    "MemoryPlan",
    "Overlap",
    "Peak",
    "Slot",
    "Space",
    "check_plan",
    "disjoint_bound",
    "plan_memory",
    "render_plan",
]
