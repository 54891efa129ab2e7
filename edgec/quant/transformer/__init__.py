"""Quantization of transformers: from a real graph straight to an integer one.

Owns: which values are the stream (`stream`), which nodes one operator holds (`layers`), samples of
the float network (`samples`), the search for scales (`search`, `heads`, `plan`), integer weights
(`weights`), the conversion (`emitter`, `emit_*`) and the proof that nothing overflows 32 bits
(`intervals`).  The arithmetic is defined in `ir.qops`.  May import: as `quant`.
"""

from edgec.quant.transformer.quantize import quantize_transformer
from edgec.quant.transformer.stream import is_transformer

__all__ = ["is_transformer", "quantize_transformer"]
