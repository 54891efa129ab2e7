"""Decision trees in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.form_ends import FormCall, form_call
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

_SUM_BYTES = 4


@dataclass(frozen=True, slots=True)
class TreeEnsemble:
    """Sums of the leaves that trees lead to.

    Attributes:
        trees: their number.
        outputs: numbers of a leaf.
        multiplier: factor of a sum.
        output: the form.
    """

    family: ClassVar[str] = "tree_ensemble"
    template: ClassVar[Path] = template_beside(__file__, "tree_ensemble")
    trees: int
    outputs: int
    multiplier: int
    output: qops.Requant31

    @property
    def scratch_bytes(self) -> int:
        """The sums."""
        return _SUM_BYTES * self.outputs

    @property
    def macs(self) -> int:
        """Nothing is multiplied."""
        return 0

    @property
    def call(self) -> FormCall:
        """How a code is made."""
        return form_call(self.output)

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"{self.trees} decision trees, {self.outputs} outputs"


def spec(graph: Graph, node: Node, _target: Target) -> TreeEnsemble:
    """The specification for a QTreeEnsemble."""
    attrs, inputs = node.attrs_as(qops.QTreeEnsemble), qops.QTreeEnsemble.Inputs.of(node.inputs)
    trees, outputs = graph.shape(inputs.roots)[0], graph.shape(node.output)[-1]
    return TreeEnsemble(trees, outputs, attrs.multiplier, attrs.output)


def overlap(_spec: TreeEnsemble) -> Distances:
    """All features are read before the first output is written; the tables are constants."""
    return (0, None, None, None, None)


FAMILY = KernelFamily(
    spec_type=TreeEnsemble,
    operators=(qops.QTreeEnsemble,),
    spec=spec,
    overlap=overlap,
    constant_stem="trees",
)
