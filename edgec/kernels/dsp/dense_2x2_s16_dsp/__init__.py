"""Dense layers of int16 on either side, and those of several groups, with the DSP extension."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.digests import LATER
from edgec.base.dtypes import Array, DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import plain_inputs, residual_of
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.dense import FILTERS, PAIRS, WORD, interleaved, padded_depth
from edgec.kernels.common.form_ends import Rescale16, Tflite31, TypedEnd
from edgec.kernels.common.interface import LayerFunction
from edgec.kernels.common.layer_end import end_of, has_plain_c, typed_end
from edgec.kernels.common.overlap import pixel_distance, with_ending
from edgec.kernels.common.parts import UNMEASURED, Parts, Run, WeightReads, numbers_of, unmeasured
from edgec.kernels.common.spec import describe_image, describe_window
from edgec.kernels.common.weighted import (
    CONVOLUTIONS,
    MATRIX_PRODUCTS,
    weighted_arguments,
)
from edgec.kernels.common.window import Window, conv_window, dense_window, is_depthwise
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

_SUM_BITS = 32
_PIXELS = 2
"""Pixels whose windows are gathered, and whose sums are computed together."""


_LEAST_GROUPED_DEPTH = 8
"""Weights of a filter of a group from which on it is worth making pairs of its windows."""
_PART = 504
"""Activations of which sums have 32 bits whatever the weights: 511 products of 16 by 8 bits, and a
multiple of 8."""


_INT16 = TypedEnd(DType.INT16, DType.INT16)


@dataclass(frozen=True, slots=True)
class Dense2x2(LayerFunction):
    """A convolution, two output pixels by two filters of a group at a time.

    x [height, width, channels], weights int8 in the order of `edgec/dense/dense_2x2_s16_dsp.h`.

    Attributes:
        window: geometry.
        out_channels: filters.
        shift: right shift of `qops.Requant31`.
        typed: element types and end, where x or y is int16; None: both are int8.
        group: input and output channels are cut into this many independent groups.
        rescale16, tflite31: the end of a layer of int8, as in `Conv2D`.
    """

    family: ClassVar[str] = "dense_2x2_s16_dsp"
    template: ClassVar[Path] = template_beside(__file__, "dense_2x2_s16_dsp")
    window: Window
    out_channels: int
    shift: int
    typed: TypedEnd | None = _INT16
    group: int = field(default=1, metadata=LATER)
    residual_shift: None = field(default=None, metadata=LATER)
    rescale16: Rescale16 | None = field(default=None, metadata=LATER)
    tflite31: Tflite31 | None = field(default=None, metadata=LATER)

    @property
    def depth(self) -> int:
        """Activations of a window of a group, with those that fill up the last words."""
        return padded_depth(self.window.taps * self.group_channels)

    @property
    def group_channels(self) -> int:
        """Input channels of a group."""
        return self.window.channels // self.group

    @property
    def group_filters(self) -> int:
        """Output channels of a group."""
        return self.out_channels // self.group

    @property
    def is_grouped(self) -> bool:
        """There are several groups."""
        return self.group > 1

    @property
    def gathers(self) -> str:
        """The piece of a window that is copied at a time: a row ("runs"), a tap ("taps"), or the
        channels of a group of a tap ("groups").
        """
        if self.is_grouped:
            return "groups"
        return "runs" if self.window.columns_are_runs else "taps"

    @property
    def patch_elements(self) -> int:
        """Activations of a window of all groups, as `depth` counts them."""
        return self.group * self.depth

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.window.out_pixels * self.out_channels

    @property
    def clips(self) -> bool:
        """Some windows lie partly outside the image."""
        return self.window.rows_clipped or self.window.cols_clipped

    @property
    def part(self) -> int:
        """Activations that are summed up in 32 bits; of wider sums these are parts."""
        narrow = self.typed is None or self.typed.sum_bits == _SUM_BITS
        return self.depth if narrow else min(_PART, self.depth)

    @property
    def is_cut(self) -> bool:
        """Sums are added up from such parts."""
        return self.part < self.depth

    @property
    def scratch_bytes(self) -> int:
        """The gathered windows."""
        return _PIXELS * self.patch_elements * DType.INT16.size_bytes

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call, those of padding included."""
        return self.out_elements * self.window.taps * self.group_channels

    def describe(self) -> str:
        """Text about the function, for its comment."""
        w = self.window
        image = describe_image(w.height, w.width, w.channels)
        out = describe_image(w.out_height, w.out_width, self.out_channels)
        kinds = f"{self.x_dtype.value} {image} to {self.y_dtype.value} {out}"
        groups = f", {self.group} groups" if self.is_grouped else ""
        return f"Convolution of {kinds}, {describe_window(w)}{groups}, two pixels by two filters"


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A convolution that is not depthwise on a core with DSP, with room for its windows."""
    if not target.has_dsp or (_is_grouped(node) and is_depthwise(graph, node)):
        return False
    if residual_of(node.attrs) is not None:
        return False  # outputs of two pixels take turns, so none may lie over what is added
    found = spec(graph, node, target)
    depth = found.window.taps * found.group_channels
    # Of groups a compiler makes vectors of NEON from plain C.
    plain = target.has_neon or target.takes_few_kernels or depth < _LEAST_GROUPED_DEPTH
    if _is_grouped(node) and plain:
        return False
    return found.scratch_bytes <= target.scratch_limit_bytes


def spec(graph: Graph, node: Node, _target: Target) -> Dense2x2:
    """The specification for a layer that `accepts` accepts."""
    typed, filters = typed_end(graph, node), graph.shape(plain_inputs(node).w)[0]
    end = end_of(graph, node)
    group = node.attrs_as(qops.QConv).group if _is_grouped(node) else 1
    window = conv_window(graph, node) if group > 1 else dense_window(graph, node)
    others = None, end.rescale16, end.tflite31
    return Dense2x2(window, filters, end.shift, typed, group, *others)


def _is_grouped(node: Node) -> bool:
    return getattr(node.attrs, "group", 1) > 1


def overlap(spec: Dense2x2) -> Distances:
    """The windows of two output pixels are read before the two are written."""
    w = spec.window
    readers = w.last_readers()
    starts = np.where(readers < 0, -1, readers // _PIXELS * _PIXELS)
    written = spec.out_channels * spec.out_bytes
    own = pixel_distance(starts, written, w.channels * spec.x_dtype.size_bytes)
    return with_ending(spec, own)


def arguments(graph: Graph, node: Node, spec: Dense2x2, pool: ConstantPool) -> tuple[Params, ...]:
    """Filters of a group two by two, in words whose halves are pairs."""

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        groups = [interleaved(each) for each in np.split(weights, spec.group)]
        return np.ascontiguousarray(np.concatenate(groups)[..., PAIRS]), bias, multiplier

    return weighted_arguments(graph, node, pool, pack, folds=False)


def types(graph: Graph, node: Node) -> bool:
    """Layers that read or give int16, and of several groups those of int8."""
    known = _is_grouped(node) or typed_end(graph, node) is not None
    return known and has_plain_c(graph, node)


_CODE_BYTES = 700


def _gathered(spec: Dense2x2) -> dict[str, float]:
    """The parts that clear the windows of a call, and copy what lies inside the image."""
    w = spec.window
    down, across = w.taps_down(), w.taps_across()
    rows, taps = sum(down) * len(across), sum(down) * sum(across)
    whole = down.count(w.kernel_h) * across.count(w.kernel_w)
    cleared = _PIXELS + (w.out_pixels - whole if spec.clips else 0)
    return {
        "place cleared": cleared * spec.patch_elements,
        "row of a window": rows,
        "piece of a row": 0 if spec.gathers == "runs" else taps * spec.group,
        ("wide activation" if spec.reads_int16 else "activation"): taps * w.channels,
    }


def parts(spec: Dense2x2, _run: Run) -> Parts:
    """Counts of a call; nobody has measured other ends than a multiplier of 31 bits."""
    w = spec.window
    both = -(-w.out_pixels // _PIXELS) * spec.group
    tiles = both * -(-spec.group_filters // FILTERS)
    counts: dict[str, float] = {
        "call": 1,
        "pixel": w.out_pixels,
        "group of two pixels": both,
        "tile": tiles,
        "turn": tiles * spec.depth // (2 * WORD),
        ("output" if spec.typed is None else "wide output"): spec.out_elements,
        **_gathered(spec),
        **unmeasured(spec),
    }
    if spec.tflite31 is not None:
        counts[UNMEASURED] = 1
    stored = FILTERS * spec.group * -(-spec.group_filters // FILTERS) * spec.depth
    times = -(-w.out_pixels // _PIXELS)
    return Parts(counts, _CODE_BYTES, WeightReads(stored, times, numbers_of(spec.out_channels)))


FAMILY = KernelFamily(
    spec_type=Dense2x2,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    types=types,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    parts=parts,
)
