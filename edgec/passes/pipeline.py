"""The pipelines: explicit tuples of passes, in order."""

from __future__ import annotations

from edgec.ir.verify import Stage
from edgec.passes.absorb_qdq import absorb_qdq
from edgec.passes.base import Pass
from edgec.passes.binarize import binarize
from edgec.passes.clips import hoist_clip, restore_clip
from edgec.passes.compose_functions import compose_functions
from edgec.passes.expand_by_copies import expand_by_copies
from edgec.passes.fold_batch_norm import fold_batch_norm
from edgec.passes.fuse_attention import fuse_attention
from edgec.passes.fuse_chains import chain_notes, fuse_chains
from edgec.passes.fuse_dilation import fuse_dilation
from edgec.passes.fuse_factors import fuse_beta, fuse_bias, fuse_division
from edgec.passes.fuse_functions import fuse_functions
from edgec.passes.fuse_log_mel import fuse_log_mel
from edgec.passes.fuse_matmul import fuse_matmul
from edgec.passes.fuse_norm import fuse_norm
from edgec.passes.fuse_pad import fuse_pad
from edgec.passes.fuse_residual import fuse_residual, residual_notes
from edgec.passes.fuse_softmax import fuse_softmax
from edgec.passes.hide_by_choice import hide_by_choice
from edgec.passes.hold_carried import held_notes, hold_carried
from edgec.passes.images_in_turns import image_notes, images_in_turns
from edgec.passes.join_products import join_products
from edgec.passes.last_turn import last_turn
from edgec.passes.layout import layout
from edgec.passes.merge_moves import merge_moves, sink_reshape
from edgec.passes.merge_reduce import merge_reduce
from edgec.passes.merge_top_k import merge_top_k
from edgec.passes.pack_signs import pack_signs, sign_notes
from edgec.passes.pooling import average_by_convolution, pooling_by_attention
from edgec.passes.remove_constant_channels import removal_notes, remove_constant_channels
from edgec.passes.schedule import schedule, schedule_notes
from edgec.passes.simplify import simplify
from edgec.passes.single_rounding import rounding_notes, single_rounding
from edgec.passes.sink_addition import sink_addition
from edgec.passes.slide_windows import slide_windows
from edgec.passes.weight_pool_layers import pool_layers, pool_notes

REAL_PASSES = (
    Pass("clean", Stage.REAL, Stage.REAL, simplify),
    # Before powers and logarithms meet other rules.
    Pass("fuse_log_mel", Stage.REAL, Stage.REAL, fuse_log_mel),
    Pass("absorb_qdq", Stage.REAL, Stage.REAL, absorb_qdq),
    Pass("fuse_dilation", Stage.REAL, Stage.REAL, fuse_dilation),
    Pass("fuse_functions", Stage.REAL, Stage.REAL, fuse_functions),
    Pass("fuse_softmax", Stage.REAL, Stage.REAL, fuse_softmax),
    Pass("fuse_norm", Stage.REAL, Stage.REAL, fuse_norm),
    Pass("fuse_matmul", Stage.REAL, Stage.REAL, fuse_matmul),
    Pass("fuse_attention", Stage.REAL, Stage.REAL, fuse_attention),
    # A sum that is left then is no attention of known form.
    Pass("hide_by_choice", Stage.REAL, Stage.REAL, hide_by_choice),
    Pass("fuse_beta", Stage.REAL, Stage.REAL, fuse_beta),
    Pass("expand_by_copies", Stage.REAL, Stage.REAL, expand_by_copies),
    Pass("layout", Stage.REAL, Stage.REAL, layout),
    Pass("simplify", Stage.REAL, Stage.REAL, simplify),
    Pass("merge_moves", Stage.REAL, Stage.REAL, merge_moves),
    Pass("sink_reshape", Stage.REAL, Stage.REAL, sink_reshape),
    Pass("simplify", Stage.REAL, Stage.REAL, simplify),
    # Its factors and summands may lie beyond transposes that are gone now.
    Pass("fuse_norm", Stage.REAL, Stage.REAL, fuse_norm),
    Pass("fuse_division", Stage.REAL, Stage.REAL, fuse_division),
    Pass("merge_reduce", Stage.REAL, Stage.REAL, merge_reduce),
    # Weights that are signs become numbers, into which normalizations can be folded.
    Pass("binarize", Stage.REAL, Stage.REAL, binarize),
    Pass("fold_batch_norm", Stage.REAL, Stage.REAL, fold_batch_norm),
    Pass("fuse_bias", Stage.REAL, Stage.REAL, fuse_bias),
    Pass("join_products", Stage.REAL, Stage.REAL, join_products),
    Pass("fuse_pad", Stage.REAL, Stage.REAL, fuse_pad),
    Pass("hoist_clip", Stage.REAL, Stage.REAL, hoist_clip),
    Pass("restore_clip", Stage.REAL, Stage.REAL, restore_clip),
    # No pattern looks for its parts any more.
    Pass("compose_functions", Stage.REAL, Stage.REAL, compose_functions),
    Pass("last_turn", Stage.REAL, Stage.REAL, last_turn),
    Pass("simplify", Stage.REAL, Stage.REAL, simplify),
)
"""The passes from the imported graph to the one that is calibrated."""

TRANSFORMER_PASSES = (
    Pass("pooling_by_attention", Stage.REAL, Stage.REAL, pooling_by_attention),
    Pass("sink_addition", Stage.REAL, Stage.REAL, sink_addition),
    Pass("average_by_convolution", Stage.REAL, Stage.REAL, average_by_convolution),
)
"""The passes after `REAL_PASSES` for graphs that `quant.transformer` quantizes."""

_LAST_PASSES = (
    Pass("images_in_turns", Stage.INTEGER, Stage.INTEGER, images_in_turns, image_notes),
    Pass("merge_top_k", Stage.INTEGER, Stage.INTEGER, merge_top_k),
    Pass("slide_windows", Stage.INTEGER, Stage.INTEGER, slide_windows),
    Pass("schedule", Stage.INTEGER, Stage.INTEGER, schedule, schedule_notes),
    # The order is final: what is read too late is known.
    Pass("hold_carried", Stage.INTEGER, Stage.INTEGER, hold_carried, held_notes),
)

TRANSFORMER_INTEGER_PASSES = _LAST_PASSES
"""The passes from `quant.transformer`'s graph to the one that is lowered."""

WIDE_INTEGER_PASSES = (
    Pass("fuse_chains", Stage.INTEGER, Stage.INTEGER, fuse_chains, chain_notes),
    *_LAST_PASSES,
)
"""The passes from the graph of a file with 16-bit activations to the one that is lowered."""

INTEGER_PASSES = (
    Pass("pool_layers", Stage.INTEGER, Stage.INTEGER, pool_layers, pool_notes),
    Pass(
        "remove_constant_channels",
        Stage.INTEGER,
        Stage.INTEGER,
        remove_constant_channels,
        removal_notes,
    ),
    Pass("fuse_residual", Stage.INTEGER, Stage.INTEGER, fuse_residual, residual_notes),
    Pass("single_rounding", Stage.INTEGER, Stage.INTEGER, single_rounding, rounding_notes),
    # Chains would take tables of signs into themselves.
    Pass("pack_signs", Stage.INTEGER, Stage.INTEGER, pack_signs, sign_notes),
    Pass("fuse_chains", Stage.INTEGER, Stage.INTEGER, fuse_chains, chain_notes),
    *_LAST_PASSES,
)
"""The passes from `quant.to_integer`'s graph to the one that is lowered."""
