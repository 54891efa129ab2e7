"""Small transformers as PyTorch's exporters write them: exported anew, or read from tests/exported.

    python tests/helpers/exported_transformers.py      # writes tests/exported anew; needs PyTorch

The files have weights of few bits, so that git stores them in little.
"""

from __future__ import annotations

import contextlib
import io
import logging
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
from places import REPOSITORY

from edgec.base.dtypes import Array

if TYPE_CHECKING:
    from torch import nn

ROOT = REPOSITORY
EXPORTED = ROOT / "tests" / "exported"
EXPORTERS = {"old-13": 13, "old-17": 17, "new-20": 20, "new-23": 23}
STORED = ("old-17", "new-20")
"""The exporters of which files are kept."""
FIRST_NEW_OPSET = 18
NAMES = (
    *("deit", "deit_flash", "deit_einsum", "cct", "cvt", "mobilevit", "bert", "bert_sdpa"),
    *("gated", "encoder", "padded", "causal", "swin", "pooled_keys"),
)
TOKENS, HIDDEN, VOCABULARY = 9, 2, 40
WEIGHT_STEP = 2.0**-6


def stored(name: str, exporter: str) -> Path:
    """The file of a network."""
    return EXPORTED / f"{name}-{exporter}.onnx"


def inputs_of(name: str) -> tuple[Array, ...]:
    """An example of the inputs: an image; ids, mask and kinds of tokens; rows and a mask."""
    rng = np.random.default_rng(7)
    mask = np.arange(TOKENS)[None] < TOKENS - HIDDEN
    rows = rng.normal(size=(1, TOKENS, 16)).astype(np.float32)
    match name:
        case "bert" | "bert_sdpa":
            ids = rng.integers(0, VOCABULARY, (1, TOKENS))
            return ids, mask.astype(np.int64), (np.arange(TOKENS)[None] > 3).astype(np.int64)
        case "gated" | "causal":
            return rows, mask
        case "padded":
            return rows, ~mask
        case "encoder":
            return (rows,)
        case _:
            return (rng.normal(size=(1, 3, 16, 16)).astype(np.float32),)


def network(name: str) -> nn.Module:
    """The network in PyTorch, with fixed weights."""
    import torch
    import transformer_nets as nets

    makers = {
        "deit": nets.DeiT,
        "deit_flash": lambda: nets.DeiT(nets.FlashAttention, torch.nn.GELU("tanh")),
        "deit_einsum": lambda: nets.DeiT(nets.EinsumAttention, torch.nn.SiLU()),
        "cct": nets.CCT,
        "cvt": nets.CvT,
        "mobilevit": nets.MobileViT,
        "bert": nets.Bert,
        "bert_sdpa": lambda: nets.Bert(sdpa=True),
        "gated": nets.GatedEncoder,
        "encoder": nets.TorchEncoder,
        "padded": nets.PaddedEncoder,
        "causal": nets.CausalEncoder,
        "swin": nets.Swin,
        "pooled_keys": nets.PooledKeys,
    }
    torch.manual_seed(7)
    made = makers[name]().eval()
    with torch.no_grad():
        for weight in made.parameters():
            weight.copy_((weight / WEIGHT_STEP).round() * WEIGHT_STEP)
    return made


def outputs_of(name: str) -> Array:
    """What PyTorch computes from the example."""
    import torch

    with torch.no_grad():
        return network(name)(*map(torch.from_numpy, inputs_of(name))).numpy()


def export(name: str, opset: int, path: Path) -> None:
    """Export by the old exporter (opsets 13 and 17) or the new one, quietly."""
    import torch

    sink, level = io.StringIO(), logging.root.manager.disable
    inputs = tuple(map(torch.from_numpy, inputs_of(name)))
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(sink):
            warnings.simplefilter("ignore")
            new = opset >= FIRST_NEW_OPSET
            options = {"external_data": False} if new else {}
            torch.onnx.export(
                network(name), inputs, str(path), dynamo=new, opset_version=opset, verbose=False,
                **options,
            )  # fmt: skip
    finally:
        logging.disable(level)


def main() -> None:
    """Write all files."""
    sys.path[:0] = [str(ROOT / "networks"), str(ROOT / "tests" / "helpers")]
    from onnx_file import without_traces

    EXPORTED.mkdir(exist_ok=True)
    for name in NAMES:
        for exporter in STORED:
            path = stored(name, exporter)
            export(name, EXPORTERS[exporter], path)
            onnx.save(without_traces(onnx.load(path)), path)


if __name__ == "__main__":
    main()
