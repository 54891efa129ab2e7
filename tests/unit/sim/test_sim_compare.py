"""compare: equality passes, and any difference is reported at its step, layer and element."""

import zlib
from dataclasses import replace

import pytest
from parity import compiled, samples_of
from random_graphs import grow_network
from random_net import Net

from edgec.base.errors import SimulationError
from edgec.lower import Program
from edgec.sim.compare import compare_crcs, compare_outputs, compare_trace
from edgec.sim.replies import FirmwareStep

GRAPH = grow_network(Net.seeded(11), nodes=12)
SAMPLE = samples_of(GRAPH)[4]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return compiled(GRAPH, tmp_path_factory.mktemp("library"))


def trace_of(program: Program) -> list[bytes]:
    """What a right implementation would trace."""
    return [SAMPLE.oracle[step.output.name].tobytes() for step in program.steps]


def steps_of(program: Program) -> list[FirmwareStep]:
    return [
        FirmwareStep(number, len(data), zlib.crc32(data), None)
        for number, data in enumerate(trace_of(program))
    ]


def test_equality_passes(program: Program):
    compare_trace(program, SAMPLE.oracle, trace_of(program))
    compare_crcs(program, SAMPLE.oracle, steps_of(program))
    outputs = [SAMPLE.oracle[name].ravel() for name in GRAPH.outputs]
    compare_outputs(program, SAMPLE.oracle, outputs, "host")


def test_one_changed_element_is_named(program: Program):
    trace = trace_of(program)
    index = next(i for i, s in enumerate(program.steps) if len(s.output.shape) >= 2)
    step = program.steps[index]
    wrong = SAMPLE.oracle[step.output.name].copy()
    at = tuple(size - 1 for size in wrong.shape)
    wrong[at] ^= 1
    trace[index] = wrong.tobytes()
    trace[-1] = bytes(len(trace[-1]))  # later differences are consequences: not reported
    with pytest.raises(SimulationError) as caught:
        compare_trace(program, SAMPLE.oracle, trace)
    assert caught.value.where.startswith(f"host, step {index} ({step.node}, ")
    right = SAMPLE.oracle[step.output.name][at]
    assert f"1 of {wrong.size} elements" in caught.value.what
    assert f"at {list(at)}, is {wrong[at]} instead of {right}" in caught.value.what


def test_a_wrong_crc_is_named(program: Program):
    steps = steps_of(program)
    steps[3] = replace(steps[3], crc=(steps[3].crc or 0) ^ 1)
    with pytest.raises(SimulationError, match="the CRC of its") as caught:
        compare_crcs(program, SAMPLE.oracle, steps)
    assert caught.value.where.startswith("emulator, step 3 ")


def test_a_wrong_size_or_count_is_an_error(program: Program):
    trace, steps = trace_of(program), steps_of(program)
    with pytest.raises(SimulationError, match="outputs of steps were written"):
        compare_trace(program, SAMPLE.oracle, trace[:-1])
    with pytest.raises(SimulationError, match="outputs of steps were written"):
        compare_crcs(program, SAMPLE.oracle, steps[:-1])
    trace[1] += b"\0"
    with pytest.raises(SimulationError, match="bytes, expected"):
        compare_trace(program, SAMPLE.oracle, trace)
    steps[0] = replace(steps[0], size_bytes=steps[0].size_bytes + 1)
    with pytest.raises(SimulationError, match="bytes, expected"):
        compare_crcs(program, SAMPLE.oracle, steps)


def test_a_wrong_output_is_named(program: Program):
    outputs = [SAMPLE.oracle[name].copy() for name in GRAPH.outputs]
    outputs[0].ravel()[0] ^= 1
    with pytest.raises(SimulationError, match="1 of") as caught:
        compare_outputs(program, SAMPLE.oracle, outputs, "emulator")
    assert caught.value.where == f"emulator, output 0 ({GRAPH.outputs[0]})"
