"""What the terminal says of a build below the tables."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from profile_samples import sample_report
from rich.console import Console

from edgec.report.console import WIDTH_OF_FILES
from edgec.report.layer_table import layer_table
from edgec.report.model import LossReport
from edgec.report.text import REPORT_TXT, print_report, write_text


def loss(step: int | None, share: float, why: str = "range") -> LossReport:
    return LossReport("x", step, share, None, 20.0, why, "", "")


@pytest.mark.parametrize(
    ("width", "missing"), [(80, ("kernel", "output")), (92, ("kernel",)), (160, ())]
)
def test_layers_take_a_line_each(width: int, missing: tuple[str, ...]) -> None:
    report = sample_report("a", "b")
    layers = tuple(
        replace(
            layer,
            sources=(f"/features/features.{number}/conv/conv.0/conv.0.0/Conv",),
            op="QPooledConv",
            form="31 bits",
            kernel="depthwise_3x3_s8_dsp",
            output_shape=(1, 112, 112, 128),
            macs=12_345_678,
            sqnr_db=30.5,
        )
        for number, layer in enumerate(report.layers)
    )
    out = io.StringIO()
    report = replace(report, layers=layers, losses=(loss(0, 0.75), loss(1, 0.25)))
    Console(file=out, width=width, soft_wrap=True, highlight=False).print(layer_table(report))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    rows = [line for line in lines if "Conv" in line]
    assert len(rows) == len(layers)
    assert all("12,345,678" in row and "30.5" in row for row in rows)
    assert ["75.0" in row for row in rows] == [True, *[False] * (len(rows) - 1)]
    header = next(line for line in lines if "layer" in line)
    assert {word for word in ("kernel", "output") if word not in header} == set(missing)
    assert ("report.txt" in lines[-1]) == bool(missing)


def test_the_file_leaves_nothing_out(tmp_path: Path) -> None:
    report = sample_report("a", "b")
    layers = tuple(
        replace(layer, sources=("/model" * 8,), op="Norm" * 8, kernel="kernel_" * 8)
        for layer in report.layers
    )
    report = replace(report, layers=layers)
    out = io.StringIO()
    print_report(report, Console(file=out, width=WIDTH_OF_FILES, soft_wrap=True))
    assert "kernels are in report.txt" in out.getvalue()  # so the file must have them
    write_text(report, tmp_path)
    text = (tmp_path / REPORT_TXT).read_text("utf-8")
    assert "are in report.txt" not in text
    assert text.count("kernel_kernel_") >= len(layers)


def test_losses_of_a_layer_are_one_as_in_the_table() -> None:
    losses = (loss(0, 0.4), loss(1, 0.3, "clipped"), loss(1, 0.2), loss(None, 0.1))
    out = io.StringIO()
    print_report(
        replace(sample_report("a", "b"), losses=losses),
        Console(file=out, width=160, soft_wrap=True),
    )
    text = out.getvalue()
    worst = "layer 1 50% (clipped), layer 0 40% (range), input x 10%"
    assert f"noise at the outputs, largest first: {worst}" in text
    assert all(share in text for share in (" 50.0 ", " 40.0 "))
