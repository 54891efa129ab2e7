"""Functions of functions in PyTorch: the values of numpy, and gradients through each step."""

from __future__ import annotations

import numpy as np
import pytest

from edgec.base.errors import TrainingError
from edgec.floatrun.ops_elementwise import element_function
from edgec.ir import ops
from edgec.ir.graph import Node
from edgec.ir.ops import UnaryKind

torch = pytest.importorskip("torch", exc_type=ImportError)
pytestmark = pytest.mark.torch
operators = pytest.importorskip("edgec.finetune.operators", exc_type=ImportError)


def node(*steps: ops.Step) -> Node:
    return Node("y", ops.Unary(UnaryKind.COMPOSED, steps=steps), ("x",), ("y",))


def test_a_composition_has_the_values_of_numpy_and_a_gradient() -> None:
    made = node(
        ops.Step(ops.Sub(), (None, 0), 0.5),
        ops.Step(ops.Unary(UnaryKind.TANH), (1,)),
        ops.Step(ops.Mul(), (2, 0)),
        ops.Step(ops.Clip(-1.0, 0.25), (3,)),
    )
    x = torch.linspace(-3, 3, 25, dtype=torch.float64, requires_grad=True)
    y = operators.operator(made)(made.attrs, ops.OneInput.Inputs(x))
    wanted = element_function(made.attrs)(x.detach().numpy())
    np.testing.assert_allclose(y.detach().numpy(), wanted, rtol=1e-6)
    y.sum().backward()
    assert torch.isfinite(x.grad).all()
    assert (x.grad != 0).any()


def test_a_step_that_cannot_be_trained_is_refused() -> None:
    made = node(ops.Step(ops.Unary(UnaryKind.NOT), (0,)), ops.Step(ops.Unary(UnaryKind.SIN), (1,)))
    with pytest.raises(TrainingError, match="A function of functions cannot be fine-tuned"):
        operators.operator(made)
