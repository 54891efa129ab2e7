"""Distance of integer graphs from the float network, on samples that they were not fitted to.

The same choice of int16 codes is an integer graph for each fit, which the samples judge that the
fit has not seen (`held`).  Noises of all samples add up, and so do decisions.

Effect of one tensor's codes on the outputs of a network: the measure that chooses precision.

One run of the network with int16 codes everywhere is kept for each sample.  A trial rounds a tensor
to its int8 codes there and computes again what depends on it, in integers, so that every computer
finds the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.floatrun.executor import Executor
from edgec.interp.int_interp import run_node
from edgec.ir.graph import Graph
from edgec.ir.infer import total_macs
from edgec.ir.qparams import QuantParams
from edgec.quant.common.decisions import FloatDecisions
from edgec.quant.common.output_noise import energy, with_scores
from edgec.quant.common.report import Decisions
from edgec.quant.common.sample_codes import runs


class Trials:
    """A network with int16 codes wherever it can have them, run on samples."""

    def __init__(self, graph: Graph, data: Mapping[str, Array], compared: Sequence[str]) -> None:
        """Run all samples.

        Args:
            graph: INTEGER stage, schedule as it is.
            data: graph input name to real or whole numbers [S, ...]; all are used.
            compared: the values that `outputs` and `rounded` give.
        """
        self._graph, self._outputs = graph, compared
        self._data = data
        self._runs = list(runs(graph, data))
        self._trial: tuple[Mapping[str, QuantParams], list[dict[str, Array]]] = {}, self._runs

    @property
    def samples(self) -> int:
        """Number of samples that were run."""
        return len(self._runs)

    def outputs(self, sample: int) -> dict[str, Array]:
        """Outputs of a sample that are compared, as real numbers; float64."""
        return self._real(self._runs[sample])

    def rounded(self, sample: int, narrow: Mapping[str, QuantParams]) -> dict[str, Array]:
        """Outputs of a sample that are compared, some tensors rounded to int8 codes; float64.

        Args:
            sample: its number.
            narrow: int8 parameters of tensors that an operator computes, or of inputs.
        """
        if not self._graph.is_straight:
            return self._real(self._repeated(narrow)[sample])
        known, found = self._runs[sample], dict(self._runs[sample])
        changed = set()
        for name in narrow.keys() & set(self._graph.inputs):
            found[name] = self._round(name, known[name], narrow[name])
            changed.add(name)
        for node in self._graph.nodes:
            if changed.isdisjoint(node.inputs):
                codes = known[node.output]
            else:
                codes = run_node(self._graph, node, found)
            if node.output in narrow:
                codes = self._round(node.output, codes, narrow[node.output])
            if codes is not known[node.output]:
                found[node.output] = codes
                changed.add(node.output)
        return self._real(found)

    def _repeated(self, narrow: Mapping[str, QuantParams]) -> list[dict[str, Array]]:
        """All samples with some tensors rounded: what a turn or a step gives, later ones read."""
        if self._trial[0] != narrow:

            def rounded(name: str, codes: Array) -> Array:
                return self._round(name, codes, narrow[name]) if name in narrow else codes

            self._trial = dict(narrow), list(runs(self._graph, self._data, rounded))
        return self._trial[1]

    def _round(self, name: str, codes: Array, narrow: QuantParams) -> Array:
        wide = self._graph.quant(name)
        return wide.quantize(narrow.dequantize64(narrow.quantize(wide.dequantize64(codes))))

    def _real(self, run: Mapping[str, Array]) -> dict[str, Array]:
        return real_values(self._graph, run, self._outputs)


def real_values(graph: Graph, run: Mapping[str, Array], names: Sequence[str]) -> dict[str, Array]:
    """Real numbers of the codes of some values; float64.

    Args:
        graph: INTEGER stage.
        run: every tensor of a run.
        names: values with codes.
    """
    return {name: graph.quant(name).dequantize64(run[name]) for name in names}


_TRIAL_MACS = 3e9
"""Multiply-accumulates of all trials together: some seconds.  What is done never depends on how
fast the computer is."""
_MOST_TRIED = 4
_WHOLE_WORK = 4e8
"""Multiply-accumulates of one measurement of a choice as a whole, of about ten; an element of a
tensor takes the time of `_ELEMENT_WORK`."""
_ELEMENT_WORK = 16
_MOST_WHOLE = 32
_DECISIONS = 256
_DECISION_WORK = 2e9
"""Samples, and multiply-accumulates of one count of decisions, of about ten: some seconds each."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Numbers of samples that judge each fit.

    Attributes:
        tried: those on which single tensors are tried to put them into an order.
        added: those on which their noise is measured where it decides between choices.
        whole: those on which a choice is measured as a whole.
        decided: those whose decisions are counted, at most, and their multiply-accumulates.
    """

    tried: int
    added: int
    whole: int
    decided: tuple[int, float]


def budget(real: Graph, trials: int, fits: int) -> Budget:
    """The samples that there is time for.

    Args:
        real: REAL stage.
        trials: tensors that are tried alone.
        fits: how many fits there are.
    """
    macs = max(total_macs(real), 1)
    elements = sum(real.values[name].elements for n in real.nodes for name in n.outputs)
    work = macs + _ELEMENT_WORK * elements
    tried = min(int(_TRIAL_MACS / (macs * max(trials, 1))), _MOST_TRIED) // fits
    whole = min(int(_WHOLE_WORK / work), _MOST_WHOLE) // fits
    added = min(int(_TRIAL_MACS / (work * max(trials, 1))) // fits, whole)
    decided = _DECISIONS // fits, _DECISION_WORK / fits
    return Budget(max(tried, 1), max(added, tried, 1), max(whole, tried, 1), decided)


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Noise at outputs beside their signal, by output: energies, which add up."""

    noise: Mapping[str, float]
    signal: Mapping[str, float]


