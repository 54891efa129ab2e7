"""What the operator handlers share: the graph they write, and the model's weight pools."""

from __future__ import annotations

from edgec.importers.common.builder import RealBuilder
from edgec.importers.onnx.weight_pools import Pools


class Context(RealBuilder):
    """The graph under construction.

    Attributes:
        pools: weight pools, and what was looked up in them.
    """

    def __init__(self, name: str, reserved: frozenset[str]) -> None:
        super().__init__(name, reserved)
        self.pools = Pools()
