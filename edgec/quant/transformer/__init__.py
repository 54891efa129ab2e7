"""Scales by search, for networks with norms and attention: straight to an integer graph.

Owns: which values are the stream (`stream`), which nodes one operator holds (`layers`), samples of
the float network (`samples`), the search for scales (`search`, `heads`, `plan`), integer weights
(`weights`, `layer_parts`), the tensors of the integer graph (`tensors`) and how converters see a
node (`searched`).  Layers requantize by 16 by 15 bits (`ir.qops.forms.Rescale16x15`); those that
read int16 codes by 31 (`int16_codes`: which values can have them, `searched_mixed`: their
operators, `fitted`: the weights between them).
"""

from edgec.quant.transformer.quantize import quantize_transformer

__all__ = ["quantize_transformer"]
