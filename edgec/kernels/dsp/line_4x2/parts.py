"""The parts of a call of `line_4x2`, counted."""

from __future__ import annotations

from edgec.kernels.common.parts import Parts
from edgec.kernels.dsp.line_4x2.spec import Line4x2
from edgec.kernels.dsp.tile_4x2.parts import loop_bytes, tile_parts

_CODE_BYTES = 1000


def parts(spec: Line4x2) -> Parts | None:
    """Counts of a call that ends in a multiplier of 31 bits; None for another end."""
    if spec.rescale16 is not None:
        return None
    w = spec.image
    lines = -(-w.out_height // spec.lines)
    counts: dict[str, float] = {"call": 1, "batch of lines": lines}
    if spec.shares_columns:
        rows = w.out_height * w.kernel_h
        counts |= {
            "row of columns": rows,
            "column": rows * spec.columns,
            "word of a column": rows * spec.columns * (w.channels // 4),
            "start of a pixel": spec.rows * w.kernel_w,
        }
    else:
        copied = lines * ((spec.lines - 1) * w.stride_h + spec.rows_of_window)
        runs = spec.rows * w.kernel_h
        counts |= {
            "copied row": copied,
            "copied byte": copied * spec.copied_row,
            "pixel": spec.rows,
            "run": runs,
            "word of a run": spec.rows * spec.words,
        }
        if spec.run_rest:
            counts[f"rest of {spec.run_rest} bytes"] = runs
    counts |= tile_parts(spec)
    return Parts(counts, _CODE_BYTES + loop_bytes(spec), spec.weight_reads, copies=True)
