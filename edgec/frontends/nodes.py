"""The nodes of a front end in an integer graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.frontends.mel import cepstrum_tables, mel_tables
from edgec.frontends.micro import MicroParameters
from edgec.frontends.parameters import Parameters
from edgec.frontends.sensor import SensorParameters, sensor_tables
from edgec.interp import run_graph
from edgec.ir import qops
from edgec.ir.graph import Graph, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qops.biquad import state_size
from edgec.ir.qparams import FEATURE_STEP, QuantParams

SAMPLES = QuantParams.per_tensor(2.0**-15, 0, DType.INT16)
"""Samples of 16 bits as numbers of -1 to 1."""
_SOURCE = "front end"


@dataclass(frozen=True, slots=True)
class FrontEnd:
    """A front end: frames of samples become features.

    Samples of several axes come in turn and are counted together.

    Attributes:
        name: in reports, with what differs from its defaults.
        parameters: its numbers.
    """

    name: str
    parameters: Parameters

    @property
    def features(self) -> int:
        """Numbers of a frame."""
        return self.parameters.features

    @property
    def axes(self) -> int:
        """Axes whose samples come in turn."""
        return self._sensor.axes if self._sensor else 1

    @property
    def hop(self) -> int:
        """Samples from frame to frame."""
        return self.parameters.hop * self.axes

    @property
    def window(self) -> int:
        """Samples of a frame."""
        return self.parameters.window * self.axes

    @property
    def rate(self) -> float:
        """Samples a second; a whole number where they are sound."""
        return self.parameters.rate * self.axes

    @property
    def sample_codes(self) -> QuantParams:
        """The numbers that codes of samples stand for."""
        return self._sensor.samples if self._sensor else SAMPLES

    @property
    def full_scale(self) -> float:
        """The number that a sample of 32768 stands for."""
        return self._sensor.full_scale if self._sensor else 1.0

    @property
    def is_sound(self) -> bool:
        """Whether it hears, so that recordings are `.wav` files."""
        return self._sensor is None

    @property
    def remembers(self) -> bool:
        """Whether features depend on all samples since the last reset."""
        if self._sensor:
            return self._sensor.has_filter
        return isinstance(self.parameters, MicroParameters)

    @property
    def _sensor(self) -> SensorParameters | None:
        return self.parameters if isinstance(self.parameters, SensorParameters) else None

    def samples(self, frames: int) -> int:
        """Samples that some frames are computed from."""
        return self.parameters.before + self.window + (frames - 1) * self.hop

    def filtered(self, builder: GraphBuilder, x: str) -> str:
        """Add the filters that run over all samples, where there are some.

        Args:
            builder: gets them.
            x: new samples, int16 [1, L], L a multiple of the hop.

        Returns:
            int16 [1, L / `every`].
        """
        p = self._sensor
        if p is None or not p.has_filter:
            return x
        _, codes = p.filters()
        size = (1, state_size(p.axes, len(codes)))
        sections = builder.constant(f"{_SOURCE} sections", codes)
        attrs, samples = qops.QBiquad(p.axes, p.decimate), builder.values[x].shape[1]
        with _State(builder, "filter", np.zeros(size, np.int32)) as state:
            found = builder.value(
                Value(builder.fresh("filtered"), (1, samples // p.decimate), DType.INT16, p.samples)
            )
            inputs = qops.QBiquad.Inputs(x, state.before, sections)
            builder.node(found, attrs, inputs, (found, state.after), (_SOURCE,))
        return found

    @property
    def every(self) -> int:
        """Samples for each one that the filters leave."""
        return self._sensor.decimate if self._sensor else 1

    def add(
        self, builder: GraphBuilder, x: str, early: int = 0, codes: QuantParams | None = None
    ) -> str:
        """Add the nodes that compute features.

        Args:
            builder: gets them.
            x: samples, int16 [1, `samples(T) / every`], with those before the first frame; of
                `filtered`.
            early: frames after a reset that begin before the first sample; what is known of a
                stream is not learnt from them.
            codes: what codes of the features stand for in the network, one scale for all or one for
                each; None: int16 codes of the front end's own.

        Returns:
            The value of the features, [1, T, `features`]: in the codes that are asked for, or in
            int16 codes with one scale.

        Raises:
            ConfigError: numbers that integers do not hold.
        """
        p = self.parameters
        if isinstance(p, MicroParameters):
            return _micro(builder, x, p, early)
        if isinstance(p, SensorParameters):
            return _sensor(builder, x, p, codes)
        mel = mel_tables(p)
        frames = (builder.values[x].shape[1] - self.samples(1)) // p.hop + 1
        names = ("window", "sines", "bank", "bins")
        tables = [builder.constant(f"{_SOURCE} {name}", getattr(mel, name)) for name in names]
        energies = _value(builder, "log-mel", (1, frames, p.filters), mel.scale)
        inputs = qops.QLogMel.Inputs(x, *tables)
        builder.node(energies, mel.attrs, inputs, (energies,), (_SOURCE,))
        if not p.coefficients:
            return energies
        found = cepstrum_tables(p, mel)
        rows = _reshaped(builder, energies, (frames, 1, 1, p.filters))
        weights = builder.constant(f"{_SOURCE} cosines", found.weights)
        bias = builder.constant(f"{_SOURCE} zeros", np.zeros(p.coefficients, np.int32))
        cepstra = _value(builder, "cepstrum", (frames, 1, 1, p.coefficients), found.scale)
        windows = qops.QWindowDot.Inputs(rows, weights, bias)
        builder.node(cepstra, found.attrs, windows, (cepstra,), (_SOURCE,))
        return _reshaped(builder, cepstra, (1, frames, p.coefficients))

    def graph(self, frames: int) -> Graph:
        """The front end alone, from samples to the features of some frames."""
        builder = GraphBuilder(self.name)
        x = builder.value(
            Value("samples", (1, self.samples(frames)), DType.INT16, self.sample_codes)
        )
        builder.inputs.append(x)
        builder.outputs.append(self.add(builder, self.filtered(builder, x)))
        return builder.build()

    def features_of(self, sound: Array) -> Array:
        """Features of recordings, as they are computed on the device.

        Args:
            sound: int16 [N, L], L at least the samples of a frame.

        Returns:
            float32 [N, T, `features`], the frames that the samples fill, the first of which begins
            with the first sample.
        """
        p = self.parameters
        frames = (sound.shape[1] - self.window) // self.hop + 1
        graph = self.graph(frames)
        (output,) = graph.outputs
        used = self.samples(frames)
        padded = np.pad(sound, ((0, 0), (p.before, 0)))[:, :used]
        found = [run_graph(graph, {"samples": each[None]})[output] for each in padded]
        if self._sensor:
            steps = sensor_tables(self._sensor).scales
            return (np.concatenate(found) * steps).astype(np.float32)
        return graph.quant(output).dequantize(np.concatenate(found))


class _State:
    """A value int32 that a node reads and gives anew, in a ``with`` around its making.

    Args:
        builder: gets the nodes that carry it from run to run.
        stem: what its names begin with.
        start: what it begins with, int32.

    Attributes:
        before, after: its names as it is read and as it is given.
    """

    def __init__(self, builder: GraphBuilder, stem: str, start: Array) -> None:
        self._builder = builder
        first = builder.constant(f"{_SOURCE} {stem}", start)

        def named(name: str) -> str:
            return builder.value(Value(builder.fresh(name), start.shape, DType.INT32))

        self.before, self.after = named(stem), named(f"{stem} of frames")
        self._held = named(f"next {stem}")
        builder.node(self.before, qops.QCarry(None), (first,), (self.before,))

    def __enter__(self) -> _State:
        return self

    def __exit__(self, *_: object) -> None:
        held = self._held
        self._builder.node(held, qops.QUpdate(), (self.after, self.before), (held,))


def _micro(builder: GraphBuilder, x: str, p: MicroParameters, early: int) -> str:
    """TensorFlow Lite Micro's features; the noise of each filter is state of the model."""
    names = ("window", "waves", "bank", "bins", "gains", "logs")
    tables = p.tables()
    constants = [builder.constant(f"{_SOURCE} {name}", tables[name]) for name in names]
    frames = (builder.values[x].shape[1] - p.window) // p.hop + 1
    with _State(builder, "noise", np.full((1, p.filters), -early, np.int32)) as noise:
        found = _value(builder, "micro", (1, frames, p.filters), p.scale)
        inputs = qops.QMicroFeatures.Inputs(x, noise.before, *constants)
        outputs = (found, noise.after)
        builder.node(found, qops.QMicroFeatures(p.hop), inputs, outputs, (_SOURCE,))
    return found


