"""The student: the network with discrete weights, with its pools or steps, ranges and norms."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn

from edgec.base.errors import WeightPoolError
from edgec.finetune.batches import Samples
from edgec.finetune.layers import Layer
from edgec.finetune.network import Network
from edgec.finetune.pooled.levels import TrainedLevels
from edgec.finetune.pooled.options import FinetuneOptions
from edgec.finetune.pooled.pools import TrainedPool
from edgec.finetune.pooled.weights import TrainedWeights
from edgec.finetune.run import mixed
from edgec.ir import ops
from edgec.ir.graph import Constant, Graph
from edgec.ir.weight_pool import PooledWeights

_MEASURED = 4096
"""Samples that statistics are taken from."""
_RANGE_SAMPLES = 512
"""Samples that ranges are taken from."""


class Student:
    """A network with pooled weights, or weights of few bits, in training.

    Attributes:
        network: what is trained.
        pools: its weight pools, or the layers with weights of few bits.
        augmentation: how the samples are varied that statistics and ranges are taken from.
    """

    def __init__(
        self,
        graph: Graph,
        original: Network,
        samples: Samples,
        options: FinetuneOptions,
        device: torch.device,
    ) -> None:
        """A graph with normalizations and ranges, before the first step.

        Args:
            graph: some of its weights are pooled, or whole numbers of few bits.
            original: the network before.
            samples: training data.
            options: the recipe.
            device: the device to train on.

        Raises:
            WeightPoolError: there are no such weights, or the networks differ.
        """
        weights = discrete_weights(graph, options.levels)
        self.device = device
        self._samples = samples
        self.augmentation = options.augmentation
        self._lowest = min(options.bits)
        self.network = Network(graph, tuple(weights)).to(device)
        self._normalize()
        self.pools = nn.ModuleList(self._pools(weights, original, options)).to(device)
        self.apply_pools()
        self.reestimate()
        self.choose_ranges()
        self.reestimate()

    @property
    def trained_pools(self) -> list[TrainedWeights]:
        """The pools, typed."""
        return [pool for pool in self.pools if isinstance(pool, TrainedWeights)]

    def apply_pools(self, *, assign: bool = False) -> None:
        """Set the weights of pooled layers, after a new assignment if asked for."""
        for pool in self.trained_pools:
            if assign:
                pool.assign()
            pool.apply_to_layers()

    def parameters(self) -> list[nn.Parameter]:
        """All that is trained."""
        found = [*self.network.parameters(), *self.pools.parameters()]
        return [parameter for parameter in found if parameter.requires_grad]

    def pull(self, share: float) -> None:
        """Move latent weights towards their vectors."""
        for pool in self.trained_pools:
            pool.pull(share)

    def keep_positive(self) -> None:
        """Undo a step that made a scale negative."""
        for pool in self.trained_pools:
            for layer in pool.layers:
                layer.keep_positive()

    def reestimate(self) -> None:
        """Take the statistics of the normalizations from training data anew."""
        self.network.train()
        self.network.bits = 8
        for norm in self.network.norms:
            norm.reset_running_stats()
            norm.momentum = None
        with torch.no_grad(), mixed(self.device):
            for inputs in self._samples.drawn(_MEASURED, self.augmentation):
                self.network(inputs)
        for norm in self.network.norms:
            norm.momentum = 0.1

    def choose_ranges(self) -> None:
        """Choose the ranges of what pooled layers read, for the lowest width in training."""
        self.network.eval()
        ranges = self.network.ranges.values()
        for each in ranges:
            each.watch(True)
        with torch.no_grad(), mixed(self.device):
            for inputs in self._samples.drawn(_RANGE_SAMPLES, self.augmentation):
                self.network(inputs)
        for each in ranges:
            each.watch(False, self._lowest)

    def accuracy(self, samples: Samples, bits: int) -> float:
        """Share of samples whose largest output is their label."""
        self.network.eval()
        self.network.bits = bits
        hits = 0
        with torch.no_grad(), mixed(self.device):
            for inputs, labels in samples.ordered():
                hits += int((self.network(inputs).argmax(1) == labels).sum())
        return hits / samples.count

    def _normalize(self) -> None:
        """Put normalizations after the convolutions; the network computes what it did."""
        convolutions = [layer for layer in self.network.layers.values() if layer.is_conv]
        for layer in convolutions:
            layer.watched = []
        self.network.eval()
        with torch.no_grad():
            for inputs in self._samples.drawn(_MEASURED, self.augmentation):
                self.network(inputs)
        for layer in convolutions:
            layer.normalize()

    def _pools(
        self, weights: Mapping[str, Constant], original: Network, options: FinetuneOptions
    ) -> list[TrainedWeights]:
        """One for each pool of the graph (equal vectors are one pool), or for each layer."""
        originals: dict[Layer, torch.Tensor] = {}
        for name in weights:
            layer, before = self.network.layers[name], original.layers.get(name)
            if before is None or before.weight.shape != layer.weight.shape:
                raise WeightPoolError("the float network has no such layer", where=name)
            originals[layer] = before.weight.detach()
        layers = self.network.layers
        if options.levels is not None:
            return [
                TrainedLevels(layers[name], each.array, originals[layers[name]], options.levels)
                for name, each in weights.items()
            ]
        users: dict[bytes, dict[Layer, PooledWeights]] = {}
        for name, constant in weights.items():
            pooled = constant.pooled
            assert pooled is not None
            sharing = users.setdefault(pooled.pool.vectors.tobytes(), {})
            sharing[layers[name]] = pooled
        return [
            TrainedPool(
                sharing,
                originals,
                trained=options.train_pool,
                limits=options.limits,
            )
            for sharing in users.values()
        ]


def discrete_weights(graph: Graph, levels: tuple[int, int] | None) -> dict[str, Constant]:
    """Weights that are trained as discrete ones, by node name.

    Args:
        graph: REAL stage.
        levels: the least and the largest whole number that they are; None: those in a pool.

    Raises:
        WeightPoolError: there are none.
    """
    found: dict[str, Constant] = {}
    for node in graph.nodes:
        if not isinstance(node.attrs, ops.Weighted):
            continue
        weight = graph.constants.get(ops.layer_inputs(node).w)
        if weight is None:
            continue
        is_narrow = weight.quant is not None and weight.pooled is None
        if is_narrow and levels is not None:
            # Bytes of a layer that the file has quantized stay as they are.
            is_narrow = levels[0] <= weight.array.min() and weight.array.max() <= levels[1]
        if is_narrow if levels is not None else weight.pooled is not None:
            found[node.name] = weight
    if not found:
        kind = "is pooled" if levels is None else "has weights of few bits"
        raise WeightPoolError(
            f"no layer of the network {kind}", where=graph.name, hint="compress it first"
        )
    return found
