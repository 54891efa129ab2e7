"""The converters of operators whose rule in TensorFlow Lite Micro is not edgec's own."""

from edgec.quant.convert.tflm import comparison, resize

TFLM_CONVERTERS = comparison.CONVERTERS.joined(resize.CONVERTERS)
"""These go before `quant.convert.converters.CONVERTERS`; `joined` adds the tables of modules."""
