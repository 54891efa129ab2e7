"""Pooled convolutions layer by layer: cycles, memory and flash, beside plain int8.

    python benchmarks/pool_kernels.py                  # the two layers on all cores
    python benchmarks/pool_kernels.py m4 m0plus --bits 8 4 2 --sizes 64
    python benchmarks/pool_kernels.py m3 --builders multiply

The layers are 3x3, 64 to 64 channels on 8x8 pixels and 32 to 32 on 16x16 (2.36 million
multiply-accumulates each), random weights from a pool of S vectors of 8.  Table space is what
`edgec compile --pool-table` limits: all SRAM that the kernel works in, which is the table of
responses, the list of offsets and the sums; input and output are not in it.  In every space the
table holds as many groups of channels as fit, and the builder with the fewest cycles is shown.
SRAM is what it takes of that space.  Firmware is built and run in the emulator with memory that
never waits, as `edgec profile --memory ideal` does.  Flash is that of the weights: indices and the
table of the builder, or int8 weights.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pool_layers import BOARDS, Layer, Measured, graph_of, measure

from edgec.base.errors import LoweringError
from edgec.kernels.weightpool.decision import PoolFamily, PoolKernelConfig
from edgec.kernels.weightpool.gather.family import pooled_conv
from edgec.kernels.weightpool.gather.indices import index_bytes
from edgec.kernels.weightpool.gather.layout import WORD_BYTES
from edgec.kernels.weightpool.gather.spec import PooledConv
from edgec.kernels.weightpool.tables import ResponseKind
from edgec.target.board import load_board

SHAPES = ((8, 64), (16, 32))
"""Pixels along a side, channels in and out."""
SPACES_KB = (32, 64, 96)
"""Table space; with one group of channels these layers take 23 to 31 KB."""
GROUP = 8
_LAYERS_A_BUILD = 4
"""Scratch memory, inputs and outputs of all layers of a build must fit 128 KB together."""


@dataclass(frozen=True, slots=True)
class Case:
    """One row: the layer with every builder, in a space for the table."""

    space_kb: int
    layers: tuple[Layer, ...]


def plain(size: int, channels: int) -> Layer:
    """The layer with int8 weights."""
    return Layer(size, channels, channels, 3, 1, 64, 8, None)


def cases(
    shape: tuple[int, int], widths: Sequence[int], sizes: Sequence[int], kinds: Sequence[str]
) -> Iterator[Case]:
    """Pooled layers of a shape; those whose table does not fit with one group are left out."""
    size, channels = shape
    for vectors in sizes:
        for bits in widths:
            for space in SPACES_KB:
                config = PoolKernelConfig(
                    PoolFamily.RESPONSES, index_bits=(vectors - 1).bit_length()
                )
                layer = Layer(size, channels, channels, 3, 1, vectors, bits, config, GROUP)
                groups = _most_groups(layer, config, space)
                if groups:
                    config = replace(config, chunk_groups=groups)
                    configs = (replace(config, builder=ResponseKind(kind)) for kind in kinds)
                    yield Case(space, tuple(replace(layer, config=c) for c in configs))


def _most_groups(layer: Layer, config: PoolKernelConfig, space_kb: int) -> int:
    """Groups that fit the table space, a power of two; 0: not even one does."""
    graph, _ = graph_of([layer])

    def fits(groups: int) -> bool:
        try:
            spec = pooled_conv(graph, graph.nodes[0], replace(config, chunk_groups=groups))
        except LoweringError:  # its offsets have more than 16 bits
            return False
        return spec.scratch_bytes <= space_kb << 10

    counts = (n for n in (1, 2, 4, 8) if n <= layer.channels // layer.group)
    return max(filter(fits, counts), default=0)


def flash_bytes(found: Measured) -> int:
    """Bytes of indices and table, or of weights."""
    spec = found.spec
    if isinstance(spec, PooledConv):
        return spec.all_builder_words * WORD_BYTES + index_bytes(spec)
    layer = found.layer
    return layer.filters * layer.channels * layer.kernel**2


def measured(layers: Sequence[Layer], core: str) -> dict[Layer, Measured]:
    """Cycles of each layer."""
    board = load_board(BOARDS[core])
    distinct = list(dict.fromkeys(layers))
    found: dict[Layer, Measured] = {}
    for first in range(0, len(distinct), _LAYERS_A_BUILD):
        part = distinct[first : first + _LAYERS_A_BUILD]
        found.update(zip(part, measure(part, board), strict=True))
    return found


def show(core: str, shape: tuple[int, int], rows: Sequence[Case]) -> None:
    """A Markdown table of a layer on a core."""
    size, channels = shape
    int8 = plain(*shape)
    found = measured([int8, *(layer for row in rows for layer in row.layers)], core)
    print(f"\n**{core}, 3x3, {channels} to {channels} channels, {size}x{size} pixels**\n")
    print("| S | bits | table space | builder | cycles | a MAC | int8 / this | SRAM | flash |")
    print("|---|---|---|---|---|---|---|---|---|")
    _row("", "8", "", found[int8], found[int8])
    for row in rows:
        best = min((found[layer] for layer in row.layers), key=lambda m: m.cycles)
        layer = best.layer
        _row(str(layer.pool_size), str(layer.bits), f"{row.space_kb} KB", best, found[int8])


def _row(vectors: str, bits: str, space: str, m: Measured, int8: Measured) -> None:
    config = m.layer.config
    kernel = f"int8 ({m.spec.family})" if config is None else config.builder.value
    print(
        f"| {vectors} | {bits} | {space} | {kernel} | {m.cycles:,} | {m.cycles / m.spec.macs:.3f} "
        f"| {int8.cycles / m.cycles:.1f} | {m.spec.scratch_bytes:,} | {flash_bytes(m):,} |"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cores", nargs="*", default=list(BOARDS), help=f"of {', '.join(BOARDS)}")
    parser.add_argument("--bits", nargs="+", type=int, default=[8, 4], help="widths")
    parser.add_argument("--sizes", nargs="+", type=int, default=[32, 64, 128], help="vectors")
    kinds = [kind.value for kind in ResponseKind]
    parser.add_argument("--builders", nargs="+", choices=kinds, default=kinds)
    args = parser.parse_args()
    for core in args.cores:
        for shape in SHAPES:
            show(core, shape, list(cases(shape, args.bits, args.sizes, args.builders)))


if __name__ == "__main__":
    main()
