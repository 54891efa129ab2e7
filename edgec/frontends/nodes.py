"""The nodes of a front end in an integer graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.frontends.mel import cepstrum_tables, mel_tables
from edgec.frontends.micro import MicroParameters
from edgec.frontends.parameters import MelParameters
from edgec.interp import run_graph
from edgec.ir import qops
from edgec.ir.graph import Graph, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qparams import QuantParams

SAMPLES = QuantParams.per_tensor(2.0**-15, 0, DType.INT16)
"""Samples of 16 bits as numbers of -1 to 1."""
_SOURCE = "front end"


@dataclass(frozen=True, slots=True)
class FrontEnd:
    """A front end: frames of sound become features.

    Attributes:
        name: in reports, with what differs from its defaults.
        parameters: its numbers.
    """

    name: str
    parameters: MelParameters | MicroParameters

    @property
    def features(self) -> int:
        """Numbers of a frame."""
        return self.parameters.features

    @property
    def hop(self) -> int:
        """Samples from frame to frame."""
        return self.parameters.hop

    @property
    def remembers(self) -> bool:
        """Whether features depend on all sound since the last reset."""
        return isinstance(self.parameters, MicroParameters)

    def samples(self, frames: int) -> int:
        """Samples that some frames are computed from."""
        p = self.parameters
        return p.before + p.window + (frames - 1) * p.hop

    def add(self, builder: GraphBuilder, x: str, early: int = 0) -> str:
        """Add the nodes that compute features.

        Args:
            builder: gets them.
            x: samples, int16 [1, `samples(T)`], with those before the first frame.
            early: frames after a reset that begin before the first sample; what is known of a
                stream is not learnt from them.

        Returns:
            The value of the features, int16 [1, T, `features`].

        Raises:
            ConfigError: numbers that integers do not hold.
        """
        p = self.parameters
        if isinstance(p, MicroParameters):
            return _micro(builder, x, p, early)
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
        x = builder.value(Value("samples", (1, self.samples(frames)), DType.INT16, SAMPLES))
        builder.inputs.append(x)
        builder.outputs.append(self.add(builder, x))
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
        frames = (sound.shape[1] - p.window) // p.hop + 1
        graph = self.graph(frames)
        (output,) = graph.outputs
        used = self.samples(frames)
        padded = np.pad(sound, ((0, 0), (p.before, 0)))[:, :used]
        found = [run_graph(graph, {"samples": each[None]})[output] for each in padded]
        return graph.quant(output).dequantize(np.concatenate(found))


def _micro(builder: GraphBuilder, x: str, p: MicroParameters, early: int) -> str:
    """TensorFlow Lite Micro's features; the noise of each filter is state of the model."""
    names = ("window", "waves", "bank", "bins", "gains", "logs")
    tables = p.tables()
    constants = [builder.constant(f"{_SOURCE} {name}", tables[name]) for name in names]
    start = np.full((1, p.filters), -early, np.int32)
    first = builder.constant(f"{_SOURCE} noise", start)

    def noise(stem: str) -> str:
        return builder.value(Value(builder.fresh(stem), start.shape, DType.INT32))

    before, after, held = noise("noise"), noise("noise of frames"), noise("next noise")
    builder.node(before, qops.QCarry(None), (first,), (before,))
    frames = (builder.values[x].shape[1] - p.window) // p.hop + 1
    found = _value(builder, "micro", (1, frames, p.filters), p.scale)
    inputs = qops.QMicroFeatures.Inputs(x, before, *constants)
    builder.node(found, qops.QMicroFeatures(p.hop), inputs, (found, after), (_SOURCE,))
    builder.node(held, qops.QUpdate(), (after, before), (held,))
    return found


def _value(builder: GraphBuilder, stem: str, shape: tuple[int, ...], scale: float) -> str:
    quant = QuantParams.per_tensor(scale, 0, DType.INT16)
    return builder.value(Value(builder.fresh(stem), shape, DType.INT16, quant))


def _reshaped(builder: GraphBuilder, x: str, shape: tuple[int, ...]) -> str:
    """Add a value that has the numbers of x in another shape."""
    value = builder.values[x]
    name = builder.value(Value(builder.fresh(f"{x} rows"), shape, value.dtype, value.quant))
    builder.node(name, qops.QReshape(shape), (x,), (name,))
    return name
