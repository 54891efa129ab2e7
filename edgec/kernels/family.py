"""The record of a kernel family: all that edgec knows of one C function template.

A family is a folder `kernels/<group>/<family>/` whose module ends in the record, and the template
beside it.  `edgec.kernels.registry` lists the records; selection, lowering and code
generation loop over them and know no family by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar, runtime_checkable

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.extent import Extent
from edgec.kernels.common.parts import Parts, Run, WeightReads
from edgec.target.target import Target

S = TypeVar("S", bound="KernelSpec")
Distances = tuple[int | None, ...]
"""The least distance in bytes from the output to each tensor operand (`kernels.common.overlap`).
None: the output must not overlap this operand."""


class KernelSpec(Hashable, Protocol):
    """The specification of a kernel: a frozen dataclass, one class per family, all numbers final.

    A specification holds what is compiled into a C function: shapes, strides and shifts.  What
    differs between layers of one shape (weights, multipliers, zero points, clamps) is an argument
    of the function.  So equal specifications share one function.

    A template sees a specification and nothing else; what it needs computed is a property here.

    The class says the family's name, which is unique, and the path of its template.
    """

    family: ClassVar[str]
    template: ClassVar[Path]

    @property
    def scratch_bytes(self) -> int:
        """Working memory of a call."""

    @property
    def macs(self) -> int:
        """Multiply-accumulates of a call."""

    def describe(self) -> str:
        """Operator, shapes and method of the function in words, for a comment in C."""


@runtime_checkable
class Named(Protocol):
    """A specification whose functions have names of their own, in a family for many operators."""

    @property
    def stem(self) -> str:
        """Operator and element types, e.g. `add_s8_s16_s16`."""


@runtime_checkable
class Unrolled(Protocol):
    """A specification with a loop whose turn may have any number of words."""

    @property
    def unrolled(self) -> int:
        """Words in one turn."""


def name_of(spec: KernelSpec) -> str:
    """Name of a kernel in reports: its family, or operator and types in one of many."""
    return spec.stem if isinstance(spec, Named) else spec.family


class Lengths(ABC, Generic[S]):
    """Support of a family's kernels for models of variable length.

    Every tensor with the variable axis has its elements at the front in a shorter run, since all
    axes before that one have length 1.  So a kernel that works row by row serves shorter runs by
    stopping earlier, in the memory that was planned for the longest: what it has written then, and
    where, is the beginning of what it writes in the longest run, and its distances hold.
    """

    @abstractmethod
    def spec(self, graph: Graph, node: Node, spec: S) -> S | None:
        """The specification that serves all lengths; None if there is none for this node.

        Args:
            graph: INTEGER stage, with a variable length.
            node: one that reads or writes a tensor with the variable axis.
            spec: for the longest run.
        """

    @abstractmethod
    def sizes(self, graph: Graph, node: Node, spec: S) -> tuple[Extent, ...]:
        """The last arguments of the function that `spec` gave, in its order."""


def operands(node: Node) -> tuple[str, ...]:
    """The inputs of a node that are tensors, in the order of its operator's record."""
    return qops.tensors_of(node.attrs.Inputs.of(node.inputs))


def _always(_graph: Graph, _node: Node, _target: Target) -> bool:
    return True


def _any_types(_graph: Graph, _node: Node) -> bool:
    return True


def _no_arguments(
    _graph: Graph, _node: Node, _spec: Any, _pool: ConstantPool
) -> tuple[Params, ...]:
    return ()


def _unread(_spec: Any) -> None:
    return None


def _uncounted(_spec: Any, _run: Run) -> None:
    return None


def _in_other_places(_spec: Any) -> bool:
    return False


def _no_variants(_spec: Any) -> tuple[()]:
    return ()


def _not_planned(_graph: Graph, _node: Node, _decision: Any) -> None:
    return None


def _fixed_width(_node: Node, _spec: Any) -> None:
    return None


