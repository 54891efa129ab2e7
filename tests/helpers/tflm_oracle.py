"""TensorFlow Lite Micro's interpreter, tensor by tensor, beside edgec's integers of one file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions
from edgec.importers.tflite.load import load_file
from edgec.importers.tflite.load_tensor import FileModel, FileTensor
from edgec.interp import run_graph, state_after
from edgec.ir.graph import Graph
from edgec.quant.cnn.annotation import annotate
from edgec.quant.convert.conversion import to_integer
from edgec.quant.convert.converters import CONVERTERS
from edgec.workflow.integer import integer_model, real_model

needs_tflm = pytest.mark.skipif(
    find_spec("tflite_micro") is None,
    reason="needs TensorFlow Lite Micro: pip install edgec[tflm-oracle]",
)

_ARENA_BYTES = 8 << 20


class Micro:
    """A file in TensorFlow Lite Micro, every tensor of which can be read."""

    def __init__(self, path: Path) -> None:
        from tflite_micro.python.tflite_micro import runtime

        self.model: FileModel = load_file(path)
        self._interpreter = runtime.Interpreter.from_file(
            str(path),
            arena_size=_ARENA_BYTES + 20 * path.stat().st_size,
            intrepreter_config=runtime.InterpreterConfig.kPreserveAllTensors,
        )

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Every computed tensor of one inference by its name, 8-bit codes as int8.

        Args:
            inputs: by the file's names of them, int8 where the file has int8 or uint8.
        """
        model = self.model
        for place, number in enumerate(model.inputs):
            tensor = model.tensors[number]
            self._interpreter.set_input(_as_stored(tensor, inputs[tensor.name]), place)
        self._interpreter.invoke()
        found = {}
        for number, tensor in enumerate(model.tensors[: model.count]):
            if tensor.data is None and tensor.type != "RESOURCE":
                array = np.array(self._interpreter.GetTensor(number, 0)["tensor_data"])
                found[tensor.name] = _signed(array).reshape(tensor.shape)
        return found


def _as_stored(tensor: FileTensor, array: Array) -> Array:
    unsigned = tensor.type == "UINT8" and array.dtype == np.int8
    stored = (array.astype(np.int16) + 128).astype(np.uint8) if unsigned else array
    return np.ascontiguousarray(stored.reshape(tensor.shape))


def _signed(array: Array) -> Array:
    if array.dtype == np.uint8:
        return (array.astype(np.int16) - 128).astype(np.int8)
    return array


@dataclass
class Comparison:
    """What was compared, and what differs.

    Attributes:
        compared: the file's tensors that exist on both sides.
        missing: those that edgec's graph does not hold: fused, folded, or of other channels.
        different: elements that differ by tensor, in the order in which they are computed.
        elements: how many elements were compared.
    """

    compared: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    different: dict[str, int] = field(default_factory=dict)
    elements: int = 0

    def __str__(self) -> str:
        said = f"{len(self.compared)} tensors and {self.elements} elements compared"
        left = f", {len(self.missing)} tensors are missing" if self.missing else ""
        first = next(iter(self.different.items()), None)
        return f"{said}{left}; " + (
            "all equal" if first is None else f"{first[1]} elements of {first[0]!r} differ first"
        )


def plain_integers(path: Path, options: CompileOptions | None = None) -> Graph:
    """The integer graph of a file before anything in it is fused or removed."""
    options = options or CompileOptions()
    graph = real_model(path, None, options).graph
    annotated, _ = annotate(graph, None, options.quant, lambda *_: None, CONVERTERS)
    return to_integer(annotated, CONVERTERS)


def compare(
    path: Path, graph: Graph, samples: list[dict[str, Array]], micro: Micro | None = None
) -> Comparison:
    """Every tensor that TensorFlow Lite Micro and an integer graph of edgec both have.

    The samples are the runs of one stream.

    Args:
        path: the file.
        graph: INTEGER stage, made of the file.
        samples: int8 codes of the inputs by name, in the file's shapes.
        micro: the file in TensorFlow Lite Micro, if it is there already.
    """
    micro = micro or Micro(path)
    names = _file_names(micro.model, graph)
    result = Comparison()
    held = set(names.values())
    for number, tensor in enumerate(micro.model.tensors):
        if tensor.data is None and tensor.name not in held and number not in micro.model.inputs:
            result.missing.append(tensor.name)
    result.compared = list(names.values())
    state: dict[str, Array] = {}
    for sample in samples:
        found = _compare_sample(result, graph, names, micro.run(sample), sample, state)
        state = state_after(graph, found)
    return result


def _compare_sample(
    result: Comparison,
    graph: Graph,
    names: Mapping[str, str],
    wanted: Mapping[str, Array],
    sample: Mapping[str, Array],
    state: Mapping[str, Array],
) -> dict[str, Array]:
    codes = {name: laid_out(graph, name, sample[name]) for name in graph.inputs}
    found = run_graph(graph, codes, state)
    for value, name in names.items():
        theirs = wanted[name]
        if value in graph.output_layouts:
            theirs = theirs.transpose(graph.output_layouts[value])
        ours = found[value]
        result.elements += ours.size
        count = int(np.count_nonzero(ours.ravel() != theirs.ravel()))
        if count:
            result.different[name] = result.different.get(name, 0) + count
    return found


def laid_out(graph: Graph, name: str, array: Array) -> Array:
    axes = graph.input_layouts.get(name, tuple(range(array.ndim)))
    return np.ascontiguousarray(array.transpose(axes)).reshape(graph.shape(name))


def _file_names(model: FileModel, graph: Graph) -> dict[str, str]:
    """The file's tensor that each value of the graph holds, for those that hold one."""
    # Values of an operator with several outputs are all named by the first of these.
    several = {n for operator in model.operators for n in operator.outputs[1:] and operator.outputs}
    sizes = {
        t.name: t.shape
        for number, t in enumerate(model.tensors)
        if t.data is None and number not in several
    }
    names: dict[str, str] = {}
    for node in graph.nodes:
        name = _stem(node.output, sizes)
        if name is None:
            continue
        # Of several nodes that one operator became, the last one has its result.
        for earlier in [value for value, other in names.items() if other == name]:
            del names[earlier]
        if np.prod(graph.shape(node.output)) == np.prod(sizes[name]):
            names[node.output] = name
    return names


def _stem(value: str, names: Mapping[str, object]) -> str | None:
    """The longest name of a tensor of the file that a value's name begins with."""
    parts = value.split("/")
    stems = ("/".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((stem for stem in stems if stem in names), None)


def codes_for(path: Path, count: int, seed: int = 0) -> list[dict[str, Array]]:
    """Random codes of every input of a file."""
    rng, model = np.random.default_rng(seed), load_file(path)
    inputs = [model.tensors[number] for number in model.inputs]
    return [
        {t.name: rng.integers(-128, 128, t.shape).astype(np.int8) for t in inputs}
        for _ in range(count)
    ]


def check_exact(path: Path, samples: list[dict[str, Array]] | None = None) -> Comparison:
    """Compare edgec's integers of a file, as converted and as optimised, and expect no difference.

    Returns:
        What was compared of the graph as converted.
    """
    model, samples = load_file(path), samples or codes_for(path, 2)
    plain = compare(path, plain_integers(path), samples)
    ready = compare(path, integer_model(path, None, CompileOptions()).integer, samples)
    outputs = {model.tensors[number].name for number in model.outputs}
    for found in (plain, ready):
        assert outputs <= {*found.compared}, f"{found}; outputs: {outputs}"
        assert not found.different, str(found)
    return plain
