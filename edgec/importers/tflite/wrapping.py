"""Indices that Keras' Embedding counts from the end where they are negative.

Keras writes ``where(ids < 0, ids + rows, ids)`` before each GATHER.  A GATHER of edgec takes ids
of at least 0, for which this is ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from edgec.importers.tflite.load_tensor import FileModel, FileOperator

_CHOICE = ("SELECT", "SELECT_V2")


def without_wrapping(model: FileModel) -> tuple[FileOperator, ...]:
    """The operators of a file's first network; each GATHER reads ids before they are wrapped."""
    made = {number: each for each in model.operators for number in each.outputs}
    wrapped: set[int] = set()
    operators = []
    for each in model.operators:
        ids = _ids(model, made, each)
        if ids is None:
            operators.append(each)
            continue
        table, chosen, *more = each.inputs
        wrapped |= _parts(made, chosen)
        operators.append(replace(each, inputs=(table, ids, *more)))
    return _without_unread(operators, wrapped, model.outputs) if wrapped else model.operators


def _ids(model: FileModel, made: Mapping[int, FileOperator], gather: FileOperator) -> int | None:
    """The ids that a GATHER reads wrapped; None for any other operator."""
    if gather.op != "GATHER" or len(gather.inputs) < 2:
        return None
    table, chosen = gather.inputs[:2]
    choice = made.get(chosen)
    if choice is None or choice.op not in _CHOICE or len(choice.inputs) != 3:
        return None
    condition, counted, ids = choice.inputs
    below, added = made.get(condition), made.get(counted)
    if below is None or below.op != "LESS" or added is None or added.op != "ADD":
        return None
    rows = model.tensors[table].shape[0] if model.tensors[table].shape else 0
    negative = below.inputs[:1] == (ids,) and _number(model, below.inputs[1:]) == 0
    plus = sorted(added.inputs, key=lambda number: number != ids)
    return ids if negative and plus[:1] == [ids] and _number(model, plus[1:]) == rows else None


def _number(model: FileModel, numbers: Sequence[int]) -> int | None:
    """The only element of a constant of whole numbers."""
    if len(numbers) != 1 or numbers[0] < 0:
        return None
    data = model.tensors[numbers[0]].data
    whole = data is not None and data.size == 1 and data.dtype.kind in "iu"
    return int(data.reshape(-1)[0]) if data is not None and whole else None


def _parts(made: Mapping[int, FileOperator], chosen: int) -> set[int]:
    """The tensors that are computed to wrap ids: the choice, its condition, and the sum."""
    condition, counted, _ = made[chosen].inputs
    return {chosen, condition, counted}


def _without_unread(
    operators: Sequence[FileOperator], wrapped: set[int], outputs: Sequence[int]
) -> tuple[FileOperator, ...]:
    """The operators without those that wrap ids that nobody reads any more."""
    read = set(outputs)
    kept = []
    for each in reversed(operators):
        if each.outputs and set(each.outputs) <= wrapped - read:
            continue
        read |= {*each.inputs}
        kept.append(each)
    return tuple(reversed(kept))
