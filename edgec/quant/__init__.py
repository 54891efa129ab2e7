"""Post-training quantization: from a real graph to an annotated one, and on to integers.

Owns: activation ranges (`observers`, `calibrate`, `synthetic`), which values share parameters
(`ties`), parameters (`params`), weights and biases (`weights`), cross-layer equalization
(`equalize`), bias correction (`bias_correct`), the whole of it (`annotation`), the mechanical
conversion to integers (`conversion` and `integer_*`) and the measured quality (`report`).  May
import: layers 0 to 2.
"""

from edgec.quant.cnn.annotation import annotate
from edgec.quant.common.report import CalibrationSource, LayerQuality, QuantReport, sqnr_db
from edgec.quant.convert.conversion import to_integer
from edgec.quant.entry import Quantized, keeps_activation_bits, quantize

__all__ = [
    "CalibrationSource",
    "LayerQuality",
    "QuantReport",
    "Quantized",
    "annotate",
    "keeps_activation_bits",
    "quantize",
    "sqnr_db",
    "to_integer",
]