@dataclass(frozen=True, slots=True)
class KernelFamily(Generic[S]):
    """One family of kernels.

    Attributes:
        spec_type: the class of its specifications; its `family` is the family's name.
        operators: the operators that it computes, classes of the integer stage of `edgec.ir`.
        spec: the specification for a node that `accepts` has accepted.
        overlap: how far the output may lie over each tensor operand, from a specification.
        in_place: the function is right only where the output lies byte for byte over its first
            tensor operand, or nowhere over it: the first of these then saves memory, and the
            overlap is None.  Default: it has no such order.
        types: whether it has code for the element types and the form of a node of its operators,
            whatever the target; default: for all of them.
        accepts: whether it serves a node on a target, and is worth it where a later family would
            serve the node as well; default: every node of its operators.
        computes: whether it can compute a node on a target at all, fast or not; None: where it
            accepts it.
        variants: other specifications for the same node, which the family could have chosen.
            Default: none.
        tensors: the inputs of a node that the function reads, in its order.  Default: those that
            are tensors (`ir.qops.operands`).
        arguments: the argument structs of one call, in the function's order; constants go into the
            pool in the layout that the function reads.  Default: none.
        lengths: how it serves a variable length; None: it does not.
        planned: the specification for a node for which a planner has decided; None where the
            decision is for another family.  Default: no planner decides for it.
        runtime_bits: the layer's own width of activations, for a function that takes the width as
            an argument; None for others.
        constant_stem: what a constant among the tensor operands holds, as a C identifier.
        weight_reads: how often a call reads the weights that its first argument struct names, for a
            kernel that gains by a copy of them in RAM.  Default: it does not.
        parts: what runs in a call; None for specifications that nobody counts.  Default: all of
            them.
        prices: the table of prices that its parts are in; "": one of its own.
        saves_flash: it is chosen for the flash that it saves, whatever it takes.
        saves_flash_of_small: the same where the target prefers small code; else by cycles.
        vectorized: its loops are C that a compiler for NEON turns into vector instructions or not,
            which no count foretells: there its estimates choose nothing.
    """

    spec_type: type[S]
    operators: tuple[type, ...]
    spec: Callable[[Graph, Node, Target], S]
    overlap: Callable[[S], Distances]
    types: Callable[[Graph, Node], bool] = _any_types
    accepts: Callable[[Graph, Node, Target], bool] = _always
    computes: Callable[[Graph, Node, Target], bool] | None = None
    variants: Callable[[S], tuple[S, ...]] = _no_variants
    tensors: Callable[[Node], tuple[str, ...]] = operands
    arguments: Callable[[Graph, Node, S, ConstantPool], tuple[Params, ...]] = _no_arguments
    in_place: Callable[[S], bool] = _in_other_places
    lengths: Lengths[S] | None = None
    planned: Callable[[Graph, Node, Any], S | None] = _not_planned
    runtime_bits: Callable[[Node, S], int | None] = _fixed_width
    constant_stem: str = "constant"
    weight_reads: Callable[[S], WeightReads | None] = _unread
    parts: Callable[[S, Run], Parts | None] = _uncounted
    prices: str = ""
    saves_flash: bool = False
    saves_flash_of_small: bool = False
    vectorized: bool = False

    def is_kept(self, target: Target) -> bool:
        """Whether it is chosen for flash on a target, so that cycles are not compared."""
        return self.saves_flash or (self.saves_flash_of_small and target.takes_few_kernels)

    def has_code_for(self, graph: Graph, node: Node) -> bool:
        """Whether the node is one of its operators, with types and a form that it has code for."""
        return isinstance(node.attrs, self.operators) and self.types(graph, node)

    @property
    def name(self) -> str:
        """Name of the family, unique among all."""
        return self.spec_type.family

    @property
    def price_table(self) -> str:
        """Name of the table that prices the parts of its kernels."""
        return self.prices or self.name

    def way(self, spec: S) -> str:
        """Name of a specification among all that could compute a node.

        It is that of the family, with the words in a turn of the loop where it could have others.
        """
        if self.variants is _no_variants or not isinstance(spec, Unrolled):
            return self.name
        return f"{self.name} by {spec.unrolled}"

    @property
    def template(self) -> Path:
        """Path of the family's `.c.j2` file."""
        return self.spec_type.template


def template_beside(module: str, name: str) -> Path:
    """The path of a template in the folder of a module, of which `module` is `__file__`."""
    return Path(module).resolve().parent / f"{name}.c.j2"
