"""A tour in a terminal of 80 by 24: no command prints more than a screen without `-v`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from places import REPOSITORY
from screens import Screen, on_screen

ROWS, COLUMNS = 24, 80
MOST_OF_COMPILE = 20
CALIBRATION = ("--calibration", "examples/digits_calibration.npz")
LABELS = ("fits", "speed", "accuracy", "checked", "written", "next")
_OF_RECORDS = "├──"
"""A line between rows: a table whose rows take several lines."""


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the tour is made: the examples, and a build of the MLP."""
    folder = tmp_path_factory.mktemp("tour")
    shutil.copytree(REPOSITORY / "examples", folder / "examples")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        yield folder


def shown(tour: Path, *words: str, rows: int = ROWS, code: int = 0) -> Screen:
    """What a command shows, which must fit."""
    found = on_screen(words, tour, columns=COLUMNS, rows=ROWS)
    assert found.code == code, found.text
    assert len(found.lines) <= rows, found.text
    assert max(map(len, found.lines)) <= COLUMNS
    if "-v" not in words:
        assert _OF_RECORDS not in found.text, found.text
    return found


def answer_of(found: Screen) -> list[str]:
    """The last six lines, which begin with a label; those that they are continued on are joined."""
    lines = [line for line in found.lines if line and not line.startswith(" ")]
    last = lines[-len(LABELS) :]
    assert [line.split(":")[0] for line in last] == list(LABELS), found.text
    return last


COMPILE = ("compile", "examples/digits_mlp.onnx", "--board", "nucleo", *CALIBRATION)


@pytest.fixture(scope="module")
def build(tour: Path) -> str:
    first = shown(tour, *COMPILE, "--out", "build/mlp", rows=MOST_OF_COMPILE)
    again = shown(tour, *COMPILE, "--out", "build/mlp", rows=MOST_OF_COMPILE)  # from the cache
    assert answer_of(first) == answer_of(again)
    assert "of 512 KB" in first.text
    assert "as good as float" in first.text
    return "build/mlp"


def test_compile_answers(tour: Path, build: str) -> None:
    whole = on_screen((*COMPILE, "--out", build, "-v"), tour)
    assert len(whole.lines) > ROWS
    answer_of(whole)
    bare = ("compile", "examples/digits_mlp.onnx", "--board", "host", "--out", "build/bare")
    found = shown(tour, *bare, "--no-build", rows=MOST_OF_COMPILE)
    assert "warning:" in found.text  # what matters stays visible
    assert "accuracy: unknown" in found.text


def test_commands_on_a_build(tour: Path, build: str) -> None:
    data = ("--data", "examples/digits_test.npz")
    for words in (
        ("run", build, "--input", "examples/digits_test.npz"),
        ("evaluate", build, *data, "--limit", "20"),
        ("validate", build, *data),
        ("validate", build, *data, "--on", "emulator"),
        ("profile", build),
        ("compare", build, build),
        ("compare", build, build, build),
        ("export", build, "--as", "c", "--out", "build/c"),
    ):
        shown(tour, *words)


def test_the_next_step_of_validate_leads_to_the_board(tour: Path, build: str) -> None:
    first = shown(tour, "validate", build)
    assert "next: edgec validate build/mlp --on emulator" in first.text
    last = shown(tour, "validate", build, "--on", "emulator")
    assert "next: edgec flash build/mlp" in last.text


def test_commands_on_models(tour: Path) -> None:
    resnet = "examples/digits_resnet.onnx"
    shown(tour, "inspect", resnet)
    shown(tour, "inspect", "examples/digits_vit.onnx")
    shown(tour, "quantize", resnet, *CALIBRATION, "--effort", "fast", "-o", "build/q.onnx")
    found = shown(tour, "compress", resnet, *CALIBRATION, "-o", "build/pool.onnx")
    assert "times smaller" in found.text


def test_a_model_with_much_that_is_not_supported(tour: Path) -> None:
    """Many kinds of operators, several causes, and names as long as exporters make them."""
    kinds = [
        *(f"Own{i}" for i in range(12)),
        "EyeLike",
        "NonZero",
        "Sin",
        "Cos",
        "Tan",
        "Own0",
        "Own3",
    ]
    nodes = [
        helper.make_node(
            kind,
            ["x" if i == 0 else f"t{i - 1}"],
            [f"t{i}"],
            name=f"/encoder/layers.{i}/self_attention/a/module/with/a/long/name/{kind}",
            domain="com.mine" if kind.startswith("Own") else "",
        )
        for i, kind in enumerate(kinds)
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 16])],
        [helper.make_tensor_value_info(f"t{len(kinds) - 1}", TensorProto.FLOAT, None)],
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.mine", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), tour / "odd.onnx")
    found = shown(tour, "inspect", "odd.onnx")
    assert "Own0, Own1 and 10 others, 14 nodes, the first of them /encoder/" in (
        found.text.replace("\n", " ")
    )
    assert "and 1 more cause: -v" in found.text
    everything = on_screen(("inspect", "odd.onnx", "-v"), tour).text.replace("\n", "")
    assert all(node.name in everything for node in nodes if node.op_type.startswith("Own"))
    shown(tour, "compile", "odd.onnx", "--board", "nucleo", code=3)


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("boards", "--help"),
        ("boards",),
        ("boards", "--find", "stm32"),
        ("boards", "show", "f446"),
        ("boards", "show", "raspberry_pi_3"),
        ("doctor",),
        ("cache",),
    ],
    ids=" ".join,
)
def test_commands_that_look_around(tour: Path, words: tuple[str, ...]) -> None:
    shown(tour, *words)


def test_words_stay_whole_in_a_terminal(tour: Path) -> None:
    found = shown(tour, "compile", "no.onnx", "--board", "esp32", code=3)
    assert found.text.startswith("error: ")
    found = shown(tour, "boards", "show", "esp32", code=2)
    assert "--as idf" in found.text.replace("\n", " ")
