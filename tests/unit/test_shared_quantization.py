"""Tests share what equal arguments quantize to, and nothing else."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
from quant_samples import perceptron, samples
from shared_quantization import SharedQuantization, digest

from edgec.base.options import CompileOptions, Precision, QuantOptions
from edgec.kernels.price import BoardPrices
from edgec.target.board import load_board


def test_equal_arguments_share_a_result() -> None:
    shared, data = SharedQuantization(), samples(perceptron(), 2)
    told: list[list[tuple[object, ...]]] = [[], []]
    first = shared.quantize(perceptron(), data, CompileOptions(), lambda *w: told[0].append(w))
    again = {name: array.copy() for name, array in data.items()}
    options = CompileOptions(build=False)  # says nothing of quantization
    second = shared.quantize(perceptron(), again, options, lambda *w: told[1].append(w))
    assert second is first
    assert told[1] == told[0] != []


def test_other_arguments_have_their_own() -> None:
    shared, data = SharedQuantization(), samples(perceptron(), 2)
    found = [shared.quantize(perceptron(), data, CompileOptions())]
    ((name, array),) = data.items()
    moved = array.copy()
    moved.flat[-1] *= 1.0001
    found.append(shared.quantize(perceptron(), {name: moved}, CompileOptions()))
    exact = CompileOptions(quant=QuantOptions(equalize=False))
    found.append(shared.quantize(perceptron(), data, exact))
    found.append(shared.quantize(perceptron(), None, CompileOptions()))
    graph = perceptron()
    constant = next(c for c in graph.constants.values() if c.array.ndim == 1)
    other = {**graph.constants, constant.name: type(constant)(constant.name, constant.array * 1.5)}
    found.append(shared.quantize(graph.replace(constants=other), data, CompileOptions()))
    assert len({id(each) for each in found}) == len(found)


def test_boards_share_what_is_not_chosen_by_what_they_hold() -> None:
    data = samples(perceptron(), 2)
    boards = [BoardPrices(load_board(name)) for name in ("nucleo", "microbit")]
    shared = SharedQuantization()
    one, other = (shared.quantize(perceptron(), data, CompileOptions(), prices=b) for b in boards)
    assert one is other
    mixed = CompileOptions(quant=QuantOptions(precision=Precision.AUTO))
    one, other = (shared.quantize(perceptron(), data, mixed, prices=b) for b in boards)
    assert one is not other


def test_what_was_logged_is_logged_again(caplog: pytest.LogCaptureFixture) -> None:
    shared, options, said = SharedQuantization(), CompileOptions(), []
    for _ in range(2):
        caplog.clear()
        with caplog.at_level(logging.WARNING, "edgec"):
            shared.quantize(perceptron(), None, options)
        said.append(caplog.messages)
    assert said[0] == said[1] != []


def test_dumps_are_written_each_time(tmp_path: Path) -> None:
    shared, data = SharedQuantization(), samples(perceptron(), 2)
    for name in ("one", "two"):
        shared.quantize(perceptron(), data, CompileOptions(dump_ir=tmp_path / name))
        assert any((tmp_path / name).iterdir())


def test_what_has_no_known_content_is_refused() -> None:
    assert digest({"a": np.zeros(2)}) != digest({"a": np.zeros(2, np.float32)})
    with pytest.raises(TypeError):
        digest([object()])
