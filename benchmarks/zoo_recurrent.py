"""Recurrent architectures, written out small, for `zoo.py` and `recurrent.py`.

Inputs are sequences, batch first.  Those with a `state` are networks of one step or one frame: the
state is an input and an output.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

_SEED = 11
_WORDS = 32
_SMOOTH = 0.8
"""Part of a step that the next one keeps: neighbouring frames of sound or motion are alike."""


@dataclass(frozen=True)
class Recurrent:
    """A network and its inputs.

    Attributes:
        make: the network.
        x: shape of its input without the batch.
        states: shapes of its states by input name, without the batch; a state `h` is given as `hn`.
        words: the input holds indices of words.
    """

    make: Callable[[], nn.Module]
    x: tuple[int, ...]
    states: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    words: bool = False


def sequences(count: int, shape: tuple[int, ...], *, words: bool = False) -> np.ndarray:
    """Inputs whose neighbouring steps, along the first axis, are alike; [count, *shape]."""
    rng = np.random.default_rng(_SEED)
    if words:
        return rng.integers(0, _WORDS, (count, *shape))
    noise = rng.normal(size=(count, *shape))
    if len(shape) > 1:
        for step in range(1, shape[0]):
            fresh = np.sqrt(1 - _SMOOTH**2) * noise[:, step]
            noise[:, step] = _SMOOTH * noise[:, step - 1] + fresh
    return noise.astype(np.float32)


class _Last(nn.Module):
    """A layer over the steps, and a decision from its last one."""

    def __init__(self, layer: nn.RNNBase, classes: int) -> None:
        super().__init__()
        both = 2 if layer.bidirectional else 1
        self.layer, self.out = layer, nn.Linear(both * layer.hidden_size, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.layer(x)[0][:, -1])


class _Every(nn.Module):
    """A layer over the steps, and a decision at each of them."""

    def __init__(self, layer: nn.RNNBase, classes: int, words: int = 0) -> None:
        super().__init__()
        both = 2 if layer.bidirectional else 1
        self.words = nn.Embedding(words, layer.input_size) if words else nn.Identity()
        self.layer, self.out = layer, nn.Linear(both * layer.hidden_size, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.layer(self.words(x))[0])


class _KeywordCrnn(nn.Module):
    """Convolution over time and features, a GRU over time, a decision."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(1, 8, (5, 4), (2, 2)), nn.BatchNorm2d(8)
        self.layer, self.out = nn.GRU(32, 32, batch_first=True), nn.Linear(32, 12)

    def forward(self, x: Tensor) -> Tensor:
        y = functional.relu(self.norm(self.conv(x.unsqueeze(1))))
        y = y.permute(0, 2, 1, 3).flatten(2)
        return self.out(self.layer(y)[0][:, -1])


class _Denoiser(nn.Module):
    """The shape of RNNoise: three GRUs that read each other's outputs, gains and voice activity."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Linear(42, 24)
        self.voice, self.noise = nn.GRU(24, 24, batch_first=True), nn.GRU(90, 48, batch_first=True)
        self.clean = nn.GRU(114, 96, batch_first=True)
        self.gains, self.activity = nn.Linear(96, 22), nn.Linear(24, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        dense = torch.tanh(self.dense(x))
        voice = self.voice(dense)[0]
        noise = self.noise(torch.cat([dense, voice, x], -1))[0]
        clean = self.clean(torch.cat([voice, noise, x], -1))[0]
        return torch.sigmoid(self.gains(clean)), torch.sigmoid(self.activity(voice))


class _Mask(nn.Module):
    """The first half of DTLN: two LSTMs give a mask for the magnitudes they read."""

    def __init__(self) -> None:
        super().__init__()
        self.layers, self.out = nn.LSTM(64, 48, 2, batch_first=True), nn.Linear(48, 64)

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.sigmoid(self.out(self.layers(x)[0]))


class _Cells(nn.Module):
    """A cell called step by step, as it is written for a microcontroller."""

    def __init__(self, cell: nn.RNNCellBase, classes: int) -> None:
        super().__init__()
        self.cell, self.out = cell, nn.Linear(cell.hidden_size, classes)

    def forward(self, x: Tensor) -> Tensor:
        state = None
        for step in range(x.shape[1]):
            state = self.cell(x[:, step], state)
        return self.out(state[0] if isinstance(state, tuple) else state)


class _Coder(nn.Module):
    """An LSTM reads a sequence, another one writes it again from the last state."""

    def __init__(self) -> None:
        super().__init__()
        self.reader, self.writer = (
            nn.LSTM(6, 16, batch_first=True),
            nn.LSTM(16, 16, batch_first=True),
        )
        self.out = nn.Linear(16, 6)

    def forward(self, x: Tensor) -> Tensor:
        last = self.reader(x)[0][:, -1:]
        return self.out(self.writer(last.expand(-1, x.shape[1], -1))[0])


class _Attended(nn.Module):
    """A weighted mean over the outputs of a GRU."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.GRU(8, 24, batch_first=True, bidirectional=True)
        self.score, self.out = nn.Linear(48, 1), nn.Linear(48, 5)

    def forward(self, x: Tensor) -> Tensor:
        y = self.layer(x)[0]
        return self.out((torch.softmax(self.score(y), 1) * y).sum(1))


