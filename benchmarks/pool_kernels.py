"""Pooled convolutions layer by layer: cycles, memory and flash, beside plain int8.

    python benchmarks/pool_kernels.py                  # the two layers on all cores
    python benchmarks/pool_kernels.py m4 m0plus --bits 8 4 2

The layers are 3x3, 64 to 64 channels on 8x8 pixels and 32 to 32 on 16x16 (2.36 million
multiply-accumulates each), random weights from a pool of 64 vectors of 8.  Firmware is built and
run in the emulator with memory that never waits, as `edgec profile --memory ideal` does.  Flash is
that of the weights: indices and the table of the builder, or int8 weights.  SRAM is the kernel's
scratch memory.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from pool_prices import BOARDS, Layer, Measured, measure

from edgec.board import load_board
from edgec.lower.pool_config import PoolFamily, PoolKernelConfig
from edgec.lower.pool_indices import index_bytes
from edgec.lower.pool_tables import ResponseKind
from edgec.lower.spec import PooledConv
from edgec.lower.spec_pooled import WORD_BYTES

SHAPES = ((8, 64), (16, 32))
"""Pixels along a side, channels in and out."""
CHUNKS = (1, 2, 4, 8)
"""Groups of channels in the table at a time."""
POOL_SIZE = 64


def layers(bits: list[int], index_bits: int) -> Iterator[Layer]:
    """Plain int8, then every builder with every chunk."""
    for size, channels in SHAPES:
        yield Layer(size, channels, channels, 3, 1, POOL_SIZE, 8, None)
        for width in bits:
            for kind in ResponseKind:
                for chunk in CHUNKS:
                    if chunk * 8 <= channels:
                        config = PoolKernelConfig(
                            PoolFamily.RESPONSES,
                            chunk_groups=chunk,
                            builder=kind,
                            index_bits=index_bits,
                        )
                        yield Layer(size, channels, channels, 3, 1, POOL_SIZE, width, config)


def flash_bytes(found: Measured) -> int:
    """Bytes of indices and table, or of weights."""
    spec = found.spec
    if isinstance(spec, PooledConv):
        return spec.all_builder_words * WORD_BYTES + index_bytes(spec)
    layer = found.layer
    return layer.filters * layer.channels * layer.kernel**2


def show(core: str, found: list[Measured]) -> None:
    """A row of a Markdown table for each layer."""
    print(f"\n| {core}: layer | kernel | bits | groups | cycles | a MAC | SRAM | flash |")
    print("|---|---|---|---|---|---|---|---|")
    for m in found:
        layer, config = m.layer, m.layer.config
        shape = f"{layer.size}x{layer.size}, {layer.channels}"
        kernel = m.spec.family if config is None else config.builder.value
        groups = "" if config is None else str(config.chunk_groups)
        each = m.cycles / m.spec.macs
        print(
            f"| {shape} | {kernel} | {layer.bits} | {groups} | {m.cycles:,} | {each:.3f} | "
            f"{m.spec.scratch_bytes:,} | {flash_bytes(m):,} |"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cores", nargs="*", default=list(BOARDS), help=f"of {', '.join(BOARDS)}")
    parser.add_argument("--bits", nargs="+", type=int, default=[8, 4], help="widths")
    parser.add_argument("--index-bits", type=int, default=6, help="of a stored index: 6, 8 or 16")
    args = parser.parse_args()
    for core in args.cores:
        show(core, measure(list(layers(args.bits, args.index_bits)), load_board(BOARDS[core])))


if __name__ == "__main__":
    main()
