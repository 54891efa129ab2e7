"""Cycles of a model of variable length, and of the same model built for each length alone.

    python benchmarks/variable_length.py                     # nucleo_l4r5zi nucleo_g0b1re

One block of 64 channels and 4 heads after a table of words, up to 128 tokens, random weights;
memory that never waits.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from dynamic_onnx import Sizes, ids, write_bert

from edgec.base.options import CompileOptions, MaxLength
from edgec.commands.compile import compile_model
from edgec.profile import profile

SIZES = Sizes(width=64, heads=4, most=128, words=1000)
LENGTHS = (8, 16, 32, 64, 128)
SAMPLES = 16


def compiled(model: Path, board: str, tokens: int, options: CompileOptions, folder: Path) -> Path:
    """The build folder of a model, calibrated on `tokens` tokens."""
    calibration = {"ids": ids(SAMPLES, tokens, words=SIZES.words)}
    compile_model(model, board, calibration=calibration, out=folder, options=options)
    return folder


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("boards", nargs="*", default=["nucleo_l4r5zi", "nucleo_g0b1re"])
    most = LENGTHS[-1]
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        dynamic = write_bert(root / "dynamic.onnx", sizes=SIZES)
        for board in parser.parse_args().boards:
            print(f"\n| {board}, tokens | variable, cycles | built for this length | ratio |")
            print("|---|---|---|---|")
            options = CompileOptions(verify=False, max_length=MaxLength(most))
            variable = compiled(dynamic, board, most, options, root / board)
            for length in LENGTHS:
                fixed = write_bert(root / "fixed.onnx", length, sizes=SIZES)
                options = CompileOptions(verify=False, shapes={"ids": (1, length)})
                alone = compiled(fixed, board, length, options, root / f"{board}-{length}")
                one = profile(variable, memory="ideal", length=length).total.cycles
                other = profile(alone, memory="ideal").total.cycles
                print(f"| {length} | {one:,} | {other:,} | {one / other:.3f} |", flush=True)


if __name__ == "__main__":
    main()
