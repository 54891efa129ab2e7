"""Nodes of onnxruntime that join several operators of ONNX, as these.

Its optimizer writes them (`SessionOptions.optimized_model_filepath`), as its transformer tools do.
Those whose layouts or numbers are those of one processor are not here (`obstacles`).

Source: onnxruntime ContribOperators.md; the order of inputs there is the order here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from edgec.importers.onnx.expansion import FIRST, LAST, Expansion, Rule

_DOMAIN = "com.microsoft"
_NORMALIZATION_OPSET = 17
"""The first opset with a LayerNormalization."""
_AXES_AS_INPUT = 18
_BOUNDS_AS_INPUT = 11
_PARAMETERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Relu": (),
        "Sigmoid": (),
        "Tanh": (),
        "LeakyRelu": ("alpha",),
        "HardSigmoid": ("alpha", "beta"),
        "HardSwish": (),
        "Elu": ("alpha",),
        "Selu": ("alpha", "gamma"),
        "Softplus": (),
        "Softsign": (),
        "ThresholdedRelu": ("alpha",),
        "Clip": ("min", "max"),
    }
)
"""Activations after a product, with the attributes that their numbers are."""


def conv(e: Expansion) -> bool:
    """FusedConv: X, W, B, what is added before the activation; activation and its numbers."""
    return convolved(e, [e.input(i) for i in range(3)], e.attributes)


def convolved(e: Expansion, inputs: Sequence[str], attributes: Mapping[str, Any]) -> bool:
    """A Conv of these inputs, input 3 added where there is one, and the activation."""
    attributes = dict(attributes)
    name = attributes.pop("activation", b"").decode()
    numbers = [float(number) for number in attributes.pop("activation_params", ())]
    if name not in ("", *_PARAMETERS):
        return False
    y = e.main("Conv", list(inputs), **attributes)
    if e.input(3):
        y = e.add("Add", [y, e.input(3)])
    return _activated(e, y, name, numbers)


def gemm(e: Expansion) -> bool:
    """FusedGemm: A, B, C; the activation, its numbers as activation_alpha, activation_gamma, ..."""
    own = {n: v for n, v in e.attributes.items() if not n.startswith("activation")}
    name = e.attributes.get("activation", b"").decode()
    if name not in ("", *_PARAMETERS):
        return False
    stated = [e.attributes.get(f"activation_{part}") for part in _PARAMETERS.get(name, ())]
    numbers = [float(number) for number in stated if number is not None]
    return _activated(e, e.main("Gemm", [e.input(i) for i in range(3)], **own), name, numbers)


def _activated(e: Expansion, y: str, name: str, numbers: Sequence[float]) -> bool:
    if not name:
        e.add("Identity", [y], e.node.output[0])
    elif name == "Clip" and e.opset >= _BOUNDS_AS_INPUT:
        bounds = [e.constant(np.asarray(n, np.float32), "bound") for n in numbers]
        e.add("Clip", [y, *bounds], e.node.output[0])
    elif name == "HardSwish":
        e.add("Mul", [y, e.add("HardSigmoid", [y], alpha=1 / 6, beta=0.5)], e.node.output[0])
    else:
        attributes: dict[str, Any] = dict(zip(_PARAMETERS[name], numbers, strict=False))
        e.add(name, [y], e.node.output[0], **attributes)
    return True


def matmul(e: Expansion) -> bool:
    """FusedMatMul, TransposeMatMul: matrices that are transposed before, a factor after.

    With transBatchA (B) the first axis is that of the rows, before the axes of the batch.
    """
    turned = [bool(e.attributes.get(f"trans{part}", 0)) for part in "AB"]
    first = [bool(e.attributes.get(f"transBatch{part}", 0)) for part in "AB"]
    alpha = float(e.attributes.get("alpha", 1.0))
    output = e.node.output[0] if alpha == 1.0 else ""
    inputs = [e.input(0), e.input(1)]
    if any((*turned, *first)):
        axes = ("j", "i") if turned[0] else ("i", "j"), ("k", "j") if turned[1] else ("j", "k")
        a, b = (
            f"{rows}...{columns}" if is_first else f"...{rows}{columns}"
            for (rows, columns), is_first in zip(axes, first, strict=True)
        )
        y = e.main("Einsum", inputs, output, equation=f"{a},{b}->...ik")
    else:
        y = e.main("MatMul", inputs, output)
    if not output:
        e.add("Mul", [y, constant_number(e, alpha)], e.node.output[0])
    return True


def gelu(e: Expansion) -> bool:
    """Gelu of X; BiasGelu: of the sum of A and B."""
    x = _sum(e, (0, 1))
    erf = e.add("Erf", [e.add("Mul", [x, constant_number(e, math.sqrt(0.5))])])
    return _half_of(e, x, erf)


def fast_gelu(e: Expansion) -> bool:
    """FastGelu: Gelu by a hyperbolic tangent, of X or of the sum of X and a bias."""
    x = _sum(e, (0, 1))
    cube = e.add("Mul", [e.add("Mul", [x, x]), x])
    bent = e.add("Add", [x, e.add("Mul", [cube, constant_number(e, 0.044715)])])
    inner = e.add("Mul", [bent, constant_number(e, math.sqrt(2.0 / math.pi))])
    return _half_of(e, x, e.add("Tanh", [inner]))


def _half_of(e: Expansion, x: str, curve: str) -> bool:
    """``x / 2 * (1 + curve)``."""
    share = e.add("Mul", [e.add("Add", [curve, constant_number(e, 1.0)]), constant_number(e, 0.5)])
    e.main("Mul", [x, share], e.node.output[0])
    return True


def quick_gelu(e: Expansion) -> bool:
    """QuickGelu: ``x * sigmoid(alpha * x)``."""
    scaled = e.add("Mul", [e.input(0), constant_number(e, float(e.attributes.get("alpha", 1.702)))])
    e.main("Mul", [e.input(0), e.add("Sigmoid", [scaled])], e.node.output[0])
    return True


def skip_normalization(e: Expansion) -> bool:
    """SkipLayerNormalization: input, skip, gamma, beta, bias; output 3 is what is normalized."""
    if any(e.node.output[1:3]):
        return False  # statistics are for training
    x = _sum(e, (0, 1, 4), _sum_output(e))
    return normalized(e, x, e.input(2), e.input(3), mean=True)


def skip_simplified(e: Expansion) -> bool:
    """SkipSimplifiedLayerNormalization: the same without mean and beta; bias is input 3."""
    if any(e.node.output[1:3]):
        return False
    x = _sum(e, (0, 1, 3), _sum_output(e))
    return normalized(e, x, e.input(2), "", mean=False)


def simplified(e: Expansion) -> bool:
    """SimplifiedLayerNormalization: over the root of the mean square of the last axis; scale."""
    if any(e.node.output[1:]) or e.attributes.get("axis", -1) != -1:
        return False
    return normalized(e, e.input(0), e.input(1), "", mean=False)


def normalization(e: Expansion) -> bool:
    """LayerNormalization in files of opsets that ONNX has none in."""
    if e.opset >= _NORMALIZATION_OPSET or any(e.node.output[1:]):
        return False
    if e.attributes.get("axis", -1) != -1:
        return False
    return normalized(e, e.input(0), e.input(1), e.input(2), mean=True)


def _sum_output(e: Expansion) -> str:
    return e.node.output[3] if len(e.node.output) > 3 else ""


def normalized(e: Expansion, x: str, scale: str, bias: str, *, mean: bool) -> bool:
    """X over its deviation along the last axis, or the root of its mean square."""
    epsilon = float(e.attributes.get("epsilon", 1e-5))
    if mean and e.opset >= _NORMALIZATION_OPSET:
        inputs = [x, scale, bias]
        e.main("LayerNormalization", inputs, e.node.output[0], epsilon=epsilon)
        return True
    if mean:
        x = e.add("Sub", [x, _mean(e, x)])
    square = _mean(e, e.add("Mul", [x, x]))
    deviation = e.add("Sqrt", [e.add("Add", [square, constant_number(e, epsilon)])])
    y = e.add("Mul", [e.main("Div", [x, deviation]), scale], "" if bias else e.node.output[0])
    if bias:
        e.add("Add", [y, bias], e.node.output[0])
    return True


def _mean(e: Expansion, x: str) -> str:
    """The mean over the last axis, which stays."""
    if e.opset < _AXES_AS_INPUT:
        return e.add("ReduceMean", [x], axes=[-1])
    return e.add("ReduceMean", [x, e.constant(np.asarray([-1], np.int64), "axes")])


def _sum(e: Expansion, inputs: Sequence[int], output: str = "") -> str:
    """The sum of those inputs that are there, under a name of its own or as an output."""
    return total(e, [e.input(i) for i in inputs if e.input(i)], output)


def total(e: Expansion, terms: Sequence[str], output: str = "") -> str:
    """The sum of tensors, under a name of its own or as an output."""
    first, *rest = terms
    for number, name in enumerate(rest, start=1):
        first = e.add("Add", [first, name], output if number == len(rest) else "")
    return first


def constant_number(e: Expansion, number: float) -> str:
    """Name of a new constant, one real number."""
    return e.constant(np.asarray(number, np.float32), "number")


def max_pool(e: Expansion) -> bool:
    """NhwcMaxPool: a MaxPool of images whose channels come last."""
    y = e.main("MaxPool", [e.add("Transpose", [e.input(0)], perm=FIRST)], **e.attributes)
    e.add("Transpose", [y], e.node.output[0], perm=LAST)
    return True


FUSED: Mapping[tuple[str, str], Rule] = MappingProxyType(
    {
        ("", "LayerNormalization"): normalization,
        ("", "SimplifiedLayerNormalization"): simplified,
        **{
            (_DOMAIN, op): rule
            for op, rule in {
                "FusedConv": conv,
                "FusedGemm": gemm,
                "FusedMatMul": matmul,
                "TransposeMatMul": matmul,
                "Gelu": gelu,
                "BiasGelu": gelu,
                "FastGelu": fast_gelu,
                "QuickGelu": quick_gelu,
                "SkipLayerNormalization": skip_normalization,
                "SkipSimplifiedLayerNormalization": skip_simplified,
                "SimplifiedLayerNormalization": simplified,
                "NhwcMaxPool": max_pool,
            }.items()
        },
    }
)
"""The rules that write nodes as those of ONNX, by domain and operator."""
