"""The converters of operators whose rule in TensorFlow Lite Micro is not edgec's own."""

from edgec.quant.convert.tflm import arithmetic, comparison, elementwise, reduction, resize

TFLM_CONVERTERS = elementwise.CONVERTERS.joined(
    arithmetic.CONVERTERS, comparison.CONVERTERS, reduction.CONVERTERS, resize.CONVERTERS
)
"""These go before `quant.convert.converters.CONVERTERS`; `joined` adds the tables of modules."""
