"""Histograms of the codes of a build's tensors on its calibration data, by the numpy reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.samples import SampleFile, load_samples
from edgec.interp import run_stream
from edgec.ir.graph import Graph, Value
from edgec.ir.qparams import QuantParams
from edgec.ir.specialize import specialized
from edgec.report.model import Report
from edgec.workflow.codes import encode
from edgec.workflow.model_samples import fitting, runs_without_output, steps_of
from edgec.workflow.reference import read_reference
from edgec.workflow.session import Progress, length_of
from edgec.workflow.validation_outputs import noise_inputs

BINS = 64
"""Bins of a histogram: each holds four int8 codes, or 1024 int16 codes."""
_MOST_SAMPLES = 128
_MACS = 4_000_000_000
"""Multiply-accumulates that the reference does in some seconds: all samples together."""


@dataclass(frozen=True, slots=True)
class TensorHistogram:
    """The codes of one tensor, over all samples.

    Attributes:
        name: edgec's name for it, from the model, untrusted.
        dtype: element type of the codes.
        low, high: the real numbers of the least and of the greatest code; where channels have a
            scale each, the least and the greatest of all.
        shares: share of the codes in each of `BINS` bins, from the least code on.
        at_low, at_high: shares that have the least and the greatest code: what is beyond has, too.
        zero: place of the real zero between the least code, 0, and the greatest, 1; None where
            channels have a scale each.
    """

    name: str
    dtype: str
    low: float
    high: float
    shares: tuple[float, ...]
    at_low: float
    at_high: float
    zero: float | None

    @property
    def used(self) -> float:
        """Share of the bins from the first to the last that holds a code."""
        filled = [index for index, share in enumerate(self.shares) if share]
        return (filled[-1] - filled[0] + 1) / BINS if filled else 0.0


@dataclass(frozen=True, slots=True)
class Histograms:
    """The histograms of all quantized tensors.

    Attributes:
        tensors: inputs, then outputs of layers in order of execution.
        input: what was run, in words.
    """

    tensors: tuple[TensorHistogram, ...]
    input: str


def histograms(
    folder: Path,
    samples: SampleFile | None,
    progress: Progress | None = None,
    limit: int | None = None,
) -> Histograms:
    """Count the codes of every tensor of a build.

    Args:
        folder: build folder.
        samples: calibration data; None: pseudo-random inputs.
        progress: told (samples done, samples).
        limit: use only this many samples, from the start.

    Raises:
        ConfigError: no build with a reference, or samples that do not fit.
    """
    report = Report.read(folder)
    graph = read_reference(folder)
    given, words = _inputs(report, samples, limit)
    length = length_of(report.inputs, given)
    if length is not None:
        report, graph = report.at_length(length), specialized(graph, length)
    steps = steps_of(report, given)
    inputs = steps.inputs
    codes = {tensor.name: encode(inputs[tensor.name], tensor) for tensor in report.inputs}
    names = (*graph.inputs, *(layer.name for layer in report.layers))
    counts = {name: _Counts(graph.values[name]) for name in names if _has_codes(graph, name)}
    total = len(next(iter(codes.values())))
    shaped = {
        name: each.reshape(total, *graph.shape(name))
        for name, each in zip(graph.inputs, codes.values(), strict=True)
    }
    samples_of = ({name: each[index] for name, each in shaped.items()} for index in range(total))
    for index, found in enumerate(run_stream(graph, samples_of, steps.resets)):
        for name, count in counts.items():
            count.add(found[name])
        if progress is not None:
            progress(index + 1, total)
    return Histograms(tuple(count.histogram() for count in counts.values()), words)


def _inputs(
    report: Report, samples: SampleFile | None, limit: int | None
) -> tuple[Mapping[str, Array], str]:
    if samples is None:
        noise = noise_inputs(report)
        return noise.samples, f"{noise.count} {noise.words}"
    arrays = fitting(report, lambda specs: load_samples(samples, specs))
    most = min(_MOST_SAMPLES, max(_MACS // max(report.macs, 1), 1), limit or _MOST_SAMPLES)
    most += runs_without_output(report, arrays)
    first = {name: array[:most] for name, array in arrays.items()}
    run, there = len(next(iter(first.values()))), len(next(iter(arrays.values())))
    several = f"the first {run:,} of {there:,} samples" if run < there else f"{run:,} samples"
    return first, f"{several} of {samples.path.name}"


def _has_codes(graph: Graph, name: str) -> bool:
    """Whether a tensor holds real numbers: no masks, nor numbers of rows and classes."""
    value = graph.values[name]
    return value.quant is not None and value.dtype in (DType.INT8, DType.INT16)


class _Counts:
    """Count of each code of a tensor."""

    def __init__(self, value: Value) -> None:
        assert value.quant is not None
        self._name, self._quant = value.name, value.quant
        info = np.iinfo(value.dtype.numpy)
        self._least, self._codes = int(info.min), int(info.max) - int(info.min) + 1
        self._dtype = value.dtype.value
        self._counts = np.zeros(self._codes, np.int64)

    def add(self, codes: Array) -> None:
        places = codes.reshape(-1).astype(np.int64) - self._least
        self._counts += np.bincount(places, minlength=self._codes)

    def histogram(self) -> TensorHistogram:
        shares = self._counts / max(int(self._counts.sum()), 1)
        low, high, zero = self._range(self._quant)
        return TensorHistogram(
            name=self._name,
            dtype=self._dtype,
            low=low,
            high=high,
            shares=tuple(float(each) for each in shares.reshape(BINS, -1).sum(axis=1)),
            at_low=float(shares[0]),
            at_high=float(shares[-1]),
            zero=zero,
        )

    def _range(self, quant: QuantParams) -> tuple[float, float, float | None]:
        """Real numbers of the least and greatest code, and the place of zero between them."""
        scale, zero_point = np.array(quant.scale), np.array(quant.zero_point)
        low = float(((self._least - zero_point) * scale).min())
        high = float(((self._least + self._codes - 1 - zero_point) * scale).max())
        return low, high, None if quant.axis is not None else -low / (high - low)
