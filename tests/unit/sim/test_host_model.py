"""HostModel: compiles once, runs over all processors, notices what a broken library does."""

import os
from pathlib import Path

import numpy as np
import pytest
from parity import compiled, samples_of
from random_graphs import grow_network
from random_net import Net

from edgec.base.dtypes import DType
from edgec.base.errors import BuildError, SimulationError
from edgec.interp import run_graph
from edgec.lower import Program
from edgec.sim import host
from edgec.sim.host import HostModel, model_symbol

GRAPH = grow_network(Net.seeded(11), nodes=12)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Program]:
    folder = tmp_path_factory.mktemp("host") / "library"
    return folder, compiled(GRAPH, folder)


@pytest.fixture(scope="module")
def model(library: tuple[Path, Program]) -> HostModel:
    return HostModel(library[0], library[0].parent / "build")


def batch(count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(2)
    shapes = [GRAPH.shape(name) for name in GRAPH.inputs]
    return [rng.integers(-128, 128, (count, *shape[1:])).astype(np.int8) for shape in shapes]


def test_describes_the_model(model: HostModel, library: tuple[Path, Program]):
    program = library[1]
    assert (model.arena_bytes, model.num_steps) == (program.arena_bytes, len(program.steps))
    assert model.digest == program.digest[:16]
    for tensors, ports in ((model.inputs, program.inputs), (model.outputs, program.outputs)):
        expected = [(p.tensor.size_bytes, p.tensor.dtype, p.tensor.zero_point) for p in ports]
        assert [(t.size_bytes, t.dtype, t.zero_point) for t in tensors] == expected


def test_batch_equals_the_oracle_in_order_and_reports_progress(model: HostModel):
    inputs = batch(101)
    seen: list[tuple[int, int]] = []
    outputs = model.run(inputs, lambda done, total: seen.append((done, total)))
    for index in (0, 1, 50, 99, 100):
        sample = {n: a[index : index + 1] for n, a in zip(GRAPH.inputs, inputs, strict=True)}
        values = run_graph(GRAPH, sample)
        for name, found in zip(GRAPH.outputs, outputs, strict=True):
            assert DType.of(found) is GRAPH.values[name].dtype
            assert np.array_equal(found[index], values[name].ravel())
    assert seen[-1] == (101, 101) and seen == sorted(seen)


def test_empty_batch(model: HostModel):
    assert [len(output) for output in model.run(batch(0))] == [0] * len(GRAPH.outputs)


def test_the_compiled_library_is_kept_while_nothing_changes(
    library: tuple[Path, Program], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    builds: list[Path] = []
    compile_shared = host.compile_shared

    def counted(sources, includes, output, flags, compiler):
        builds.append(output)
        compile_shared(sources, includes, output, flags, compiler)

    monkeypatch.setattr(host, "compile_shared", counted)
    HostModel(library[0], tmp_path)
    HostModel(library[0], tmp_path)
    assert len(builds) == 1
    HostModel(library[0], tmp_path, flags=("-O1",))
    assert len(set(builds)) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(p.name for p in builds)


@pytest.mark.parametrize("wrong", ["dtype", "size", "counts", "number"])
def test_refuses_inputs_that_do_not_fit(model: HostModel, wrong: str):
    inputs = batch(3)
    match wrong:
        case "dtype":
            inputs[0] = inputs[0].astype(np.int16)
        case "size":
            inputs[0] = inputs[0].reshape(3, -1)[:, 1:]
        case "counts":
            inputs.append(inputs[0][:2])
            inputs = inputs[1:] if len(inputs) > 2 else inputs
        case "number":
            inputs = [*inputs, inputs[0]]
    with pytest.raises(SimulationError):
        model.run(inputs)


def test_no_library_is_an_error(tmp_path: Path):
    with pytest.raises(SimulationError, match="0 models found"):
        model_symbol(tmp_path)
    with pytest.raises(SimulationError, match="0 models found"):
        HostModel(tmp_path, tmp_path / "build")


def damaged(library: Path, target: Path, old: str, new: str) -> Path:
    """A copy of a library with an edited source."""
    for path in library.rglob("*"):
        if path.is_file():
            copy = target / path.relative_to(library)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    source = target / "src" / "edgec_random.c"
    text = source.read_text()
    assert old in text
    source.write_text(text.replace(old, new, 1))
    return target


RUN = "edgec_status_t edgec_random_run(edgec_context_t *context)\n{"


@pytest.mark.parametrize("place", ["-1", "EDGEC_RANDOM_ARENA_BYTES"])
def test_a_write_outside_the_arena_is_an_error(
    library: tuple[Path, Program], tmp_path: Path, place: str
):
    broken = damaged(
        library[0], tmp_path / "broken", RUN, f"{RUN}\n    context->arena[{place}] = 0;"
    )
    with pytest.raises(SimulationError, match="outside its arena"):
        HostModel(broken, tmp_path / "build").run(batch(2))


def test_a_failing_run_names_the_status(library: tuple[Path, Program], tmp_path: Path):
    broken = damaged(
        library[0],
        tmp_path / "broken",
        RUN,
        f"{RUN}\n    if (context) {{ return EDGEC_ERROR_NOT_READY; }}",
    )
    model = HostModel(broken, tmp_path / "build")
    with pytest.raises(SimulationError, match="EDGEC_ERROR_NOT_READY"):
        model.run(batch(2))
    with pytest.raises(SimulationError, match="EDGEC_ERROR_NOT_READY"):
        model.trace([array[:1] for array in batch(1)])


def test_a_source_that_does_not_compile_is_a_build_error(
    library: tuple[Path, Program], tmp_path: Path
):
    broken = damaged(library[0], tmp_path / "broken", RUN, "#error broken")
    with pytest.raises(BuildError, match="broken"):
        HostModel(broken, tmp_path / "build")
    assert not list((tmp_path / "build").glob("*"))


def test_trace_takes_samples_with_and_without_a_batch_axis(model: HostModel):
    sample = samples_of(GRAPH)[4]
    flat = [array.ravel() for array in sample.inputs]
    assert model.trace(sample.inputs) == model.trace(flat)


def test_uses_every_processor(model: HostModel, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    inputs = batch(64)
    many = model.run(inputs)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    for one, other in zip(model.run(inputs), many, strict=True):
        assert np.array_equal(one, other)
