"""Pages made by hand of each kind that has charts: names as long and as close as they come."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from explore_trials import measured, synthetic_task
from profile_samples import layer_profile, sample_profile, sample_report

from edgec.base.calls import Firing, StepLoop
from edgec.explore.cluster import Place
from edgec.explore.figures import LINUX
from edgec.explore.front import Point
from edgec.explore.page import render_explore_html
from edgec.explore.run import State
from edgec.profile.compare import BuildFigures
from edgec.profile.compare_html import render_compare_html
from edgec.profile.compile_html import CompilePage, More, compile_page, render_compile_html
from edgec.profile.compile_rows import NextCommand, Work
from edgec.profile.evaluation_html import render_evaluation_html
from edgec.profile.html import render_html
from edgec.profile.origins import Origins
from edgec.profile.pools_html import render_pools_html
from edgec.profile.types import Profile
from edgec.profile.widths import TradeOff, WidthPoint
from edgec.profile.widths_html import render_widths_html
from edgec.report.model import CalibrationReport, CheckReport, PooledLayerReport, Report
from edgec.workflow.evaluation import Decisions, Evaluation
from edgec.workflow.histograms import BINS, Histograms, TensorHistogram
from edgec.workflow.pool_search import PoolCurve, PoolPoint
from edgec.workflow.validation import LayerValidation, Validation
from edgec.workflow.validation_outputs import OutputValidation

LAYERS = 24
CYCLES = tuple(10**6 * (1 + 7 * i % 23) for i in range(LAYERS))


def long_report() -> Report:
    """Tensors of a network with residual additions: long names, many at one place."""
    names = [f"/stage.{i // 4}/block.{i}/attention/output_{i}" for i in range(LAYERS)]
    report = sample_report(*names)
    buffers = [
        replace(each, offset_bytes=0, size_bytes=900 + i % 3, first_step=i, end_step=i + 4)
        for i, each in enumerate(report.buffers)
    ]
    loop = StepLoop("a to b", 40, 0, 2, (Firing(0, 1, 40, 2, 1), Firing(1, 2, 19, 3)))
    calibration = CalibrationReport("user", 7, "mse", False, True)
    layers = tuple(replace(each, sqnr_db=40.0) for each in report.layers)
    return replace(
        report, buffers=tuple(buffers), loops=(loop,), calibration=calibration, layers=layers
    )


def pages() -> dict[str, str]:
    """The pages by name."""
    report = long_report()
    found = sample_profile(
        *(
            layer_profile(layer.name, 10**6 * (1 + i % 5), cycles, cycles // 9)
            for i, (layer, cycles) in enumerate(zip(report.layers, CYCLES, strict=True))
        )
    )
    shares = (0.25, *(0.0,) * (BINS - 3), 0.5, 0.25)
    tensors = tuple(
        TensorHistogram(layer.name, "int8", -1.25, 1.25, shares, 0.01, 0.02, 0.5)
        for layer in report.layers[:5]
    )
    built = compile_page(
        report,
        Work("cycles", CYCLES, "an estimate"),
        Histograms(tensors, "two samples"),
        Origins((), ()),
        (NextCommand("edgec evaluate build/a/folder/with/a/long/name --on host", "accuracy"),),
    )
    return {
        "compile": render_compile_html(built),
        "profile": render_html(found, report),
        "report": render_compile_html(report_page(report, found)),
        "evaluation": render_evaluation_html(report, *evaluation()),
        "compare": render_compare_html(builds()),
        "widths": render_widths_html(widths()),
        "pools": render_pools_html(pools()),
        "explore": render_explore_html(search()),
    }


def report_page(report: Report, profiled: Profile) -> CompilePage:
    """The page of a build of which everything was found out."""
    pooled = tuple(
        PooledLayerReport(
            layer.name, "responses", "multiply", 2, 4, 2048, 16_384, "flash", 6, 3, 10**6, "less"
        )
        for layer in report.layers[1:9]
    )
    layers = tuple(
        LayerValidation(each.name, each.op, each.sources, each.kernel, 0, 0, 10**6, 10**5, 0.04)
        for each in report.layers
    )
    outputs = (OutputValidation("logits", 0, None, 0.9, 0.9, 1.0, True),)
    checked = Validation(
        1, "net", "0", "a board", "emulator", "noise", 3, layers, outputs, 180_000_000
    )
    more = More(profiled, checked, evaluation())
    return compile_page(
        replace(report, pooled=pooled, checks=(CheckReport("host", 3, LAYERS),)),
        Work("cycles", CYCLES, "an estimate"),
        Histograms((), "two samples"),
        Origins((), ()),
        (),
        more,
    )


def evaluation() -> tuple[Evaluation, Decisions]:
    """Twelve classes with long names; images, spectrograms and series that are decided wrongly."""
    generator = np.random.default_rng(1)
    labels = np.arange(120) % 12
    found = np.where(generator.random(120) < 0.7, labels, (labels * 5 + 1) % 12)
    samples = {
        "image": generator.random((120, 3, 120, 100), np.float32),
        "spectrogram": generator.random((120, 49, 10), np.float32),
        "series": generator.random((120, 128, 3), np.float32),
    }
    names = tuple(f"a class with a long name {i}" for i in range(12))
    result = Evaluation(float(np.mean(found == labels)), 0.9, 0.8, 120, "host", None, ("odd",))
    return result, Decisions(labels, found, labels, samples, names)


def builds() -> tuple[BuildFigures, ...]:
    """Builds that are nearly alike."""
    return tuple(
        BuildFigures(
            folder=Path(f"build/an-experiment-with-a-name-{i}"),
            model="net",
            board="nucleo_f446re",
            flash_bytes=30_000 + 100 * i,
            ram_bytes=7_000,
            arena_bytes=2_000 + i,
            state_bytes=0,
            cycles=10**6 + 1000 * i,
            ideal_cycles=10**6,
            time_ms=5.5 + i / 180,
            instructions=10**6,
            accuracy=0.9 + i / 1000,
            accuracy_samples=100,
            notes=("accuracy is old",) if i == 2 else (),
        )
        for i in range(5)
    )


def widths() -> TradeOff:
    """Accuracy that hardly falls from 8 bits to 3."""
    bits = (8, 7, 6, 5, 4, 3, 2, 1)
    points = (WidthPoint(b, 0.9 - 0.4 / b**3, 1.0, 10**6 + b * 40_000, 1.5 + b / 9) for b in bits)
    return TradeOff("net", "a board", "host", 100, 0.91, tuple(points))


def pools() -> PoolCurve:
    """Pools of nearly the same size, one of them chosen."""
    points = (
        PoolPoint("stage", 2**i, None, i, 20_000 + 300 * i, 5.0 - i / 10, 0.8 + i / 90, 10**6, 900)
        for i in range(1, 8)
    )
    return PoolCurve("net", "a board", 100, 2.0, 0.9, 0.89, 10**5, 40, tuple(points), 4)


def search() -> State:
    """Forty trials of which some are on the front and some were refused."""
    knobs = {
        "model": ("net",),
        "board": ("nucleo_f446re",),
        "precision": ("int8", "int16"),
        "optimize": ("default", "size"),
        "placement": ("auto", "flash", "sram"),
    }
    task = replace(synthetic_task({}), models={"net": "net.onnx"}, space=knobs)
    points = []
    for number in range(40):
        values = (number % 2, number % 2 ^ number // 20, number % 3)
        chosen = zip(("precision", "optimize", "placement"), values, strict=True)
        setting = {"model": "net", "board": "nucleo_f446re"}
        setting |= {name: knobs[name][value] for name, value in chosen}
        made = measured(
            number % 7 / 3, 1.0 + number % 11, 20_000.0 + 900 * number, 4_000.0 + number
        )
        refused = "it does not fit" if number % 9 == 8 else ""
        points.append(Point(number, setting, None if refused else made, refused))
    return State(task, Place("study.journal", "study", 40), tuple(points))


def search_on_linux() -> State:
    """The same trials on a board that is compared by instructions; none has weights."""
    state = search()
    points = tuple(
        each
        if each.figures is None
        else replace(each, figures=measured(*each.values[:2], 0.0, each.values[3], kind=LINUX))
        for each in state.points
    )
    space = {**state.task.space, "board": ("raspberry_pi_3",)}
    return replace(state, task=replace(state.task, space=space, kind=LINUX), points=points)
