"""Layers that the prices of weight pool kernels are fitted to, and others they are judged on.

The two sets have no shape in common.  `training` varies one thing at a time, so that every count of
the cost model shows; `held_out` holds shapes that a network might have, each with every kernel that
the planner could take for it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace

from pool_layers import Layer, graph_of

from edgec.base.errors import LoweringError
from edgec.kernels.family import KernelSpec
from edgec.kernels.select import select_kernels
from edgec.kernels.weightpool.decision import READY_INDEX_BITS, PoolFamily, PoolKernelConfig
from edgec.kernels.weightpool.gather.spec import PooledConv
from edgec.kernels.weightpool.tables import ResponseKind
from edgec.target.board import Board
from edgec.target.target import Target

_TABLE_BYTES = 24 << 10
"""Space of a table of responses."""
_DIRECT_BITS = 4
"""Widest activations for which the direct kernel is measured; it is hopeless beyond."""


def _shape(
    size: int, channels: int, filters: int, kernel: int, stride: int, pool: int, group: int = 8
) -> Layer:
    return Layer(size, channels, filters, kernel, stride, pool, 8, None, group)


_TRAINING = (
    (_shape(8, 32, 32, 3, 1, 64), (8, 4, 1)),
    (_shape(12, 16, 16, 3, 1, 32), (4,)),
    (_shape(8, 64, 32, 1, 1, 64), (8, 2)),
    (_shape(9, 16, 24, 3, 2, 64), (8, 3)),
    (_shape(4, 64, 64, 3, 1, 32), (5,)),
    (_shape(10, 16, 16, 5, 1, 32), (8,)),
    (_shape(8, 16, 32, 3, 1, 32, group=4), (4,)),
    (_shape(8, 32, 32, 3, 1, 32, group=16), (4,)),
    (_shape(8, 32, 16, 3, 1, 20), (4,)),
    (_shape(1, 96, 24, 1, 1, 64), (8,)),
)
_HELD_OUT = (
    (_shape(7, 48, 40, 3, 1, 48), (8, 3)),
    (_shape(14, 24, 24, 3, 1, 64), (6, 4)),
    (_shape(11, 40, 16, 3, 2, 128), (8, 2)),
    (_shape(6, 96, 48, 1, 1, 96), (8, 4)),
    (_shape(16, 8, 20, 3, 1, 32), (5,)),
    (_shape(5, 80, 96, 3, 1, 64), (8, 1)),
    (_shape(13, 16, 12, 5, 1, 24), (4,)),
    (_shape(15, 32, 64, 3, 2, 64), (8, 4)),
    (_shape(6, 24, 24, 3, 1, 64, group=4), (3,)),
    (_shape(10, 48, 24, 3, 1, 80, group=16), (4,)),
    (_shape(1, 128, 40, 1, 1, 32), (8,)),
)


def training(board: Board) -> list[Layer]:
    """Layers to fit prices to."""
    found = [layer for shape, widths in _TRAINING for layer in every_kernel(shape, widths, board)]
    return found + [layer for layer in _variants(board) if _is_legal(layer, board)]


def held_out(board: Board) -> list[Layer]:
    """Layers to judge prices on: of each shape and width every kernel."""
    return [layer for shape, widths in _HELD_OUT for layer in every_kernel(shape, widths, board)]


def every_kernel(shape: Layer, widths: tuple[int, ...], board: Board) -> Iterator[Layer]:
    """A layer with every kernel that the planner could take for it, at several widths."""
    for bits in widths:
        for config in _configs(shape, bits, board):
            layer = _with_chunk(replace(shape, bits=bits, config=config), board)
            if layer is not None and _is_legal(layer, board):
                yield layer


def _index_bits(shape: Layer) -> int:
    return max(1, (shape.pool_size - 1).bit_length())


def _configs(shape: Layer, bits: int, board: Board) -> Iterator[PoolKernelConfig | None]:
    index_bits = _index_bits(shape)
    for builder in ResponseKind:
        yield PoolKernelConfig(PoolFamily.RESPONSES, builder=builder, index_bits=index_bits)
    decode = PoolKernelConfig(PoolFamily.DECODE, index_bits=index_bits)
    yield decode
    if board.dsp:
        yield replace(decode, dsp=True, batch=8)
    if bits <= _DIRECT_BITS:
        for builder in (ResponseKind.BITSERIAL, ResponseKind.NIBBLE):
            yield PoolKernelConfig(PoolFamily.DIRECT, builder=builder, index_bits=index_bits)
    if bits == 8:
        yield None


def _with_chunk(layer: Layer, board: Board) -> Layer | None:
    """The layer with the largest table that fits; None where not even the smallest one does."""
    config = layer.config
    if config is None or config.family is not PoolFamily.RESPONSES:
        return layer
    groups = -(-layer.channels // layer.group)
    for chunk in range(groups, 0, -1):
        spec = spec_of(replace(layer, config=replace(config, chunk_groups=chunk)), board)
        if isinstance(spec, PooledConv) and spec.table_bytes <= _TABLE_BYTES:
            return replace(layer, config=replace(config, chunk_groups=chunk))
    return None


@functools.cache
def spec_of(layer: Layer, board: Board) -> KernelSpec | None:
    """The kernel's specification; None where it is illegal."""
    try:
        graph, configs = graph_of([layer])
        return select_kernels(graph, Target.of(board), configs)[0].spec
    except LoweringError:
        return None


