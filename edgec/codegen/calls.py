"""The calls of a program in C: arguments, copies of weights, loops, and the state that lasts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from edgec.base.calls import StepLoop
from edgec.base.dtypes import DType
from edgec.codegen.cliterals import comment_text
from edgec.codegen.contexts import (
    CopyContext,
    FiringContext,
    LoopContext,
    StateContext,
    StepContext,
)
from edgec.codegen.rows_context import RowsContext
from edgec.kernels.common.constants import ConstantRef, Params
from edgec.lower.inputs import Fill, HandedInput, Slide
from edgec.lower.program import (
    Argument,
    Program,
    ProgramTensor,
    Step,
    TensorArg,
    TurnedConstant,
)

NAME_LIMIT = 60
"""Longest name of the model's in a comment."""
_TOKENS = "tokens"
"""The length of a run as a signed number, in the C function that runs it."""


def step_contexts(
    program: Program, params: dict[Params, str], constants: tuple[str, ...]
) -> tuple[StepContext, ...]:
    """The calls of a run, in order.

    Args:
        program: the program.
        params: the C name of each argument struct.
        constants: the C name of each constant.
    """
    numbers = range(len(program.steps))
    copies = [_copy(program, number, params) for number in numbers]
    return tuple(_step(program, number, params, constants, copies) for number in numbers)


def state_contexts(program: Program, constants: tuple[str, ...]) -> tuple[StateContext, ...]:
    """The parts of the state, and what a reset makes of them."""
    sound = program.sound
    waiting = (
        ()
        if sound is None
        else (StateContext("samples that wait", sound.offset_bytes, sound.size_bytes, 0, ""),)
    )
    return waiting + tuple(
        StateContext(
            comment=comment_text(part.tensor.name, NAME_LIMIT),
            offset_bytes=part.tensor.offset_bytes,
            size_bytes=part.tensor.size_bytes,
            byte=part.byte or 0,
            constant="" if part.constant is None else constants[part.constant],
            held=part.held_runs > 0,
            held_above=program.warm_up - part.held_runs,
        )
        for part in program.state
    )


def rows_contexts(program: Program) -> tuple[RowsContext, ...]:
    """The input that the caller hands over by rows; none where runs take it whole."""
    return () if program.handed is None else (_rows(program, program.handed, 0),)


def _rows(program: Program, handed: HandedInput, number: int) -> RowsContext:
    """The input, for the loop of one of the times that it is handed over."""
    loop = program.loops[number]
    return RowsContext(
        image_rows=handed.height,
        run_rows=handed.rows,
        runs=handed.runs,
        row_bytes=handed.row_bytes,
        period=handed.period,
        turns=loop.count,
        first_padding=handed.runs * handed.period,
        padding=handed.padding,
        slide=_slid(handed.slide),
        fill=_fill(handed.slide.new),
        fills=tuple(f"{_fill(each)};" for each in program.steps[loop.first_step].fills),
        passes=handed.passes,
        number=number,
    )


def _rows_of(program: Program, loop: StepLoop) -> RowsContext | None:
    """The input, where a loop takes it by rows."""
    handed, number = program.handed, program.loops.index(loop)
    return None if handed is None or number >= handed.passes else _rows(program, handed, number)


