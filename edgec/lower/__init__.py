"""From the integer graph to a program: kernel choice, lifetimes, addresses, argument structs.

Owns the kernel specifications (`spec`), their choice (`select`, `build`), how far outputs may
overlap inputs (`overlap`), lifetimes (`buffers`) and the program that code generation sees
(`program`, `params`, `lower`).  Imports L0-L3; the only package that knows both graphs and kernels.
"""

from edgec.lower.buffers import buffers_of
from edgec.lower.lower import lower
from edgec.lower.pool_plan import PoolPlan, plan_pools
from edgec.lower.program import Program
from edgec.lower.select import KernelChoice, select_kernels

__all__ = [
    "KernelChoice",
    "PoolPlan",
    "Program",
    "buffers_of",
    "lower",
    "plan_pools",
    "select_kernels",
]
