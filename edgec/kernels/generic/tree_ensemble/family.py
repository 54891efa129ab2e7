"""Decision trees in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool, end_fields
from edgec.kernels.common.params import Params
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.generic.reduce.family import ReduceParams
from edgec.target.target import Target

_SUM_BYTES = 4


@dataclass(frozen=True, slots=True)
class TreeEnsemble:
    """Sums of the leaves that trees lead to.

    Attributes:
        trees: their number.
        outputs: numbers of a leaf.
        shift: right shift of the requantization.
    """

    family: ClassVar[str] = "tree_ensemble"
    template: ClassVar[Path] = template_beside(__file__, "tree_ensemble")
    trees: int
    outputs: int
    shift: int

    @property
    def scratch_bytes(self) -> int:
        """The sums."""
        return _SUM_BYTES * self.outputs

    @property
    def macs(self) -> int:
        """Nothing is multiplied."""
        return 0

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"{self.trees} decision trees, {self.outputs} outputs"


def spec(graph: Graph, node: Node, _target: Target) -> TreeEnsemble:
    """The specification for a QTreeEnsemble."""
    attrs, inputs = node.attrs_as(qops.QTreeEnsemble), qops.QTreeEnsemble.Inputs.of(node.inputs)
    trees, outputs = graph.shape(inputs.roots)[0], graph.shape(node.output)[-1]
    return TreeEnsemble(trees, outputs, attrs.output.shift)


def overlap(_spec: TreeEnsemble) -> Distances:
    """All features are read before the first output is written; the tables are constants."""
    return (0, None, None, None, None)


def arguments(
    _graph: Graph, node: Node, _spec: TreeEnsemble, _pool: ConstantPool
) -> tuple[Params, ...]:
    """Multiplier, zero point and bounds; codes are compared as they are."""
    attrs = node.attrs_as(qops.QTreeEnsemble)
    return (ReduceParams(attrs.multiplier, 0, **end_fields(attrs.output)),)


FAMILY = KernelFamily(
    spec_type=TreeEnsemble,
    operators=(qops.QTreeEnsemble,),
    spec=spec,
    overlap=overlap,
    arguments=arguments,
    constant_stem="trees",
)
