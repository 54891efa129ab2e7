"""A small case of every form of every kernel, a module for each package of `edgec.kernels`."""

from edgec.kernels.family import KernelSpec
from golden_kernels import dsp, generic, mixed, neon, packed, small, transformer, weightpool, wide

KERNELS: dict[str, KernelSpec] = {
    **dsp.CASES,
    **generic.CASES,
    **mixed.CASES,
    **neon.CASES,
    **packed.CASES,
    **small.CASES,
    **transformer.CASES,
    **weightpool.CASES,
    **wide.CASES,
}
