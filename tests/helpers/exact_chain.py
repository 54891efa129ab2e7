"""Chains of layers whose codes are TensorFlow Lite Micro's."""

import numpy as np
from mixed_forms import ONES, Mixed

from edgec.ir import Graph, qops

Form = qops.TwoRoundings31 | qops.Offset31
ENDS = ("two_roundings31", "two_roundings31_any", "offset31")


class Exact(Mixed):
    """A chain of layers that end in the forms whose codes are TensorFlow Lite Micro's.

    Attributes:
        saturates: the bounds of all layers are those of int8.
    """

    saturates = True

    def exact(self, end: str, outputs: int, *inner: int) -> tuple[Form, list[str]]:
        """A form, and weights, biases and multipliers that spread the outputs over the codes."""
        depth = int(np.prod(inner))
        factor = self.rng.uniform(0.3, 1, outputs) / (60.0 * depth**0.5)
        weights = self.constant(-127, 127, outputs, *inner)
        bias = self.constant(-900, 900, outputs, dtype=np.int32)
        fraction, shifts = np.frexp(factor)
        if end == "two_roundings31_any":
            # Some channels without a right shift, with a left one, and with products of 0.
            shifts = np.where(np.arange(outputs) % 3 == 0, self.rng.integers(0, 4, outputs), shifts)
            fraction = np.where(np.arange(outputs) % 5 == 1, 0, fraction)
        low, high = self.pick([(-128, 127)] if self.saturates else [(-128, 90), (-20, 127)])
        multipliers = np.minimum(fraction * 2.0**31, 2**31 - 1).astype(np.int32)
        form: Form = qops.TwoRoundings31(
            tuple(map(int, shifts)), self.integer(-128, 127), low, high
        )
        if end == "offset31":
            shift = 4
            multipliers = np.minimum(factor * 2.0 ** (32 + shift), 2**31 - 1).astype(np.int32)
            offsets = self.rng.integers(-100 << shift, 100 << shift, outputs)
            form = qops.Offset31(shift, tuple(map(int, offsets)), low, high)
        return form, [weights, bias, self.array(multipliers)]


def chain(seed: int, end: str, channels: int = 10, *, saturates: bool = True) -> Graph:
    """Convolutions of several kinds, products of several rows and of one, one after the other."""
    net = Exact(seed)
    net.saturates = saturates
    x = net.input(1, 7, 7, channels)

    def conv(x: str, kernel: int, depth: int, group: int = 1, pads: int = 0) -> str:
        form, numbers = net.exact(end, channels, kernel, kernel, depth)
        attrs = qops.QConv(ONES, (pads,) * 4, ONES, group, form)
        return net.put(attrs, [x, *numbers], getattr(form, "zero_point", 3))

    def product(x: str, depth: int, units: int) -> str:
        form, numbers = net.exact(end, units, depth)
        return net.put(qops.QGemm(form), [x, *numbers], getattr(form, "zero_point", 3))

    x = conv(x, 3, channels, pads=1)
    x = conv(x, 3, 1, group=channels, pads=1)
    x = conv(x, 3, 1, group=channels)
    x = conv(x, 2, channels // 2, group=2) if channels % 2 == 0 else x
    x = conv(x, 1, channels)
    form, numbers = net.exact(end, channels, 3, 3, channels)
    transpose = qops.QConvTranspose((2, 2), (0,) * 4, ONES, 1, (0, 0), form)
    x = net.put(transpose, [x, *numbers], getattr(form, "zero_point", 3))
    size = int(np.prod(net.builder.values[x].shape))
    flat = net.put(qops.QReshape((1, size)), [x], net.zero_point(x))
    rows = net.put(qops.QReshape((size // channels, channels)), [x], net.zero_point(x))
    net.builder.outputs = [product(flat, size, 7), product(rows, channels, 12)]
    return net.builder.build()
