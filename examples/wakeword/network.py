"""The network: convolutions over time that look back only, so that it runs frame by frame."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy

CHANNELS = 48
BLOCKS = 4
LONG = 9
"""Frames that a depthwise convolution sees."""
CONTEXT = 3 + BLOCKS * (LONG - 1) + 2
"""Frames that a score depends on: 1.2 seconds."""
_HOP, _WINDOW = 512, 1024
_AFTER = 10
"""Frames after the end of the word in which it must be heard."""
_BEFORE = 8
"""Frames before the end of the word in which it may be."""
_BATCH = 100
_OTHERS = 5.0
"""Weight of what is not the word: it is heard all day."""


class WakeWord(nn.Module):
    """x float32 [N, T, F], features of frames -> [N, T - CONTEXT + 1], scores of 0 to 1."""

    def __init__(self, features: int) -> None:
        super().__init__()
        layers: list[nn.Module] = [*_layer(features, CHANNELS, 3)]
        for _ in range(BLOCKS):
            layers += _layer(CHANNELS, CHANNELS, LONG, CHANNELS) + _layer(CHANNELS, CHANNELS, 1)
        self.body = nn.Sequential(*layers, nn.Conv1d(CHANNELS, 1, 3))

    def logits(self, x: Tensor) -> Tensor:
        """The scores before the last function."""
        return self.body(x.transpose(1, 2))[:, 0]

    def forward(self, x: Tensor) -> Tensor:
        """The scores."""
        return torch.sigmoid(self.logits(x))


def _layer(inputs: int, outputs: int, size: int, groups: int = 1) -> list[nn.Module]:
    return [
        nn.Conv1d(inputs, outputs, size, groups=groups, bias=False),
        nn.BatchNorm1d(outputs),
        nn.ReLU(),
    ]


def trained(
    net: WakeWord,
    features: Tensor,
    ends: np.ndarray,
    epochs: int,
    say: Callable[[str], None],
) -> None:
    """Train a network.

    Where the word is said, the largest score of the frames in which it ends must be high; scores
    of all other frames must be low, the highest of each recording above all.

    Args:
        net: the network.
        features: float32 [N, T, F].
        ends: sample at which the word ends; -1 where nobody says it.
        epochs: how often each recording is used.
        say: gets a line for each tenth of them.
    """
    torch.manual_seed(0)
    # More of them wait for each other: the layers are small.
    torch.set_num_threads(1)
    # Score t has heard the samples up to this one.
    heard = (np.arange(features.shape[1] - CONTEXT + 1) + CONTEXT - 1) * _HOP + _WINDOW
    late = torch.from_numpy((heard - ends[:, None]) // _HOP)
    spoken = torch.from_numpy(ends >= 0)
    wanted = (late >= 0) & (late < _AFTER) & spoken[:, None]
    other = ~((late >= -_BEFORE) & (late < 2 * _AFTER) & spoken[:, None])
    optimizer = torch.optim.AdamW(net.parameters(), 3e-3, weight_decay=1e-2)
    steps = epochs * (len(features) // _BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, total_steps=steps)
    for epoch in range(epochs):
        net.train()
        total = 0.0
        for rows in torch.randperm(len(features))[: steps // epochs * _BATCH].split(_BATCH):
            # Louder or quieter, and another microphone.
            x = features[rows] + 0.03 * torch.randn(len(rows), 1, 1)
            x = (x + 0.02 * torch.randn(len(rows), 1, x.shape[2])).clamp(0, 1)
            logits = net.logits(x)
            low = torch.full_like(logits, -30.0)
            best = torch.where(wanted[rows], logits, low).amax(1)[spoken[rows]]
            worst = torch.where(other[rows], logits, low).topk(3, 1).values
            loss = cross_entropy(best, torch.ones_like(best))
            loss = loss + _OTHERS * cross_entropy(worst, torch.zeros_like(worst))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += float(loss.detach())
        if epoch % max(epochs // 10, 1) == 0 or epoch == epochs - 1:
            say(f"epoch {epoch + 1}: loss {total * epochs / steps:.4f}")
    net.eval()


def export(net: WakeWord, path: Path) -> None:
    """Write the network for one window, its normalizations folded by the exporter."""
    x = torch.zeros(1, CONTEXT, net.body[0].in_channels)
    torch.onnx.export(
        net, (x,), path, input_names=["features"], output_names=["score"], opset_version=18,
        dynamo=True, external_data=False, verbose=False,
    )  # fmt: skip
    model = onnx.load(path)
    del model.metadata_props[:], model.graph.metadata_props[:]
    for item in (*model.graph.node, *model.graph.value_info, *model.graph.initializer):
        del item.metadata_props[:]
        item.doc_string = ""
    onnx.save(model, path)
