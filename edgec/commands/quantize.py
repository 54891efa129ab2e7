"""`edgec quantize`: a float model in, a standard QDQ int8 ONNX model out."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgec.base.errors import QuantizationError
from edgec.base.options import CompileOptions, Progress, no_progress
from edgec.base.output_file import check_writable, write_whole
from edgec.exporters.onnx.export import export_qdq
from edgec.quant import QuantReport
from edgec.workflow.integer import Calibration, integer_model


@dataclass(frozen=True, slots=True)
class Quantization:
    """A quantized model on disk.

    Attributes:
        output: the file.
        report: how ranges were found, and the quality of each layer.
    """

    output: Path
    report: QuantReport

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        report = dataclasses.asdict(self.report)
        data: dict[str, Any] = json.loads(json.dumps(report, default=lambda item: item.value))
        return {"output": str(self.output), **data}


def quantize_model(
    model: Path | str,
    output: Path | str,
    *,
    calibration: Calibration = None,
    options: CompileOptions | None = None,
    progress: Progress = no_progress,
) -> Quantization:
    """Quantize a model to QDQ ONNX that onnxruntime runs, and edgec compiles to the same integers.

    Args:
        model: ONNX or TensorFlow Lite file.
        output: file to write; replaced as a whole or not at all.
        calibration: .npz file, or samples [N, ...] by input name; None: synthetic, with a warning.
        options: shapes and quantization options.
        progress: told what is being done.

    Raises:
        EdgecError: the model cannot be imported or quantized, or the file not written.
    """
    check_writable(Path(output))
    ready = integer_model(Path(model), calibration, options or CompileOptions(), progress)
    if ready.annotated is None:
        raise QuantizationError(
            "this integer network cannot be written as QDQ ONNX",
            where=str(model),
            hint="compile the float model: `edgec compile` quantizes it in the same way",
        )
    write_whole(Path(output), export_qdq(ready.annotated).SerializeToString(deterministic=True))
    return Quantization(Path(output), ready.quantization)