def share(parts: Sequence[Measured]) -> float:
    """The largest share of an output's energy that is noise."""
    signal = {name: sum(part.signal[name] for part in parts) for name in parts[0].signal}
    noise = {name: sum(part.noise[name] for part in parts) for name in signal}
    return max((noise[name] / (signal[name] or 1.0) for name in signal), default=0.0)


class Judge:
    """A float network on the samples that judge one fit."""

    def __init__(
        self,
        real: Graph,
        integer: Graph,
        data: Mapping[str, Array],
        samples: Budget,
        *,
        decides: bool,
    ) -> None:
        """Run the float network.

        Args:
            real: REAL stage.
            integer: INTEGER stage: says which outputs have codes.
            data: the samples that judge.
            samples: how many of them are used.
            decides: whether decisions are to be counted.

        Raises:
            ConfigError: they are, and no output names a class.
        """
        available = len(next(iter(data.values())))
        self._tried, self._added = min(samples.tried, available), min(samples.added, available)
        self.samples = min(samples.whole, available)
        self._data = {name: array[: self.samples] for name, array in data.items()}
        self._decisions = _decisions(real, data, samples) if decides else None
        values = integer.values
        compared = [name for name in with_scores(real) if name in values]
        self._outputs = [name for name in compared if values[name].quant is not None]
        self._wanted = Executor(real, self._outputs).run(self._data)

    def trials(self, integer: Graph, *, closely: bool = False) -> Trials:
        """An integer graph on the samples on which single tensors are tried.

        Args:
            integer: INTEGER stage.
            closely: on those of `Budget.added`, in place of `Budget.tried`.
        """
        count = self._added if closely else self._tried
        few = {name: array[:count] for name, array in self._data.items()}
        return Trials(integer, few, self._outputs)

    def tried(self, noise: Mapping[str, float], *, closely: bool = False) -> Measured:
        """The noise of a trial beside the signal of its samples."""
        return Measured(noise, self._signal(self._added if closely else self._tried))

    def measured(self, integer: Graph) -> Measured:
        """The noise of an integer graph."""
        noise = dict.fromkeys(self._outputs, 0.0)
        for sample, run in enumerate(runs(integer, self._data)):
            for name, value in real_values(integer, run, self._outputs).items():
                wanted = self._wanted[name][sample].reshape(value.shape)
                noise[name] += energy(value - wanted)
        return Measured(noise, self._signal(self.samples))

    def decided(self, integer: Graph) -> Decisions | None:
        """Its equal decisions; None where nobody asks."""
        return None if self._decisions is None else self._decisions.equal_of(integer)

    def _signal(self, samples: int) -> dict[str, float]:
        return {name: energy(self._wanted[name][:samples]) for name in self._outputs}


def _decisions(graph: Graph, data: Mapping[str, Array], samples: Budget) -> FloatDecisions:
    found = FloatDecisions(graph, data, *samples.decided)
    if not found.names_classes:
        raise ConfigError(
            "no output names a class", where="--max-drop", hint="say what is needed by --target-db"
        )
    return found
