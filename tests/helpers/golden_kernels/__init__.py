"""A small case of every form of every kernel, a module for each package of `edgec.kernels`."""

from edgec.kernels.family import KernelSpec
from golden_kernels import (
    binary,
    dsp,
    elementwise,
    generic,
    m0,
    neon,
    packed,
    transformer,
    weightpool,
)

KERNELS: dict[str, KernelSpec] = {
    **binary.CASES,
    **dsp.CASES,
    **elementwise.CASES,
    **generic.CASES,
    **neon.CASES,
    **packed.CASES,
    **m0.CASES,
    **transformer.CASES,
    **weightpool.CASES,
}
