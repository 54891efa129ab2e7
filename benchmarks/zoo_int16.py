"""What int16 activations give to architectures of the zoo, as docs/quantization.md shows it.

    python benchmarks/zoo_make.py timm:lcnet_035 old lcnet_035
    python benchmarks/zoo_int16.py lcnet_035        # folders of zoo_make.py

The signal to noise ratios are those of the worst output on calibration samples held back.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from edgec.base.options import CompileOptions, Precision, QuantOptions, no_progress
from edgec.kernels.price import BoardPrices
from edgec.quant.common.report import PrecisionReport
from edgec.target.board import load_board
from edgec.workflow.integer import quantized_model, real_model

_BOARD = "nucleo_l4r5zi"


def quantized(folder: Path, precision: Precision) -> PrecisionReport:
    """The choice of precision of a model of the zoo."""
    options = CompileOptions(quant=QuantOptions(precision=precision))
    prices = BoardPrices(load_board(_BOARD))
    model = quantized_model(
        real_model(folder / "model.onnx", folder / "data.npz", options, no_progress),
        options,
        no_progress,
        prices,
    )
    found = model.quantization.precision
    if found is None:
        raise SystemExit(f"{folder}: it has no choice of precision")
    return found


def main() -> None:
    """Print a row for each folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    print("| network | int8 | auto | int16 tensors of auto | slower | int16 |")
    print("|---|---:|---:|---:|---:|---:|")
    for folder in parser.parse_args().folders:
        wide = quantized(folder, Precision.INT16)
        auto = quantized(folder, Precision.AUTO)
        slower = auto.slowdown or 1.0
        print(
            f"| {folder.name} | {auto.int8_db:.1f} | {auto.output_db:.1f} | "
            f"{len(auto.tensors)} of {auto.candidates} | {slower:.1f} | {wide.int16_db:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
