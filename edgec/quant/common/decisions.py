"""Agreement of integer and float classes on samples: the accuracy that needs no labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from edgec.base.dtypes import Array
from edgec.floatrun.activations import MANY_SAMPLES, activations
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.infer import total_macs
from edgec.quant.common.output_noise import named_by
from edgec.quant.common.report import Decisions
from edgec.quant.common.sample_codes import Outputs, runs

_MOST_SAMPLES, _LEAST_SAMPLES = 64, 8
_WORK = 4e8
"""Multiply-accumulates of all samples together, a second at most; an element of a tensor takes the
time of `_ELEMENT_WORK`.  What is done never depends on how fast the computer is."""
_ELEMENT_WORK = 16


class FloatDecisions:
    """The classes that a float network names on samples."""

    def __init__(
        self,
        real: Graph,
        data: Mapping[str, Array],
        most: int = _MOST_SAMPLES,
        work: float = _WORK,
        known: Sequence[Mapping[str, Array]] = (),
    ) -> None:
        """Run the network.

        Args:
            real: REAL stage.
            data: graph input name to [N, ...], as calibration takes it.
            most: samples that are used, at most.
            work: multiply-accumulates of all samples together; 8 samples are used in any case.
            known: the outputs for the first samples.
        """
        self._names = [name for name in real.outputs if _decides(real, name)]
        self._classes = all(_scores_classes(real, name) for name in self._names)
        elements = sum(real.values[name].elements for n in real.nodes for name in n.outputs)
        one = total_macs(real) + _ELEMENT_WORK * elements
        count = min(max(int(work / max(one, 1)), _LEAST_SAMPLES), most)
        # Each sample of a stream depends on those before it.
        known = () if real.has_state else known[:count]
        self._wanted = [self._named(outputs) for outputs in known]
        self._data = {name: array[:count] for name, array in data.items()}
        rest = {name: array[len(known) :] for name, array in self._data.items()}
        if not self._names or not len(next(iter(rest.values()))):
            return
        for _, batch in activations(real, self._names, rest, MANY_SAMPLES):
            for index in range(len(batch[self._names[0]])):
                self._wanted.append(self._named({n: a[index] for n, a in batch.items()}))

    def _named(self, outputs: Mapping[str, Array]) -> list[int]:
        return [_class(outputs[name]) for name in self._names]

    @property
    def names_classes(self) -> bool:
        """Whether an output may name a class."""
        return bool(self._names)

    def equal_of(self, integer: Graph, known: Sequence[Mapping[str, Array]] = ()) -> Decisions:
        """Count equal decisions of an integer graph with outputs of the same names.

        Args:
            integer: INTEGER stage.
            known: its outputs for the first samples.
        """
        known = () if integer.has_state else known[: len(self._wanted)]
        rest = {name: array[len(known) :] for name, array in self._data.items()}
        found = [self._named(codes) for codes in chain(known, runs(integer, rest))]
        equal = sum(wanted == own for wanted, own in zip(self._wanted, found, strict=True))
        return Decisions(equal, len(self._wanted), self._classes)


def decisions_of(
    real: Graph, integer: Graph, data: Mapping[str, Array], known: Outputs | None = None
) -> Decisions | None:
    """Compare the classes that the outputs name or score, on 8 to 64 samples.

    Args:
        real: REAL stage.
        integer: INTEGER stage, with outputs of the same names.
        data: graph input name to [N, ...], as calibration takes it.
        known: what both give for the first samples.

    Returns:
        How many are equal; None where no output can name a class.
    """
    known = known or Outputs()
    found = FloatDecisions(real, data, known=known.real)
    return found.equal_of(integer, known.codes) if found.names_classes else None


def _decides(real: Graph, name: str) -> bool:
    """Whether the largest element of an output is what its reader wants.

    Of one vector it may be, except of one that is as long as an input: that restores something.
    """
    sizes = [size for size in real.shape(name) if size > 1]
    lengths = [math.prod(real.shape(each)) for each in real.inputs]
    node = named_by(real, name)
    if node is not None and isinstance(node.attrs, ops.ArgMax):
        return not sizes  # of several numbers of classes, the largest is none of them
    if node is not None and isinstance(node.attrs, ops.Softmax | ops.LogSoftmax):
        return len(sizes) == 1  # a softmax of one class is 1 whatever comes
    return len(sizes) == 1 and sizes[0] not in lengths


def _scores_classes(real: Graph, name: str) -> bool:
    """Whether an output is known to be about classes: nobody takes a softmax of other numbers."""
    node = named_by(real, name)
    kinds = ops.ArgMax | ops.Softmax | ops.LogSoftmax
    return node is not None and isinstance(node.attrs, kinds)


def _class(scores: Array) -> int:
    """The number of the largest element; of a single one, its value."""
    flat = np.asarray(scores).reshape(-1)
    return int(flat[0] if flat.size == 1 else flat.argmax())
