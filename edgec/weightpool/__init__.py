"""Weight pools after training: which layers, which pool, which index where.

Owns: the choice of layers (`layers`) and of their terms (`terms`, by the `noise` of layers),
weights as vectors (`vectors`), the order of channels (`order`, by `swaps` of those that are free:
`channels`), the first pool (`cluster`), assignments (`assign`, sums of vectors:
`additive`), the pool of least error (`refine`), its int8 form (`codebook`), ranges of activations
(`ranges`), the pass over a network (`network`, `sequence`), the whole of it (`compress`), its
report (`report`, `summary`), its bytes before it (`forecast`), weights of few bits, which are
pools of single weights (`levels`), and layers with numbers of their own each, in a pool or of few
bits (`layer_bits`).  The error of a layer's output is `layererror`'s.  numpy only; float networks
run in `floatrun`.
"""

from edgec.weightpool.compress import compress_graph, compress_graphs, report_of
from edgec.weightpool.forecast import forecast
from edgec.weightpool.layer_bits import bits_of_layers, narrowed_layers
from edgec.weightpool.levels import (
    NarrowReport,
    narrow_layers,
    narrow_report,
    narrowed,
)
from edgec.weightpool.order import with_best_order
from edgec.weightpool.report import (
    CompressionReport,
    LayerCompression,
    StoredSizes,
    stored_sizes,
)
from edgec.weightpool.terms import chosen_layers, most_spent

__all__ = [
    "CompressionReport",
    "LayerCompression",
    "NarrowReport",
    "StoredSizes",
    "bits_of_layers",
    "chosen_layers",
    "compress_graph",
    "compress_graphs",
    "forecast",
    "most_spent",
    "narrow_layers",
    "narrow_report",
    "narrowed",
    "narrowed_layers",
    "report_of",
    "stored_sizes",
    "with_best_order",
]
