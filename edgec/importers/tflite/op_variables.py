"""Operators whose state has a name (variables), or is their own output (rings)."""

from __future__ import annotations

from dataclasses import replace

from edgec.base.dtypes import DType
from edgec.base.names import shown
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.tflite.context import Context, code_params
from edgec.importers.tflite.node import TfliteNode
from edgec.importers.tflite.states import carried, keep, meaning, same_codes, slid, state_of, zeros
from edgec.importers.tflite.variables import Variable
from edgec.ir.graph import Constant, Value
from edgec.ir.qparams import QuantParams

_EVERY_RUN = (5, 13, 25)
"""Rows of rings that TensorFlow Lite Micro runs each time where the file does not say it."""


def var_handle(ctx: Context, node: TfliteNode) -> Tensor:
    """Any name; all handles of one name are of one variable."""
    container, name = node.text("Container"), node.text("SharedName")
    return ctx.variables.handle(node.outputs[0], container, name or "")


def call_once(ctx: Context, node: TfliteNode) -> tuple[Tensor, ...]:
    """Its network assigns constants to variables, before others read or assign these."""
    for operator in node.body("InitSubgraphIndex").operators:
        inner = TfliteNode(operator, ctx)
        if operator.op == "VAR_HANDLE":
            ctx.tensors[inner.outputs[0]] = var_handle(ctx, inner)
        elif operator.op == "ASSIGN_VARIABLE":
            _begin(inner)
        else:
            raise UnsupportedError(
                f"the network that it calls computes ({shown(operator.op)})",
                "let it assign constants only",
            )
    return ()


def read_variable(ctx: Context, node: TfliteNode) -> Tensor:
    """Real numbers or codes of one meaning; what was assigned last, in this run or before."""
    variable, file = _of_run(ctx, node), node.output_file
    quant = meaning(file, file.shape)
    if variable.now is None and variable.before is None:
        start = variable.start or zeros(file.name, file.shape, quant)
        start = _fitting(start, quant)
        variable.before = _alike(variable, start, file.shape, quant)
        if ctx.keeps_state and _is_assigned(ctx, variable):
            variable.before = carried(ctx, start, variable.name)
    found = variable.now if variable.now is not None else variable.before
    assert found is not None
    return _alike(variable, found, file.shape, quant)


def assign_variable(ctx: Context, node: TfliteNode) -> tuple[Tensor, ...]:
    """Real numbers or codes, of the shape and meaning that others read."""
    variable, x = _of_run(ctx, node), node.tensor(1)
    held = variable.held
    if held is not None:
        x = _fitting(x, held.quant) if isinstance(x, Constant) else x
        x = _alike(variable, x, held.shape, held.quant)
    elif x.quant is None and x.dtype is not DType.FLOAT32:
        raise UnsupportedError(
            f"the variable {shown(variable.name)} holds {x.dtype.value} numbers without a scale",
            "let variables hold real numbers or their codes",
        )
    variable.now, variable.assigned_by = x, ctx.current
    return ()


def update_variables(ctx: Context) -> None:
    """Let what a run has assigned be what the next one reads, after all operators."""
    for each in ctx.variables.found:
        if isinstance(each.before, Value) and each.now is not None and each.assigned_by is not None:
            ctx.begin(each.assigned_by)
            now = each.now
            keep(ctx, ctx.real(now) if isinstance(now, Value) else now, each.before)


def circular_buffer(ctx: Context, node: TfliteNode) -> Tensor:
    """Int8, a ring of the last inputs, whose output is a variable tensor; no run is left out."""
    x, file = node.real(0), node.output_file
    codes, quant = node.input_params(0), code_params(file, file.shape)
    batch, rows, *rest = (*file.shape, 0, 0)[:4] if len(file.shape) == 4 else (0, 0)
    if x.shape != (batch, 1, *rest) or batch != 1 or rows < 1:
        raise UnsupportedError(
            f"its input is {list(x.shape)}, its ring {list(file.shape)}", "correct the model"
        )
    if quant is None or quant.dtype is not DType.INT8 or not same_codes(codes, quant):
        raise UnsupportedError(
            "its input and its ring are no int8 codes of one meaning", "convert the model again"
        )
    turns = max(node.own("cycles_max"), 0) or (1 if rows in _EVERY_RUN else 2)
    if turns != 1:
        raise UnsupportedError(
            f"what follows it runs once in {turns} runs", "let every run compute the whole network"
        )
    before = state_of(ctx, node.output_number, file.shape)
    after = slid(ctx, before, x)
    keep(ctx, after, before)
    return after


def _begin(node: TfliteNode) -> None:
    """Note the value that a network that is called once assigns to a variable."""
    variable = node.variable()
    if variable.before is not None or variable.now is not None:
        raise UnsupportedError(
            f"it assigns {shown(variable.name)} after another operator has read or assigned it",
            "let it be the first operator",
        )
    variable.start = node.constant(1, f"the initial value of {shown(variable.name)}")


def _of_run(ctx: Context, node: TfliteNode) -> Variable:
    """The variable that an operator reads or assigns once a run."""
    if ctx.loop is not None:
        raise UnsupportedError(
            "it reads or assigns a variable in a loop", "read it before the loop, assign it after"
        )
    return node.variable()


def _is_assigned(ctx: Context, variable: Variable) -> bool:
    """Whether an operator of the run assigns a variable."""
    handles = set()
    for operator in ctx.model.operators:
        if operator.op == "VAR_HANDLE":
            node = TfliteNode(operator, ctx)
            name = node.text("Container"), node.text("SharedName") or ""
            if ctx.variables.called(*name) is variable:
                handles.add(operator.outputs[0])
        elif operator.op == "ASSIGN_VARIABLE" and handles.intersection(operator.inputs[:1]):
            return True
    return False


def _fitting(x: Constant, quant: QuantParams | None) -> Constant:
    """X, whose codes mean `quant` where the file does not say what they mean."""
    if x.quant is None and quant and x.dtype is quant.dtype:
        return replace(x, quant=quant)
    return x


def _alike(
    variable: Variable, x: Tensor, shape: tuple[int, ...], quant: QuantParams | None
) -> Tensor:
    """X, which a variable holds, if it has the shape and codes that its readers expect.

    Raises:
        UnsupportedError: it has not.
    """
    real = quant is None and x.dtype is DType.FLOAT32
    if x.shape != shape or not (real or same_codes(x.quant, quant)):
        raise UnsupportedError(
            f"the variable {shown(variable.name)} holds {_text(x.shape, x.quant, x.dtype)}, "
            f"and {_text(shape, quant, DType.FLOAT32)}",
            "let all that is read and assigned have one shape and one scale",
        )
    return x


def _text(shape: tuple[int, ...], quant: QuantParams | None, dtype: DType) -> str:
    sizes = list(shape)
    if quant is None:
        return f"{dtype.value} {sizes}"
    return (
        f"{quant.dtype.value} {sizes} of scale {quant.scale[0]:g}, zero point {quant.zero_point[0]}"
    )
