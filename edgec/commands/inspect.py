"""`edgec inspect`: what a model consists of, what of it is alive, and what cannot be compiled."""

from __future__ import annotations

import dataclasses
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgec.base.description import NOTHING_SAID, Description
from edgec.base.errors import EdgecError, UnsupportedModelError, UnsupportedNode
from edgec.base.names import shown
from edgec.base.options import IntegerOptions, MaxLength, QuantOptions, StatePairs
from edgec.importers.common.summary import ModelSummary
from edgec.importers.formats import describe, inspect_model
from edgec.ir.graph import Graph
from edgec.ir.infer import total_macs
from edgec.ir.sparsity import Zeros, zeros_of
from edgec.passes.rows.least import least_bytes, whole_bytes
from edgec.workflow.integer import input_shapes, integer_model
from edgec.workflow.rounding import rounding_of

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Activations:
    """Bytes of activations that live at a time, without working memory of kernels.

    Attributes:
        whole: layer by layer.
        rows: with layers in turns of a few rows (`--rows always`); None: none can.
        input_rows: where the image comes by rows, too (`--input-rows`); None: it cannot.
    """

    whole: int
    rows: int | None
    input_rows: int | None

    @classmethod
    def of(cls, graph: Graph) -> Activations | None:
        """Count for an integer graph; None where runs have a state, loops or chosen lengths."""
        if not graph.is_straight or graph.length is not None:
            return None
        whole = whole_bytes(graph)
        most = max(whole.values(), default=0)
        rows, by_rows = (least_bytes(graph, whole, input_rows=each) for each in (False, True))
        return cls(
            most,
            rows if rows is not None and rows < most else None,
            by_rows if by_rows is not None and by_rows < most else None,
        )


@dataclass(frozen=True, slots=True)
class Inspection:
    """A model's summary.

    Attributes:
        summary: nodes and totals.
        live_macs: multiply-accumulates left after dead and constant channels are removed; None
            when the model cannot be quantized.
        max_length: longest run of a model of variable length, whose shapes these are; 0: there is
            one length.
        about: what the file says of itself.
        rounding: whose rounding its codes have, and where not, in words; "" for float models.
        state_bytes: codes that a run leaves to the next one; 0: none, or not known.
        activations: memory of activations; None where it is not known.
        zeros: those among the weights of each layer, as codes; none where these are not known.
    """

    summary: ModelSummary
    live_macs: int | None
    max_length: int = 0
    about: Description = NOTHING_SAID
    rounding: str = ""
    state_bytes: int = 0
    activations: Activations | None = None
    zeros: tuple[Zeros, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        summary = self.summary
        data: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(summary)))
        return {
            **data,
            "macs": summary.macs,
            "live_macs": self.live_macs,
            "parameters": summary.parameters,
            "supported": summary.supported,
            "max_length": self.max_length,
            "metadata": dataclasses.asdict(self.about),
            "rounding": self.rounding,
            "state_bytes": self.state_bytes,
            "activations": None
            if self.activations is None
            else dataclasses.asdict(self.activations),
            "zeros": [dataclasses.asdict(each) for each in self.zeros],
        }


def inspect(
    path: Path | str,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    max_length: MaxLength | None = None,
    state: StatePairs | None = None,
    values: Mapping[str, tuple[int | float, ...]] | None = None,
) -> Inspection:
    """Describe a model; works for models that cannot be compiled, too.

    Args:
        path: ONNX or TensorFlow Lite file.
        shapes: input name to shape, for models with dynamic dimensions.
        max_length: the dimension whose length each run chooses.
        state: inputs and outputs that are kept from run to run; None: those that names say.
        values: numbers that inputs are fixed to.

    Raises:
        ImportModelError: the file is no sound model.
        ConfigError: an option does not fit the model.
    """
    path = Path(path)
    options = IntegerOptions(
        shapes=shapes or {},
        max_length=max_length,
        state=state or StatePairs(),
        values=values or {},
        quant=QuantOptions(synthetic_samples=1),  # no number of the summary hangs on samples
    )
    longest = 0 if max_length is None else max_length.maximum
    summary = inspect_model(path, input_shapes(path, options), options.state, options.values)
    about = describe(path)
    if not summary.supported:
        return Inspection(summary, None, longest, about)
    try:
        integer = _integer(path, options)
    except UnsupportedModelError as error:
        return Inspection(_with_problems(summary, error.nodes), None, longest, about)
    if integer is None:
        return Inspection(summary, None, longest, about)
    state_bytes = sum(integer.values[name].size_bytes for name in integer.state)
    live = total_macs(integer)
    memory = Activations.of(integer)
    rounding = rounding_of(integer)
    zeros = zeros_of(integer)
    return Inspection(summary, live, longest, about, rounding, state_bytes, memory, zeros)


def _with_problems(summary: ModelSummary, problems: Sequence[UnsupportedNode]) -> ModelSummary:
    """The summary, with what only the quantizer refuses."""
    refused = {problem.name: problem for problem in problems}
    nodes = tuple(
        dataclasses.replace(node, supported=False, reason=found.reason, remedy=found.remedy)
        if (found := refused.get(shown(node.name))) is not None
        else node
        for node in summary.nodes
    )
    return dataclasses.replace(summary, nodes=nodes)


def _integer(path: Path, options: IntegerOptions) -> Graph | None:
    """The integer graph; None if the model cannot be quantized."""
    # Which channels are dead hangs on the weights; that the activation ranges are made up here does
    # not matter, so the warning about it would only mislead.
    logger = logging.getLogger("edgec.quant")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        return integer_model(path, None, options).integer
    except UnsupportedModelError:
        raise
    except EdgecError as error:
        _LOG.info("live MACs are unknown: %s", error)
        return None
    finally:
        logger.setLevel(level)
