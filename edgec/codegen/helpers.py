"""Helper functions of a model's header: real numbers and pixels to codes, codes to results.

They are static and inline, on top of `edgec/codes.h`, so that what is not called costs nothing.
`helper_functions` decides which ones a model has; the only one of its kind has no number in its
name, `edgec_<model>_argmax`, others have that of their input or output, `edgec_<model>_argmax_1`.

Each function has a template, and a dataclass that is the template's context.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.samples import Normalize
from edgec.codegen.about import LibraryAbout, PixelInput
from edgec.codegen.cliterals import c_float, c_hex, c_int, c_list
from edgec.codegen.cnames import LibraryNames
from edgec.codegen.env import render
from edgec.codegen.frame_helper import FrameContext
from edgec.ir.pixels import pixel_codes
from edgec.ir.qparams import QuantParams
from edgec.kernels.common.extent import Extent
from edgec.lower.program import FeaturePort, Program, ProgramPort, ProgramTensor


@dataclass(frozen=True, slots=True)
class QuantizeContext:
    """Fills an input from real numbers that share a scale.

    Attributes:
        function: its name.
        number: position among the inputs.
        shape: as C reads it, e.g. `[1, 32, 32, 3]`.
        scale: members of an `edgec_scale_t`, or a float.
        in_float32: the model divides in float32 and rounds halves away from zero.
        kind: `s8` or `s16`, the codes.
        count: how many numbers there are, an expression of `length` where the run decides.
        max_length: the run decides; the macro of the longest is there.
    """

    template: ClassVar[str] = "helpers/quantize.h.j2"
    names: LibraryNames
    function: str
    number: int
    shape: str
    scale: str
    in_float32: bool
    kind: str
    count: str
    max_length: bool


@dataclass(frozen=True, slots=True)
class FeaturesContext:
    """Fills an input whose features have a scale each: `scales` and `zero_points` are C lists.

    Attributes:
        count: elements of the input, a C expression.
        features: how many features there are.
        axis: the axis that counts them.
        inner: elements of a feature that lie one after the other.
        max_length: as in `QuantizeContext`.
    """

    template: ClassVar[str] = "helpers/features.h.j2"
    names: LibraryNames
    function: str
    number: int
    shape: str
    count: str
    features: int
    axis: int
    inner: int
    scales: str
    zero_points: str
    max_length: bool


@dataclass(frozen=True, slots=True, eq=False)
class PixelsContext:
    """Fills an input from bytes.

    Attributes:
        meaning: what the model takes for a pixel, in words.
        c_type: type of a code.
        tables: codes of 0 to 255, one table for all channels or one a channel; empty: `code` needs
            none.
        channel_elements: elements of one channel after the other, where each has a table; or 0.
        code: code of element `i` where channels are alike, an expression.
    """

    template: ClassVar[str] = "helpers/pixels.h.j2"
    names: LibraryNames
    function: str
    number: int
    shape: str
    meaning: str
    c_type: str
    tables: tuple[Array, ...]
    channel_elements: int
    code: str


@dataclass(frozen=True, slots=True)
class DequantizeContext:
    """The real numbers of an output.

    Attributes:
        real: type in which the product is exact enough, `float` or `double`.
        scale: literal of that type.
        count, max_length: as in `QuantizeContext`.
    """

    template: ClassVar[str] = "helpers/dequantize.h.j2"
    names: LibraryNames
    function: str
    number: int
    shape: str
    c_type: str
    real: str
    scale: str
    count: str
    max_length: bool


@dataclass(frozen=True, slots=True)
class ArgmaxContext:
    """The largest element of an output.

    Attributes:
        classes: elements that are compared, the last axis.
        positions: there are several such groups.
        last: number of the last of them.
    """

    template: ClassVar[str] = "helpers/argmax.h.j2"
    names: LibraryNames
    function: str
    number: int
    c_type: str
    kind: str
    classes: int
    positions: bool
    last: int


@dataclass(frozen=True, slots=True)
class ExampleContext:
    """A function that runs the model once.

    Attributes:
        result: what it returns.
        parameters: its parameters.
        before: statements that fill the inputs.
        after: statement that hands out the result.
        state: the model keeps a state between runs.
        waits: its first runs, or all but the last of an image, have no output.
    """

    template: ClassVar[str] = "helpers/example.c.j2"
    names: LibraryNames
    result: str
    parameters: tuple[str, ...]
    before: tuple[str, ...]
    after: str
    state: bool
    waits: bool


_KINDS = {DType.INT8: "s8", DType.INT16: "s16"}
"""Types of codes that stand for real numbers, as names of functions have them."""
_MANTISSA_BITS = 53
_Image = PixelsContext | FrameContext
Context = QuantizeContext | FeaturesContext | _Image | DequantizeContext | ArgmaxContext


def helper_functions(program: Program, names: LibraryNames, about: LibraryAbout) -> tuple[str, ...]:
    """The text of each helper function, in the order of the header."""
    found: list[Context] = []
    for number, port in enumerate(program.inputs):
        suffix = _suffix(program.inputs, number)
        if port.tensor.dtype in _KINDS and not about.frame:
            found.append(_quantize(program, names, number, suffix))
            if number in about.pixels:
                found.append(_pixels(port, names, number, suffix, about.pixels[number]))
    for number, port in enumerate(program.outputs):
        suffix = _suffix(program.outputs, number)
        if port.tensor.dtype in _KINDS:
            found.append(_dequantize(program, names, number, suffix))
            if classes := _classes(program, port.tensor):
                found.append(_argmax(port.tensor, names, number, suffix, classes))
    if about.frame:
        found.append(FrameContext(names, about.frame))
    return tuple(render(context.template, context) for context in found)


def _suffix(ports: Sequence[ProgramPort], number: int) -> str:
    return f"_{number}" if len(ports) > 1 else ""


def _quantize(
    program: Program, names: LibraryNames, number: int, suffix: str
) -> QuantizeContext | FeaturesContext:
    port = program.inputs[number]
    function = f"{names.prefix}_quantize{suffix}"
    shape = str(list(port.tensor.shape))
    if isinstance(port, FeaturePort):
        scales, zero_points = port.features.scale, port.features.zero_point
        axis = len(port.tensor.shape) - 1 if port.features.axis is None else port.features.axis
        return FeaturesContext(
            names=names,
            function=function,
            number=number,
            shape=shape,
            count=_count(program, port.tensor, f"{names.macro}_INPUT_{number}_ELEMENTS"),
            features=len(scales),
            axis=axis,
            inner=math.prod(port.tensor.shape[axis + 1 :]),
            scales=c_list([f"{c_float(scale)}F" for scale in scales], 8),
            zero_points=c_list([c_int(point) for point in zero_points], 8),
            max_length=program.axis(port.tensor) is not None,
        )
    in_float32 = port.tensor.in_float32
    return QuantizeContext(
        names=names,
        function=function,
        number=number,
        shape=shape,
        scale=f"{c_float(port.tensor.scale)}F" if in_float32 else scale_members(port.tensor.scale),
        in_float32=in_float32,
        kind=_KINDS[port.tensor.dtype],
        count=_count(program, port.tensor, f"{names.macro}_INPUT_{number}_ELEMENTS"),
        max_length=program.axis(port.tensor) is not None,
    )


def scale_members(scale: float) -> str:
    """The members of an `edgec_scale_t`.

    Args:
        scale: positive and finite.
    """
    fraction, exponent = math.frexp(scale)
    mantissa = int(math.ldexp(fraction, _MANTISSA_BITS))
    reciprocal = (1 << 55) // ((mantissa >> 29) + 2)
    return f"0x{mantissa:X}ULL, {c_hex(reciprocal)}, {exponent - _MANTISSA_BITS}"


def _count(program: Program, tensor: ProgramTensor, fixed: str) -> str:
    """C expression for the number of elements of a tensor in a run."""
    extent, size = program.extent(tensor), tensor.dtype.size_bytes
    if not extent.each:
        return fixed
    return Extent(extent.each // size, extent.fixed // size).text("length")


def _pixels(
    port: ProgramPort, names: LibraryNames, number: int, suffix: str, pixel: PixelInput
) -> PixelsContext:
    tensor = port.tensor
    numbers = (tensor.scale,), (tensor.zero_point,), tensor.dtype
    quant = QuantParams(*numbers, in_float32=tensor.in_float32)
    tables = pixel_codes(quant, pixel.normalize)
    c_type, offset = tensor.dtype.c_name, int(tables[0][0])
    shifted = np.arange(256) + offset
    is_shift = len(tables) == 1 and np.array_equal(tables[0], shifted)
    return PixelsContext(
        names=names,
        function=f"{names.prefix}_quantize_pixels{suffix}",
        number=number,
        shape=str(list(tensor.shape)),
        meaning=_meaning(pixel.normalize),
        c_type=c_type,
        tables=() if is_shift else tables,
        channel_elements=_channel_elements(port, pixel.channel_axis) if len(tables) > 1 else 0,
        code=f"({c_type})(pixels[i] + ({offset}))" if is_shift else "codes_of[0][pixels[i]]",
    )


def _meaning(normalize: Normalize | None) -> str:
    if normalize is None:
        return "as the model itself takes them"
    return f"the model takes (pixel * scale - mean) / std with {normalize}"


def _channel_elements(port: ProgramPort, axis: int | None) -> int:
    """Number of elements of one channel that lie side by side in the arena."""
    if axis is None:
        return 0
    perm = port.model_perm or tuple(range(len(port.tensor.shape)))
    return math.prod(port.tensor.shape[perm.index(axis) + 1 :])


def _dequantize(
    program: Program, names: LibraryNames, number: int, suffix: str
) -> DequantizeContext:
    tensor = program.outputs[number].tensor
    # The product of a code and a scale of 24 bits is rounded once, in float as in double.
    is_short = float(np.float32(tensor.scale)) == tensor.scale
    literal = c_float(tensor.scale)
    return DequantizeContext(
        names=names,
        function=f"{names.prefix}_dequantize{suffix}",
        number=number,
        shape=str(list(tensor.shape)),
        c_type=tensor.dtype.c_name,
        real="float" if is_short else "double",
        scale=f"{literal}F" if is_short else literal,
        count=_count(program, tensor, f"{names.macro}_OUTPUT_{number}_ELEMENTS"),
        max_length=program.axis(tensor) is not None,
    )


def _classes(program: Program, tensor: ProgramTensor) -> int:
    """Number of elements that an argmax compares: the last axis, or all of a tensor of one axis.

    0 where there is nothing to compare, or only the run knows how many there are.
    """
    shape, elements = tensor.shape, math.prod(tensor.shape)
    axis = shape.index(elements) if elements in shape else len(shape) - 1
    if not shape or shape[axis] == 1 or program.axis(tensor) == axis:
        return 0
    return shape[axis]


def _argmax(
    tensor: ProgramTensor, names: LibraryNames, number: int, suffix: str, classes: int
) -> ArgmaxContext:
    positions = math.prod(tensor.shape) // classes
    return ArgmaxContext(
        names=names,
        function=f"{names.prefix}_argmax{suffix}",
        number=number,
        c_type=tensor.dtype.c_name,
        kind=_KINDS[tensor.dtype],
        classes=classes,
        positions=positions > 1,
        last=positions - 1,
    )


def example(program: Program, names: LibraryNames, about: LibraryAbout) -> str:
    """A function of C that runs the model once on one sample."""
    parameters: list[str] = []
    before: list[str] = []
    for number, port in enumerate(program.inputs):
        if about.frame:
            parameters.append("const uint8_t *frame")
            size = f"{names.macro}_INPUT_{number}_BYTES"
            before.append(f"memcpy({names.prefix}_input(&context, {number}), frame, {size});")
            continue
        suffix, is_real = _suffix(program.inputs, number), port.tensor.dtype in _KINDS
        name = f"{'values' if is_real else 'numbers'}{suffix}"
        parameters.append(f"const {'float' if is_real else 'int32_t'} *{name}")
        if is_real:
            length = _longest(program, port.tensor, names)
            before.append(f"{names.prefix}_quantize{suffix}(&context, {name}{length});")
        else:
            size = f"{names.macro}_INPUT_{number}_BYTES"
            before.append(f"memcpy({names.prefix}_input(&context, {number}), {name}, {size});")
    tensor = program.outputs[0].tensor
    suffix = _suffix(program.outputs, 0)
    if tensor.dtype not in _KINDS:
        result = "int32_t"
        after = f"return *(const int32_t *){names.prefix}_output(&context, 0);"
    elif _classes(program, tensor) == math.prod(tensor.shape):
        result = "uint32_t"
        after = f"return {names.prefix}_argmax{suffix}(&context);"
    else:
        result = "void"
        parameters.append("float *results")
        length = _longest(program, tensor, names)
        after = f"{names.prefix}_dequantize{suffix}(&context, results{length});"
    waits = program.warm_up > 0 or program.handed is not None
    if waits:
        if result != "void":
            parameters.append(f"{result} *found")
            after = after.replace("return ", "*found = ", 1)
        result = "edgec_status_t"
    state = program.state_bytes > 0
    text = ExampleContext(names, result, tuple(parameters), tuple(before), after, state, waits)
    return render(text.template, text)


def _longest(program: Program, tensor: ProgramTensor, names: LibraryNames) -> str:
    return "" if program.axis(tensor) is None else f", {names.macro}_MAX_LENGTH"