def _is_legal(layer: Layer, board: Board) -> bool:
    return spec_of(layer, board) is not None


def _variants(board: Board) -> Iterator[Layer]:
    """One thing at a time: chunks, indices, rows, lanes, widths at run time, sums at the end."""
    base = _TRAINING[0][0]
    responses = PoolKernelConfig(PoolFamily.RESPONSES, index_bits=6, chunk_groups=2)
    multiply = replace(base, config=responses)
    bitserial = replace(
        base, bits=4, config=replace(responses, builder=ResponseKind.BITSERIAL, chunk_groups=1)
    )
    for chunk in (1, 4):
        yield replace(multiply, config=replace(responses, chunk_groups=chunk))
    for layer in (multiply, bitserial):
        config = layer.config or responses
        yield replace(layer, config=replace(config, lanes=1, chunk_groups=1))
        yield replace(layer, config=replace(config, index_bits=8))
        yield replace(layer, config=replace(config, index_bits=READY_INDEX_BITS))
        yield replace(layer, config=replace(config, runtime_bits=True))
        yield replace(layer, zero_point=3)
        yield replace(layer, residual=True)
    yield replace(multiply, config=replace(responses, keep_rows=True))
    # Words of neighbouring vectors lie so far apart that stores need more instructions.
    far = replace(responses, keep_rows=True, index_bits=5, chunk_groups=1)
    yield replace(_TRAINING[1][0], config=far)
    yield from _dense_variants(base, board)


def _dense_variants(base: Layer, board: Board) -> Iterator[Layer]:
    decode = PoolKernelConfig(PoolFamily.DECODE, index_bits=6)
    direct = PoolKernelConfig(PoolFamily.DIRECT, index_bits=6, builder=ResponseKind.BITSERIAL)
    # Of shallow layers, where the addition at the end takes a good part of the time.
    thin = replace(_shape(12, 16, 16, 1, 1, 32), residual=True)
    packed = replace(decode, index_bits=5)
    yield replace(thin, config=packed)
    yield thin
    if board.dsp:
        yield replace(thin, config=replace(packed, dsp=True, batch=8))
    yield replace(base, config=decode, residual=True)
    yield replace(base, config=replace(decode, runtime_bits=True))
    yield replace(base, bits=2, config=replace(direct, index_bits=8))
    yield replace(base, bits=2, config=replace(direct, runtime_bits=True))
    if board.dsp:
        for batch in (2, 32):
            yield replace(base, config=replace(decode, dsp=True, batch=batch))
        yield replace(base, config=replace(decode, dsp=True, batch=8, runtime_bits=True))