class _Step(nn.Module):
    """One step of a layer and a decision; its states are inputs and outputs."""

    def __init__(self, layer: nn.RNNBase, classes: int) -> None:
        super().__init__()
        self.layer, self.out = layer, nn.Linear(layer.hidden_size, classes)

    def forward(self, x: Tensor, *states: Tensor) -> tuple[Tensor, ...]:
        given = tuple(state.transpose(0, 1) for state in states)
        y, new = self.layer(x.unsqueeze(1), given if len(given) > 1 else given[0])
        made = new if isinstance(new, tuple) else (new,)
        return (self.out(y[:, 0]), *(state.transpose(0, 1) for state in made))


class _Vad(nn.Module):
    """The shape of Silero's: convolutions over a frame, an LSTM, a probability of speech."""

    def __init__(self) -> None:
        super().__init__()
        self.frames = nn.Conv1d(1, 32, 32, 16, bias=False)
        self.first, self.second = nn.Conv1d(32, 32, 3, 2, 1), nn.Conv1d(32, 64, 3, 2, 1)
        self.cell, self.out = nn.LSTMCell(64, 64), nn.Conv1d(64, 1, 1)

    def forward(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        y = self.frames(x.unsqueeze(1)).abs()
        y = functional.relu(self.second(functional.relu(self.first(y)))).mean(-1)
        h, c = self.cell(y, (state[:, 0], state[:, 1]))
        speech = torch.sigmoid(self.out(functional.relu(h).unsqueeze(-1))).squeeze(-1)
        return speech, torch.stack([h, c], 1)


def _gru(features: int, units: int, layers: int = 1, *, both: bool = False) -> nn.GRU:
    return nn.GRU(features, units, layers, batch_first=True, bidirectional=both)


def _lstm(features: int, units: int, layers: int = 1, *, both: bool = False) -> nn.LSTM:
    return nn.LSTM(features, units, layers, batch_first=True, bidirectional=both)


NETWORKS: Mapping[str, Recurrent] = MappingProxyType(
    {
        "attended_gru": Recurrent(_Attended, (24, 8)),
        "characters_lstm": Recurrent(
            lambda: _Every(_lstm(24, 48), _WORDS, _WORDS), (20,), words=True
        ),
        "coder_lstm": Recurrent(_Coder, (16, 6)),
        "crnn_gru": Recurrent(_KeywordCrnn, (49, 10)),
        "denoiser_gru": Recurrent(_Denoiser, (20, 42)),
        "elman": Recurrent(
            lambda: _Last(nn.RNN(6, 24, batch_first=True, nonlinearity="relu"), 4), (16, 6)
        ),
        "gru_cells": Recurrent(lambda: _Cells(nn.GRUCell(6, 24), 5), (12, 6)),
        "gru_imu": Recurrent(lambda: _Last(_gru(6, 32), 5), (50, 6)),
        "gru_step": Recurrent(lambda: _Step(_gru(8, 32), 4), (8,), {"h": (1, 32)}),
        "lstm_cells": Recurrent(lambda: _Cells(nn.LSTMCell(6, 24), 5), (12, 6)),
        "lstm_imu": Recurrent(lambda: _Last(_lstm(6, 32, 2), 5), (50, 6)),
        "lstm_step": Recurrent(lambda: _Step(_lstm(8, 32), 4), (8,), {"h": (1, 32), "c": (1, 32)}),
        "mask_lstm": Recurrent(_Mask, (20, 64)),
        "rnn": Recurrent(lambda: _Last(nn.RNN(6, 24, batch_first=True), 4), (16, 6)),
        "tagger_lstm": Recurrent(lambda: _Every(_lstm(12, 24, 2, both=True), 7), (16, 12)),
        "vad_lstm": Recurrent(_Vad, (512,), {"state": (2, 64)}),
    }
)
"""By name."""


def inputs_of(network: Recurrent, count: int) -> dict[str, np.ndarray]:
    """Sequences, and states that are 0."""
    arrays = {"x": sequences(count, network.x, words=network.words)}
    return arrays | {
        name: np.zeros((count, *shape), np.float32) for name, shape in network.states.items()
    }
