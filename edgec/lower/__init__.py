"""From the integer graph to a program: addresses, argument structs, calls of chosen kernels.

`lower` puts together the kernels that `kernels.select` has chosen and the plan of memory; `program`
is the result, which code generation sees.
"""

from edgec.lower.lower import lower
from edgec.lower.program import Program

__all__ = ["Program", "lower"]
