"""Fate of the nodes of a model's file: the layer that computes each, and those without one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from edgec.base.errors import EdgecError
from edgec.importers.formats import inspect_model
from edgec.report.console import shortened
from edgec.report.model import LayerReport, Report
from edgec.workflow.session import MODEL_COPY

_NAME_CHARACTERS = 48


@dataclass(frozen=True, slots=True)
class FileNode:
    """A node of the file: its operator there ("" where it is not known) and its name, untrusted."""

    op: str
    name: str

    @property
    def short_name(self) -> str:
        """As much of the name as fits a line."""
        return shortened(self.name, _NAME_CHARACTERS)


@dataclass(frozen=True, slots=True)
class LayerOrigin:
    """A layer and the nodes that it computes.

    Attributes:
        number: the layer's number.
        layer: the layer.
        nodes: in the file's order of work.
    """

    number: int
    layer: LayerReport
    nodes: tuple[FileNode, ...]


@dataclass(frozen=True, slots=True)
class GoneNodes:
    """Nodes of one operator that no layer computes.

    Attributes:
        op: the operator.
        names: their names, untrusted.
    """

    op: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Origins:
    """Layers with their nodes of the file, and nodes without a layer.

    Attributes:
        layers: every layer.
        gone: by operator, most first.
    """

    layers: tuple[LayerOrigin, ...]
    gone: tuple[GoneNodes, ...]


def origins_of(folder: Path, report: Report) -> Origins:
    """Hold the layers of a build against the copy of the file that it was made from.

    Args:
        folder: build folder.
        report: its report.
    """
    nodes = _nodes(folder, report)
    ops = {node.name: node.op for node in nodes}
    layers = tuple(
        LayerOrigin(number, layer, tuple(FileNode(ops.get(n, ""), n) for n in layer.sources))
        for number, layer in enumerate(report.layers)
    )
    used = {name for layer in report.layers for name in layer.sources}
    return Origins(layers, _by_operator([node for node in nodes if node.name not in used]))


def _nodes(folder: Path, report: Report) -> list[FileNode]:
    """The nodes of the file; none where it is not there any more."""
    shapes = {tensor.name: tensor.shape for tensor in report.inputs}
    for path in sorted(folder.glob(f"{MODEL_COPY}.*")):
        try:
            return [FileNode(node.op, node.name) for node in inspect_model(path, shapes).nodes]
        except EdgecError:
            return []
    return []


def _by_operator(nodes: Sequence[FileNode]) -> tuple[GoneNodes, ...]:
    names: dict[str, list[str]] = {}
    for node in nodes:
        names.setdefault(node.op, []).append(node.name)
    found = [GoneNodes(op, tuple(each)) for op, each in names.items()]
    return tuple(sorted(found, key=lambda each: (-len(each.names), each.op)))
