"""Layers with pooled weights by responses.

Each dot product of a pixel with a vector is computed once; then every filter gathers and adds.
"""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import LoweringError
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.weight_pool import WeightPool
from edgec.ir.weighted import POOLED, layer_terms, pooled_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.layer_end import end_of, requant31_of
from edgec.kernels.family import Distances, KernelFamily
from edgec.kernels.weightpool.arguments import own_width, pool_arguments
from edgec.kernels.weightpool.decision import PoolFamily, PoolKernelConfig, default_config
from edgec.kernels.weightpool.events import TABLE
from edgec.kernels.weightpool.gather.indices import stored_indices
from edgec.kernels.weightpool.gather.parts import parts
from edgec.kernels.weightpool.gather.spec import PooledConv
from edgec.kernels.weightpool.geometry import fits_lanes, pooled_window, window_indices
from edgec.kernels.weightpool.tables import response_sums, response_table
from edgec.target.target import Target


def accepts(graph: Graph, node: Node, _target: Target) -> bool:
    """A layer for which no planner has decided, and whose responses are scaled."""
    return default_config(graph, node).family is PoolFamily.RESPONSES


def spec(graph: Graph, node: Node, _target: Target) -> PooledConv:
    """With the default decision."""
    return pooled_conv(graph, node, default_config(graph, node))


def planned(graph: Graph, node: Node, decision: PoolKernelConfig) -> PooledConv | None:
    """The specification for a layer for which the planner has decided."""
    if decision.family is not PoolFamily.RESPONSES:
        return None
    return pooled_conv(graph, node, decision)


def pooled_conv(graph: Graph, node: Node, config: PoolKernelConfig) -> PooledConv:
    """`PooledConv` of a QPooledConv or QPooledGemm.

    Raises:
        LoweringError: the table is too large for 16-bit offsets, or two lanes cannot hold the sums.
    """
    attrs = node.attrs_as(qops.QPooledConv, qops.QPooledGemm)
    form, end, rounding = requant31_of(node), end_of(graph, node), attrs.rounding
    inputs = pooled_inputs(node)
    pool, indices = (graph.constants[name].array for name in (inputs.pool, inputs.indices))
    x_zero_point, terms = graph.quant(inputs.x).tensor_zero_point, layer_terms(graph, node)
    spec = PooledConv(
        window=pooled_window(graph, node, config.lanes),
        out_channels=indices.shape[0],
        pool_size=pool.shape[0],
        group=pool.shape[1],
        chunk_groups=min(config.chunk_groups, indices.shape[-1] // terms),
        lanes=config.lanes,
        response_shift=rounding.response_shift,
        shift=end.shift,
        builder=config.builder,
        index_bits=config.index_bits,
        bits=None if config.runtime_bits else rounding.activation_bits,
        saturates=(form.low, form.high) == (INT8_MIN, INT8_MAX),
        zero_is_code_min=x_zero_point == INT8_MIN,
        keep_rows=config.keep_rows,
        tables_in_ram=config.tables_in_ram,
        residual_shift=end.residual_shift,
        short=config.short,
        terms=terms,
    )
    _check(graph, node, spec)
    return spec


def builder_table(spec: PooledConv, pool: WeightPool) -> Array:
    """Table from which responses are built: uint32 [all_builder_words]."""
    table = response_table(pool, spec.builder)
    return np.concatenate([table, response_sums(pool)]) if spec.needs_sums else table


def _check(graph: Graph, node: Node, spec: PooledConv) -> None:
    if not spec.fits_entries:
        raise LoweringError(
            f"a table of {spec.chunk_groups * spec.group_bytes} bytes of responses is beyond "
            "16-bit offsets",
            where=node.name,
            hint="take fewer groups of channels at a time",
        )
    if spec.lanes == 1:
        if spec.response_shift:
            raise LoweringError("one lane holds exact responses only", where=node.name)
        return
    if not fits_lanes(graph, node):
        raise LoweringError(
            f"sums of responses shifted by {spec.response_shift} do not fit 16 bits",
            where=node.name,
            hint="pool_bounds.least_response_shift gives a shift with which they do",
        )


def overlap(spec: PooledConv) -> Distances:
    """Never in place: the residual is not read in the order in which outputs are written."""
    own = _distance(spec)
    return (own,) if spec.residual_shift is None else (own, None)


def _distance(spec: PooledConv) -> int:
    """0 if all is read before anything is written; else pairs of output rows are written when the
    input rows of the windows have been read, each as often as it is in a pair row.
    """
    if spec.writes_at_end:
        return 0
    w, pairs = spec.window, spec.out_pairs
    last = np.zeros(w.height, np.int64)
    done = 0
    for pair in range(pairs):
        top = pair * w.stride_h
        for row in range(max(done, top), top + spec.reach_h):
            for low in (row - w.pad_top + lane * spec.lane_rows for lane in range(spec.lanes)):
                if 0 <= low < w.height:
                    last[low] = pair
        done = top + spec.reach_h
    highest = np.minimum((spec.lanes - 1) * pairs + last, w.out_height)
    ends = np.where(last > 0, highest, 0) * (w.out_width * spec.out_channels)
    return max(0, int((ends - np.arange(w.height) * (w.width * w.channels)).max()))


def arguments(graph: Graph, node: Node, spec: PooledConv, pool: ConstantPool) -> tuple[Params, ...]:
    """Arguments: the table that responses are built from, indices in the order of gathering."""
    inputs = pooled_inputs(node)
    vectors, bias = (graph.constants[name].array for name in (inputs.pool, inputs.b))
    table = builder_table(spec, WeightPool(vectors))
    indices = stored_indices(spec, window_indices(graph, node))
    return pool_arguments(graph, node, pool, (table, indices), bias, short=spec.short)


FAMILY = KernelFamily(
    spec_type=PooledConv,
    operators=POOLED,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    planned=planned,
    runtime_bits=own_width,
    parts=parts,
    prices=TABLE,
    saves_flash=True,
)