def _sensor(builder: GraphBuilder, x: str, p: SensorParameters, codes: QuantParams | None) -> str:
    """Statistics and bands; codes with a scale for each feature lie in a value without one."""
    found = sensor_tables(p, codes)
    tables = {
        name: builder.constant(f"{_SOURCE} {name}", array) for name, array in found.tables.items()
    }
    left = builder.values[x].shape[1] // p.axes
    frames = (left - p.width) // found.attrs.hop + 1
    step = 1.0 if codes is None else FEATURE_STEP
    quant = codes
    if quant is None or quant.axis is not None:
        quant = QuantParams.per_tensor(step, 0, found.attrs.dtype)
    shape = (1, frames, p.features)
    name = builder.value(Value(builder.fresh("sensor"), shape, found.attrs.dtype, quant))
    inputs = qops.QSensorFeatures.Inputs(x, **tables)
    builder.node(name, found.attrs, inputs, (name,), (_SOURCE,))
    return name


def _value(builder: GraphBuilder, stem: str, shape: tuple[int, ...], scale: float) -> str:
    quant = QuantParams.per_tensor(scale, 0, DType.INT16)
    return builder.value(Value(builder.fresh(stem), shape, DType.INT16, quant))


def _reshaped(builder: GraphBuilder, x: str, shape: tuple[int, ...]) -> str:
    """Add a value that has the numbers of x in another shape."""
    value = builder.values[x]
    name = builder.value(Value(builder.fresh(f"{x} rows"), shape, value.dtype, value.quant))
    builder.node(name, qops.QReshape(shape), (x,), (name,))
    return name