def _step(
    program: Program,
    number: int,
    params: dict[Params, str],
    constants: tuple[str, ...],
    copies: list[CopyContext | None],
) -> StepContext:
    step, loops, copy = program.steps[number], program.loops_around(number), copies[number]
    opens = [loop for loop in loops if loop.first_step == number]
    closes = [depth for depth, loop in enumerate(loops, 1) if loop.end_step == number + 1]
    hoisted: tuple[CopyContext, ...] = ()
    if opens and opens[0] is loops[0]:
        inside = range(opens[0].first_step, opens[0].end_step)
        lasting = (copies[each] for each in inside if not _copies_each_call(program, each))
        hoisted = tuple(each for each in lasting if each is not None)
    firing = _firing(step, loops[-1], number) if loops else None
    turns = _turns(program, number)
    rows = _rows_of(program, loops[0]) if loops else None
    return StepContext(
        number=number,
        comment=comment_text(", ".join(step.sources) or step.node, NAME_LIMIT),
        function=program.kernels[step.kernel].name,
        arguments=_arguments(program, number, params, constants, copy),
        outputs=tuple(
            (_place(tensor.argument, turns), _size(program, number, tensor, loops))
            for tensor in step.outputs
        ),
        depth=len(loops) + (1 if firing is None else 3 if firing.padding else 2),
        copy=copy if _copies_each_call(program, number) else None,
        hoisted=hoisted,
        opens=tuple(_loop(program, loop, loops.index(loop)) for loop in opens),
        closes=tuple(reversed(closes)),
        firing=firing,
        fills=() if rows is not None else tuple(f"{_fill(each)};" for each in step.fills),
        begins=rows if opens else None,
        ends=rows if closes else None,
    )


def _firing(step: Step, loop: StepLoop, number: int) -> FiringContext | None:
    """The turns in which a step runs; None: all of them."""
    found, slide = loop.firing(number), step.slide
    if found is None:
        return None
    times = found.count + found.padding
    return FiringContext(
        time=_time(number),
        found=f"edgec_time({_turn(0)}, {found.phase}, {found.period}, {times})",
        count=found.count,
        slide=_slid(slide),
        padding=_fill(slide.new) if slide is not None and found.padding else "",
        depth=2,
    )


def _slid(slide: Slide | None) -> str:
    """Moves rows that later turns read; "" where there are none."""
    if slide is None or not slide.kept_bytes:
        return ""
    kept, moved = slide.kept_bytes, slide.new.size_bytes
    return f"edgec_slide(arena + {slide.offset_bytes}, {kept}U, {moved}U)"


def _fill(fill: Fill) -> str:
    byte = fill.byte if fill.byte < 128 else fill.byte - 256
    return f"(void)memset(arena + {fill.offset_bytes}, {byte}, {fill.size_bytes}U)"


def _loop(program: Program, loop: StepLoop, level: int) -> LoopContext:
    turn = _turn(level)
    first, end = "0", program.turns(loop).text(_TOKENS)
    rows = _rows_of(program, loop)
    if rows is not None:
        first, end = f"first_turn{rows.mark}", f"end_turn{rows.mark}"
    head = f"for (int32_t {turn} = {first}; {turn} < {end}; {turn}++) {{"
    return LoopContext(f"/* Turns of {comment_text(loop.name, NAME_LIMIT)}. */", head, level + 1)


def _turn(level: int) -> str:
    """The variable that counts the turns of a loop, of which `level` others are around it."""
    return f"turn_{level}"


@dataclass(frozen=True, slots=True)
class _Turn:
    """The turn of a loop in which a step runs, in C.

    Attributes:
        number: its number.
        place: its place in a tensor in which the last turn comes first, counted from the place
            that turn 0 has in the longest run: shorter runs begin further in front.
    """

    number: str
    place: str

    @classmethod
    def of(cls, variable: str, loop: StepLoop, program: Program) -> _Turn:
        """The turn that a variable of the C function counts."""
        less = f"({variable} + {program.max_length} - {_TOKENS})"
        return cls(variable, less if loop.varies else variable)


def _turns(program: Program, number: int) -> tuple[_Turn, ...]:
    """The turns of a step, of the loops around it."""
    loops = program.loops_around(number)
    if loops and loops[-1].firings:
        return (_Turn.of(_time(number), loops[-1], program),)
    return tuple(_Turn.of(_turn(level), loop, program) for level, loop in enumerate(loops))


def _time(number: int) -> str:
    """The variable that counts the times that a step runs in some turns of a loop."""
    return f"time_{number}"


