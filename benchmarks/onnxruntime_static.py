"""onnxruntime's own static quantization, which edgec's is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx


def quantize(source: Path, target: Path, data: Mapping[str, np.ndarray]) -> None:
    """Writes a network in int8 with scales of weights by channel, as Q/DQ, no optimizations.

    Args:
        source: a float ONNX file; a copy with shapes is written beside the target.
        target: the file to write.
        data: calibration samples, input name to float32 [N, ...].
    """
    from onnxruntime.quantization import (  # noqa: PLC0415  # slow to load
        CalibrationDataReader,
        QuantFormat,
        QuantType,
        quantize_static,
    )

    class Reader(CalibrationDataReader):  # type: ignore[misc]  # onnxruntime has no types
        def __init__(self) -> None:
            self._left = iter(range(len(next(iter(data.values())))))

        def get_next(self) -> dict[str, np.ndarray] | None:
            index = next(self._left, None)
            return None if index is None else {n: a[index : index + 1] for n, a in data.items()}

    shaped = target.with_name("shaped.onnx")
    onnx.save(onnx.shape_inference.infer_shapes(onnx.load(source)), shaped)
    quantize_static(
        shaped,
        target,
        Reader(),
        quant_format=QuantFormat.QDQ,
        per_channel=True,
        activation_type=QuantType.QInt8,
        weight_type=QuantType.QInt8,
    )
