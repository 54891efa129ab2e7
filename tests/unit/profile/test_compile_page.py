"""The page of a build: numbers, bars and names, without a browser."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from page_scripts import without_zoom
from profile_samples import sample_report

from edgec.profile.compile_html import compile_page, render_compile_html
from edgec.profile.compile_rows import NextCommand, Work, layer_rows, live_bytes
from edgec.profile.histogram_charts import HEIGHT, histogram_chart
from edgec.profile.origins import FileNode, GoneNodes, LayerOrigin, Origins
from edgec.report.model import BufferReport, CalibrationReport, Report
from edgec.workflow.histograms import BINS, Histograms, TensorHistogram

NO_WORK = Work("cycles", (), "There are no cycles: nobody asked.")
NAME = "<script>x</script>&\"'"


def histogram(name: str = "a", **changes: object) -> TensorHistogram:
    shares = (0.25, *(0.0,) * (BINS - 3), 0.5, 0.25)
    given = {"low": -1.0, "high": 1.0, "at_low": 0.01, "at_high": 0.0, "zero": 0.5}
    return TensorHistogram(name=name, dtype="int8", shares=shares, **{**given, **changes})


def report_of(*names: str) -> Report:
    found = sample_report(*names)
    calibration = CalibrationReport("user", 7, "mse", False, True)
    layers = (replace(found.layers[0], sqnr_db=40.0), *found.layers[1:])
    return replace(found, calibration=calibration, layers=layers)


def page(report: Report, work: Work = NO_WORK) -> str:
    node = FileNode("Conv", NAME)
    origins = Origins(
        (LayerOrigin(0, report.layers[0], (node,)),), (GoneNodes("Reshape", (NAME, "b")),)
    )
    found = Histograms((histogram(NAME),), "two samples")
    commands = (NextCommand("edgec run 'a b'", "outputs"),)
    return render_compile_html(compile_page(report, work, found, origins, commands))


def test_bytes_of_the_arena_in_use() -> None:
    buffers = [
        BufferReport("a", 0, 100, 0, 2),
        BufferReport("b", 50, 100, 1, 3),  # written over the end of a
        BufferReport("c", 200, 10, 1, 2),
        BufferReport("d", 60, 10, 1, 2),  # inside b
    ]
    assert [live_bytes(buffers, step) for step in range(4)] == [100, 160, 100, 0]


def test_rows_have_shares() -> None:
    report = report_of("a", "b")
    rows = layer_rows(report, Work("cycles", (300, 100), ""))
    assert [row.work.text for row in rows if row.work] == ["300 · 75.0%", "100 · 25.0%"]
    assert [row.flash.width for row in rows] == [50.0, 50.0]
    assert rows[0].ram.width == pytest.approx(100 * 128 / 1024)
    assert (rows[0].error.text, rows[0].error.width) == ("40.0 dB · 1.00%", 100.0)
    assert rows[1].error.text == ""
    assert all(row.work is None for row in layer_rows(report, NO_WORK))


def test_picture_of_a_histogram() -> None:
    chart = histogram_chart(histogram("conv", at_high=0.5), "3")
    assert chart.name == "3 conv"
    bars = re.findall(r"M([\d.]+) 72v-([\d.]+)h4v", chart.path)
    assert [float(x) for x, _ in bars] == [0, 4 * (BINS - 2), 4 * (BINS - 1)]
    assert [float(y) for _, y in bars] == pytest.approx(
        [HEIGHT / np.sqrt(2), HEIGHT, HEIGHT / np.sqrt(2)], abs=0.1
    )
    assert chart.zero_x == 128
    assert (chart.low, chart.high, chart.words) == ("-1", "1", "100% used")
    assert chart.clipped == "1.00% lowest · 50.00% highest"


def test_an_end_that_is_zero_clips_nothing() -> None:
    chart = histogram_chart(histogram(low=0.0, zero=0.0, at_low=0.6), "0")
    assert (chart.zero_x, chart.clipped) == (0, "")
    assert histogram_chart(histogram(low=1.0, high=2.0, zero=-1.0), "0").zero_x is None
    channels = histogram_chart(histogram(zero=None, at_low=0.6), "0")
    assert (channels.zero_x, channels.dtype) == (None, "int8, a scale for each channel")
    assert channels.clipped == "60.00% lowest"


def test_names_are_escaped_and_sections_there() -> None:
    text = page(report_of(NAME, "b"))
    assert "<script>" not in without_zoom(text)
    assert text.count("&lt;script&gt;x&lt;/script&gt;&amp;&#34;&#39;") >= 4
    for part in ("arena", "layers", "histograms", "origins", "commands"):
        assert f'id="{part}"' in text
    assert "calibrated with 7 samples" in text
    assert "two samples" in text
    assert "edgec run &#39;a b&#39;" in text
    assert "http" not in re.sub(r'http-equiv="[^"]*"', "", text)  # needs no network
    assert not re.findall(r"\bNone\b|\bnan\b|\binf\b", text)


def test_what_is_not_known_is_said() -> None:
    report = report_of("a", "b")
    without = page(report)
    assert "There are no cycles: nobody asked." in without
    assert "<th>cycles</th>" not in without
    assert "<th>cycles</th>" in page(report, Work("cycles", (300, 100), "an estimate"))
    assert 'id="memory"' not in without  # nothing was built
    memory = replace(
        report.memory,
        flash_limit_bytes=1000,
        ram_limit_bytes=2000,
        flash_bytes=100,
        code_bytes=28,
        ram_bytes=1500,
        stack_bytes=400,
        variable_bytes=76,
    )
    built = page(replace(report, memory=memory))
    assert "100 of 1,000 bytes, 10.0%" in built
    assert "1,500 of 2,000 bytes, 75.0%" in built


def test_a_build_is_counted(tmp_path: Path) -> None:
    """The reference runs the calibration data; every share is of all codes."""
    from edgec.base.options import CompileOptions
    from edgec.base.resources import data_dir
    from edgec.base.samples import SampleFile
    from edgec.commands.compile import compile_model
    from edgec.profile.origins import origins_of
    from edgec.workflow.histograms import histograms

    examples = data_dir("examples")
    samples = SampleFile(examples / "digits_calibration.npz")
    options = CompileOptions(build=False, verify=False)
    network = examples / "digits_resnet.onnx"
    folder = compile_model(
        network, "host", calibration=samples, out=tmp_path / "o", options=options
    ).folder
    steps: list[tuple[int, int]] = []
    found = histograms(folder, samples, lambda done, total: steps.append((done, total)))
    assert found.input == "the first 128 of 200 samples of digits_calibration.npz"
    assert steps[-1] == (128, 128)
    report = Report.read(folder)
    names = [tensor.name for tensor in found.tensors]
    assert names == ["x", *(layer.name for layer in report.layers)]
    for tensor in found.tensors:
        assert sum(tensor.shares) == pytest.approx(1)
        assert tensor.low < tensor.high
    image = found.tensors[0]
    with np.load(examples / "digits_calibration.npz") as arrays:
        pixels = arrays["x"][:128]
    codes = np.floor(pixels.astype(np.float64) / report.inputs[0].scale + 0.5)
    assert image.at_high == pytest.approx(np.mean(codes == 255))
    wanted = np.histogram(codes, np.arange(0, 257, 4))[0] / codes.size
    assert image.shares == pytest.approx(wanted.tolist())
    few = histograms(folder, samples, limit=5)
    assert few.input == "the first 5 of 200 samples of digits_calibration.npz"
    assert few.tensors[0].at_high != image.at_high
    noise = histograms(folder, None)
    assert noise.input == "3 pseudo-random inputs, always the same"
    origins = origins_of(folder, report)
    first = [(node.op, node.name) for node in origins.layers[0].nodes]
    assert first == [("Conv", "node_Conv_138"), ("Relu", "node_relu")]
    assert [(gone.op, gone.names) for gone in origins.gone] == [("Reshape", ("node_Reshape_157",))]
    (folder / "model.onnx").unlink()
    assert origins_of(folder, report).gone == ()
