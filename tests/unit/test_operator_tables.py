"""Every operator has an entry in each table, or a reason why it has none."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pytest

from edgec.exporters.onnx.export import EXPORTERS
from edgec.floatrun.executor import RULES
from edgec.ir import ops
from edgec.ir.operator import Operator
from edgec.ir.real import RealOperator
from edgec.quant.convert.converters import CONVERTERS

_BASES = (ops.Arithmetic, ops.Elementwise, ops.Norm, ops.OneInput, ops.Weighted)
OPERATORS = {
    kind
    for kind in vars(ops).values()
    if isinstance(kind, type) and issubclass(kind, RealOperator) and kind not in _BASES
}
"""Every real operator that a graph may hold."""

WITHOUT_CODES = {
    ops.BatchNormalization: "it is folded into the layer before it",
    ops.QuantizeLinear: "`absorb_qdq` makes parameters of it",
    ops.DequantizeLinear: "`absorb_qdq` makes parameters of it",
    ops.SpaceToBatch: "`fuse_dilation` makes dilated convolutions or moves of it",
    ops.BatchToSpace: "`fuse_dilation` makes dilated convolutions or moves of it",
    ops.Expand: "masks are followed through it; of real numbers it becomes copies",
    ops.Spectrum: "`fuse_log_mel` makes a part of `LogMel` of it",
}
BY_THE_EXECUTOR = {
    ops.QuantizeLinear: "the executor gives it the parameters",
    ops.DequantizeLinear: "the executor gives it the parameters",
    ops.Carry: "the executor keeps it from turn to turn (`floatrun.cycles`)",
}
WITHOUT_TRAINING = {
    ops.Conv: "a layer with weights of its own (`finetune.layers`)",
    ops.Gemm: "a layer with weights of its own (`finetune.layers`)",
    ops.ConvTranspose: "its weights are not trained",
    ops.BatchNormalization: "it is folded before training",
    ops.QuantizeLinear: "float networks are trained",
    ops.DequantizeLinear: "float networks are trained",
    ops.ArgMax: "it has no gradient",
    ops.TopK: "no network with one was trained yet",
    ops.SpaceToBatch: "`fuse_dilation` makes dilated convolutions or moves of it",
    ops.BatchToSpace: "`fuse_dilation` makes dilated convolutions or moves of it",
    ops.Compare: "it has no gradient",
    ops.Maximum: "no network with one was trained yet",
    ops.Minimum: "no network with one was trained yet",
    ops.Resize: "no network with one was trained yet",
    ops.TreeEnsemble: "trees have no gradient",
    ops.Embedding: "networks of token ids are not trained",
    ops.Where: "networks of token ids are not trained",
    ops.Cast: "networks of token ids are not trained",
    ops.Expand: "networks of token ids are not trained",
    ops.TurnSlice: "networks with loops or state are not trained",
    ops.TurnStack: "networks with loops or state are not trained",
    ops.TurnLast: "networks with loops or state are not trained",
    ops.Carry: "networks with loops or state are not trained",
    ops.Update: "networks with loops or state are not trained",
    ops.LogMel: "networks are trained on features, not on samples of sound",
    ops.Spectrum: "networks are trained on features, not on samples of sound",
}


def check(table: Collection[type[Operator]], without: Mapping[type[RealOperator], str]) -> None:
    names = sorted(kind.__name__ for kind in OPERATORS - set(table) - set(without))
    assert not names, f"neither an entry nor a reason: {names}"
    assert not set(table) & set(without)
    assert set(table) <= OPERATORS


def test_there_are_operators() -> None:
    assert {ops.Conv, ops.Attention, ops.Reshape} <= OPERATORS
    assert len(OPERATORS) > 25


def test_each_has_an_exporter() -> None:
    check(EXPORTERS, {})


def test_each_has_a_rule_in_float() -> None:
    check(RULES, BY_THE_EXECUTOR)


def test_each_has_a_converter() -> None:
    check(CONVERTERS, WITHOUT_CODES)


def test_each_can_be_trained_through() -> None:
    operators = pytest.importorskip("edgec.finetune.operators", exc_type=ImportError)
    check(operators.OPERATORS, WITHOUT_TRAINING)
