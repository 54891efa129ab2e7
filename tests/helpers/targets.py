"""Targets for tests: a processor alone."""

from dataclasses import replace

from edgec.target.cores import Core
from edgec.target.target import Target


def bare_target(core: Core, *, dsp: bool | None = None) -> Target:
    """A processor alone, with memories that never wait and have no limit.

    Args:
        core: the processor core.
        dsp: whether it has the DSP extension; None: it has it if the core can have it.
    """
    facts = core.facts
    return Target(
        instruction_set=facts.instruction_set,
        has_dsp=True in core.possible_dsp if dsp is None else dsp,
        has_mve=facts.has_mve,
        has_neon=facts.has_neon,
        has_dot_product=facts.has_dot_product,
        has_long_multiply=facts.has_long_multiply,
        dual_issue=facts.dual_issue,
        fpu=core.possible_fpus[-1],
        price_key=core.price_key,
        instruction_cache_bytes=0,
        data_cache_bytes=0,
        flash_wait_states=0,
        flash_bytes=None,
        ram_bytes=None,
        arena_limit_bytes=None,
    )


def by_precedence(target: Target) -> Target:
    """The same processor, on which nobody has measured kernels: the first family that fits wins.

    So a test of a family has layers of all sizes, also those that another family computes faster.
    """
    return replace(target, price_key="")