def _arguments(
    program: Program,
    number: int,
    params: dict[Params, str],
    constants: tuple[str, ...],
    copy: CopyContext | None,
) -> tuple[str, ...]:
    step = program.steps[number]
    turns = _turns(program, number)
    arguments = [_argument(argument, step, constants, program, turns) for argument in step.inputs]
    arguments.append(_pointer(step.written or step.output.argument, turns))
    arguments += [_pointer(tensor.argument, turns) for tensor in step.more]
    if step.scratch is not None:
        arguments.append(_pointer(step.scratch, turns))
    tables = [f"&{params[table]}" for table in step.params]
    arguments += tables if copy is None else [f"&{copy.variable}", *tables[1:]]
    if step.runtime_bits is not None:
        arguments.append(f"width_of(context, {step.runtime_bits})")
    arguments += [size.text(_TOKENS) for size in program.sizes_of_run(number)]
    return tuple(arguments)


def _copy(program: Program, number: int, params: dict[Params, str]) -> CopyContext | None:
    step = program.steps[number]
    if step.copy is None:
        return None
    first, place = step.params[0], step.copy
    variable = "copied" if _copies_each_call(program, number) else f"copied_{number}"
    return CopyContext(first.c_type, params[first], variable, place.offset_bytes, place.size_bytes)


def _copies_each_call(program: Program, number: int) -> bool:
    """Whether the weights of a step, if they are copied, are so before each of its calls."""
    copy = program.steps[number].copy
    return not program.loops_around(number) or (copy is not None and copy.each_call)


def _size(program: Program, number: int, tensor: ProgramTensor, loops: tuple[StepLoop, ...]) -> str:
    """Bytes of an output of a step; 0 in turns, or patches, that do not complete it."""
    step = program.steps[number]
    firing = loops[-1].firing(number) if loops else None
    if firing is not None and firing.columns == (0, 0):
        return "0U"
    extent = program.extent(tensor)
    size = f"(uint32_t)({extent.text(_TOKENS)})" if extent.each else f"{extent.fixed}U"
    if step.written is None:
        return size
    # The tensor of all turns is whole after the last one.
    turns = program.turns(loops[-1])
    last = replace(turns, fixed=turns.fixed - 1).text(_TOKENS)
    return f"{_turn(len(loops) - 1)} == {last} ? {size} : 0U"


def _argument(
    argument: Argument,
    step: Step,
    constants: tuple[str, ...],
    program: Program,
    turns: tuple[_Turn, ...],
) -> str:
    if isinstance(argument, TensorArg):
        return _pointer(argument, turns)
    return _constant(argument, step, constants[argument.index], program, turns)


def _constant(
    argument: ConstantRef, step: Step, name: str, program: Program, turns: tuple[_Turn, ...]
) -> str:
    if isinstance(argument, TurnedConstant):
        start = f"(const int8_t *){name} + {argument.offset_bytes}"
        return f"(const void *)({start}{_moved(argument.strides, turns)})"
    dtype = program.constants[argument.index].dtype
    # Kernels that move data see int16 and int32 as bytes.
    is_moved = dtype is DType.INT32 and step.output.dtype is dtype
    return f"(const void *){name}" if dtype is DType.INT16 or is_moved else name


def _pointer(argument: TensorArg, turns: tuple[_Turn, ...]) -> str:
    place = _place(argument, turns)
    return place if argument.dtype is DType.INT8 else f"(void *)({place})"


def _place(argument: TensorArg, turns: tuple[_Turn, ...]) -> str:
    return f"{argument.space.value} + {argument.offset_bytes}{_moved(argument.strides, turns)}"


def _moved(strides: tuple[int, ...], turns: tuple[_Turn, ...]) -> str:
    """By how much a place moves on, " + turn_0 * 16"."""
    return "".join(
        f" - {turns[level].place} * {-stride}"
        if stride < 0
        else f" + {turns[level].number} * {stride}"
        for level, stride in enumerate(strides)
        if stride
    )
