"""Post-training quantization: from a real graph to an annotated one, and on to integers.

Owns: the one entry (`entry.quantize`); the planner of scales (`scales`), with ranges by
observers (`cnn`) or by search (`transformer`);
the converters from real to integer operators, one an operator for both (`convert`); weights,
numbers and the measured quality (`common`).  May import: layers below.
"""

from edgec.quant.cnn.annotation import annotate
from edgec.quant.common.quality import sqnr_db
from edgec.quant.common.report import CalibrationSource, LayerQuality, QuantReport
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
