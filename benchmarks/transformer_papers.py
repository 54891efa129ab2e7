"""Published integer arithmetic beside edgec's: precision and cycles in one table each.

    python benchmarks/transformer_papers.py            # Cortex-M4 and M0+
    python benchmarks/transformer_papers.py m3 m7

Precision is that of transformer_precision.py (the numpy references of paper_arithmetic.py), cycles
are those of transformer_forms.py (reference_forms/, C that equals those references).  Divisions
that the papers leave to floating point or to each element are done once a row where that gives the
same numbers.  GELU includes the requantization of an accumulator before and of the result after it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from bare_code import TARGETS
from transformer_forms import measured
from transformer_precision import attention_rows, gelu_rows, norm_rows

_SOFTMAX = {
    "CMSIS-NN (8-bit logits and weights)": "CMSIS-NN",
    "I-BERT, 8-bit logits": "I-BERT, 8-bit logits",
    "I-BERT, 16-bit logits": "64-bit (I-BERT)",
    "I-ViT Shiftmax": "I-ViT",
    "FQ-ViT log2, 4 bits": "FQ-ViT log2",
    "edgec, before the rounding to 8 bits": "edgec",
}
_GELU = {
    "I-BERT i-GELU, symmetric output": "64-bit (I-BERT)",
    "I-ViT ShiftGELU, symmetric output": "I-ViT",
    "edgec: 1024 entries": "edgec",
}
_NORM = {"I-BERT (64 bits), 16-bit input": "64-bit (I-BERT)", "edgec, 16-bit input": "edgec"}


def _head(title: str, columns: Sequence[str], cores: Sequence[str]) -> None:
    cells = [*columns, *(f"cycles on {core}" for core in cores)]
    print(f"\n| {title} | {' | '.join(cells)} |\n|{'---|' * (len(cells) + 1)}")


def show(cores: Sequence[str]) -> None:
    """Print the three tables."""
    rng = np.random.default_rng(0)
    flat, peaked = attention_rows(rng, 0.6), attention_rows(rng, 4.0)
    gelu, norm = gelu_rows(rng), norm_rows(rng)
    cycles = [list(measured(TARGETS[core]).items()) for core in cores]

    def cells(start: str, form: str) -> str:
        rows = (next(row for name, row in table if start in name) for table in cycles)
        return " | ".join(f"{row[form]:.0f}" for row in rows)

    _head("softmax", ["A*V, dB, flat rows", "peaked rows"], [f"{core}, a logit" for core in cores])
    for method, form in _SOFTMAX.items():
        precision = f"{flat[method]:.1f} | {peaked[method]:.1f}"
        print(f"| {method} | {precision} | {cells('softmax of', form)} |")
    _head("GELU to 8 bits", ["dB"], [f"{core}, an output" for core in cores])
    for method, form in _GELU.items():
        print(f"| {method} | {gelu[method]:.1f} | {cells('GELU', form)} |")
    _head("LayerNorm of 192 channels", ["largest error, output steps"], cores)
    for method, form in _NORM.items():
        print(f"| {method} | {norm[method]:.2f} | {cells('LayerNorm', form)} |")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cores", nargs="*", default=["m4", "m0plus"], help=", ".join(TARGETS))
    show(parser.parse_args().cores)


if __name__ == "__main__":
    main()
