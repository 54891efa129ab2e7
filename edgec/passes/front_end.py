"""Put a front end before a network, so that its runs take samples.

A run brings the samples of its new frames.  Those that earlier frames share with new ones, and the
features of earlier frames where the network takes a window of them, are kept as state.  A network
with a state of its own takes new frames alone, and its state begins with the first whole frame.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from edgec.base.dtypes import Array, DType
from edgec.base.errors import ConfigError
from edgec.base.fixedpoint import Requant
from edgec.base.names import shown
from edgec.base.options.front_end import OPTION
from edgec.frontends.nodes import FrontEnd
from edgec.ir import qops
from edgec.ir.graph import Graph, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qops.base import LIMITS
from edgec.ir.qparams import QuantParams
from edgec.passes.slide_windows import slide_windows
from edgec.passes.stream_rings import with_past


@dataclass(frozen=True, slots=True)
class Heard:
    """A network's input as frames of features.

    Attributes:
        shape: what the model takes, in its own order of axes.
        frames: how many frames that are.
        features: numbers of a frame.
        by_feature: the features come before the frames.
    """

    shape: tuple[int, ...]
    frames: int
    features: int
    by_feature: bool

    @classmethod
    def of(cls, shape: tuple[int, ...], features: int, name: str) -> Heard:
        """The frames that an input has.

        Args:
            shape: in the model's own order of axes.
            features: numbers of a frame.
            name: the input's.

        Raises:
            ConfigError: it has no frames of this many features.
        """
        sizes = tuple(size for size in shape[1:] if size > 1)
        count = math.prod(shape)
        if count % features == 0 and features > 0:
            frames = count // features
            own = tuple(size for size in (frames, features) if size > 1)
            if sizes in (own, (count,)):
                return cls(shape, frames, features, by_feature=False)
            if sizes == own[::-1]:
                return cls(shape, frames, features, by_feature=True)
        raise ConfigError(
            f"its frames of {features} features are no part of input {shown(name)} {list(shape)}",
            where=OPTION,
            hint=f"a network for it takes [1, frames, {features}], with axes of 1 anywhere",
        )

    def arranged(self, features: Array) -> Array:
        """Features [N, frames, features] as the model takes them, [N, ...]."""
        moved = features.transpose(0, 2, 1) if self.by_feature else features
        return moved.reshape(-1, *self.shape[1:])


@dataclass(frozen=True, slots=True)
class Sampling:
    """Samples that a network with a front end takes.

    Attributes:
        name: the input of the model that the features are for.
        run: samples that a run takes.
        lead: zeros before the first sample of a stream.
        window: samples that the outputs of a run depend on.
        warm_up: runs after a reset that give no output yet.
        remembers: the network's outputs depend on all frames since the last reset.
    """

    name: str
    run: int
    lead: int
    window: int
    warm_up: int
    remembers: bool


def with_front_end(
    graph: Graph, front: FrontEnd, heard: Heard, window: int
) -> tuple[Graph, Sampling]:
    """The network with a front end before it.

    Args:
        graph: INTEGER stage, with one input; of the whole window, or of a stream.
        front: the front end.
        heard: what the model's own input is.
        window: frames that an output of the network depends on.

    Returns:
        The graph, whose input is int16 [1, samples], and facts on its samples.

    Raises:
        ConfigError: the network has several inputs, or features with a scale each.
    """
    if len(graph.inputs) != 1:
        raise ConfigError("a front end needs a network with one input", where=OPTION)
    name = graph.only_input
    value = graph.values[name]
    codes = _codes(graph, front, heard)
    if value.quant is None or value.dtype not in LIMITS:
        raise ConfigError("features are no whole numbers", where=OPTION)
    per_run = value.elements // heard.features
    is_stream = graph.has_state or per_run < heard.frames
    # Frames that are not in memory any more after the warm-up of a stream out of a window.
    remembers = graph.has_state and not graph.warm_up
    new = per_run if is_stream else 1
    run = new * front.hop
    builder = GraphBuilder.of(graph)
    samples = builder.fresh("samples")
    builder.value(Value(samples, (1, run), DType.INT16, front.sample_codes))
    sound = front.filtered(builder, samples)
    kept = (front.samples(new) - run) // front.every
    sound = with_past(builder, sound, 1, kept) if kept else sound
    lead = (front.hop - front.window) % run
    first = (lead + front.window + (new - 1) * front.hop) // run
    early = (first - 1) * new
    if remembers:
        _hold(builder, graph, first - 1)
    rows = _in_codes(builder, front.add(builder, sound, early, codes), value)
    if heard.frames > new and not is_stream:
        rows = with_past(builder, rows, 1, heard.frames - new)
    builder.rewire(name, _arranged(builder, rows, graph, heard))
    builder.inputs = [samples]
    builder.input_layouts = {}
    builder.input_features = {}
    more = graph.warm_up if is_stream else heard.frames - 1
    builder.warm_up = first - 1 + more
    builder.lead = lead
    taken = front.window + (window - 1) * front.hop
    found = Sampling(name, run, lead, taken, builder.warm_up, remembers)
    return slide_windows(builder.build()), found


def _codes(graph: Graph, front: FrontEnd, heard: Heard) -> QuantParams | None:
    """The scale of the codes of the network's input, one for all or one for each feature.

    Raises:
        ConfigError: they have a scale each, but not one for each feature of this front end.
    """
    name = graph.only_input
    found = graph.input_features.get(name)
    if found is None:
        return graph.values[name].quant
    if front.is_sound or heard.by_feature or len(found.scale) != front.features:
        raise ConfigError(
            "a front end needs a network whose features share a scale, or have one each",
            where=OPTION,
        )
    return found


def _hold(builder: GraphBuilder, graph: Graph, runs: int) -> None:
    """Let the state of a network begin after some runs, those of frames that are not whole."""
    for name in graph.state:
        carry = graph.producers[name]
        held = replace(carry.attrs_as(qops.QCarry), held_runs=runs)
        builder.put(replace(carry, attrs=held))


def _in_codes(builder: GraphBuilder, features: str, value: Value) -> str:
    """The features as codes of the network's input, in their own shape."""
    quant, own = value.quant, builder.values[features]
    if quant is None or own.quant is None or own.quant == quant:
        return features
    factor = own.quant.tensor_scale / quant.tensor_scale
    low, high = LIMITS[value.dtype]
    requant = Requant.from_real([factor], high + 1)
    form = qops.Requant31(requant.shift, quant.tensor_zero_point, low, high, value.dtype)
    made = builder.fresh("features")
    builder.value(replace(own, name=made, dtype=value.dtype, quant=quant))
    attrs = qops.QRescale(form, int(requant.multiplier[0]))
    builder.node(made, attrs, qops.QRescale.Inputs(features), (made,), ("front end",))
    return made


def _arranged(builder: GraphBuilder, rows: str, graph: Graph, heard: Heard) -> str:
    """Rows [1, T, F] in the shape and the order of axes of the graph's input."""
    name = graph.only_input
    shape = graph.shape(name)
    perm = graph.input_layouts.get(name, tuple(range(len(shape))))
    # The graph's axes longer than 1, as axes of the model.
    long = [axis for axis in perm if heard.shape[axis] > 1]
    if heard.by_feature != (long != sorted(long)):
        value = builder.values[rows]
        _, frames, features = value.shape
        turned = builder.fresh(f"{rows} turned")
        builder.value(replace(value, name=turned, shape=(1, features, frames)))
        builder.node(turned, qops.QTranspose((0, 2, 1)), (rows,), (turned,))
        rows = turned
    made = builder.fresh(f"{name} heard")
    builder.value(replace(builder.values[rows], name=made, shape=shape))
    builder.node(made, qops.QReshape(shape), (rows,), (made,))
    return made
