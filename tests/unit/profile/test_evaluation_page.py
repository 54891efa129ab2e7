"""Confusions, wrong samples and their pictures, without a browser."""

from __future__ import annotations

import base64
import io
import re
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from page_samples import builds, evaluation, pages
from page_scripts import without_zoom
from profile_samples import sample_report

from edgec.profile.compare_html import render_compare_html
from edgec.profile.evaluation_html import evaluation_part, render_evaluation_html
from edgec.profile.pictures import Picture, picture_of
from edgec.workflow.evaluation import Decisions, Evaluation

NASTY = "<script>alert(1)</script>\"'&"


def decided(labels: list[int], found: list[int], names: tuple[str, ...] = ()) -> Decisions:
    images = np.arange(len(labels) * 16, dtype=np.float32).reshape(-1, 1, 4, 4)
    return Decisions(np.array(labels), np.array(found), np.array(labels), {"x": images}, names)


def result(n: int) -> Evaluation:
    return Evaluation(0.5, 0.6, 0.7, n, "host")


def test_matrix_counts_each_pair_of_label_and_decision() -> None:
    part = evaluation_part(result(5), decided([0, 0, 0, 1, 2], [0, 2, 2, 1, 1]))
    assert part.names == ("0", "1", "2")
    assert [[cell.text for cell in row.cells] for row in part.rows] == [
        ["1", "", "2"],
        ["", "1", ""],
        ["", "1", ""],
    ]
    shares = [(3, "33.3%"), (1, "100.0%"), (1, "0.0%")]
    assert [(row.total, row.share) for row in part.rows] == shares
    assert part.rows[0].cells[0].style == "right"
    assert part.rows[0].cells[2].shade == "30.0%"
    assert [(c.label, c.found, c.times) for c in part.confusions] == [("0", "2", 2), ("2", "1", 1)]
    assert [each.number for each in part.wrong] == [1, 2, 4]
    assert part.wrong[0].words == "0, taken for 2; float says 0"
    assert part.wrong_words == "3 of 5 samples are decided wrongly."


def test_many_classes_have_no_matrix_and_many_wrong_samples_are_cut_off() -> None:
    labels = list(range(100))
    part = evaluation_part(result(100), decided(labels, [*labels[1:], 0]))
    assert (part.names, part.rows) == ((), ())
    assert len(part.confusions) == 12
    assert len(part.wrong) == 24
    assert part.wrong_words.endswith("the first 24 are shown.")
    right = evaluation_part(result(2), decided([0, 1], [0, 1]))
    assert right.wrong_words == "None of 2 samples is decided wrongly."
    assert right.confusions == right.wrong == ()


@pytest.mark.parametrize("odd", [-1, 2**40, 10**9])
def test_numbers_of_classes_may_be_any(odd: int) -> None:
    """A model that ends in ArgMax says how its classes are numbered by nothing but its answers."""
    part = evaluation_part(result(4), decided([0, odd, odd, 1], [0, odd, 1, 1], ("cat", "dog")))
    assert set(part.names) == {"cat", "dog", str(odd)}
    by_name = {row.name: row for row in part.rows}
    assert (by_name[str(odd)].total, by_name[str(odd)].share) == (2, "50.0%")
    assert [(c.label, c.found, c.times) for c in part.confusions] == [(str(odd), "dog", 1)]
    assert part.wrong[0].words == f"{odd}, taken for dog; float says {odd}"


def test_many_classes_take_no_memory_of_all_their_pairs() -> None:
    labels = np.arange(200_000)
    images = np.zeros((len(labels), 1, 2, 2), np.float32)
    decisions = Decisions(labels, labels[::-1].copy(), labels, {"x": images}, ())
    tracemalloc.start()
    part = evaluation_part(result(len(labels)), decisions)
    assert tracemalloc.get_traced_memory()[1] < 300e6
    tracemalloc.stop()
    assert part.rows == ()
    assert part.confusions[0].times == 1


def test_names_of_classes_and_models_stay_text() -> None:
    page = render_evaluation_html(
        sample_report(NASTY), result(2), decided([0, 1], [1, 1], (NASTY, "b"))
    )
    assert "<script" not in without_zoom(page)
    assert "&lt;/script&gt;" in page
    assert page == render_evaluation_html(
        sample_report(NASTY), result(2), decided([0, 1], [1, 1], (NASTY, "b"))
    )


def pixels(found: Picture | None) -> np.ndarray:
    image = pytest.importorskip("PIL.Image")
    assert found is not None
    data = base64.b64decode(found.source.removeprefix("data:image/bmp;base64,"))
    with image.open(io.BytesIO(data)) as opened:
        return np.asarray(opened.convert("RGB"))


def test_bitmaps_have_the_pixels_of_images() -> None:
    colors = np.random.default_rng(0).integers(0, 256, (5, 7, 3)).astype(np.uint8)
    colors[0, 0, 0], colors[0, 0, 1] = 0, 255
    assert np.array_equal(pixels(picture_of(colors)), colors)
    assert np.array_equal(pixels(picture_of(colors.transpose(2, 0, 1)[None])), colors)
    gray = colors[:5, :5, :1]
    low, high = int(gray.min()), int(gray.max())
    wanted = np.floor(255 * (gray.astype(float) - low) / (high - low) + 0.5)
    assert np.array_equal(pixels(picture_of(gray))[:, :, :1], wanted)


def test_large_images_are_means_of_blocks() -> None:
    large = np.kron(np.arange(100.0).reshape(10, 10), np.ones((30, 30)))
    found = pixels(picture_of(large))
    assert found.shape == (75, 75, 3)
    assert (found[0, 0, 0], found[-1, -1, 0]) == (0, 255)


def test_spectrograms_have_time_across_and_low_bands_below() -> None:
    features = np.zeros((49, 10))
    features[0, 0] = 1.0  # first frame, lowest band
    found = picture_of(features)
    assert found is not None
    assert found.words == "spectrogram, 49×10"
    image = pixels(found)
    assert image.shape == (10, 49, 3)
    assert tuple(image[-1, 0]) == (253, 231, 37)
    assert tuple(image[0, 0]) == tuple(image[-1, 1]) == (68, 1, 84)


def test_long_spectrograms_keep_their_bands() -> None:
    features = np.zeros((1000, 10))
    features[:, 3] = 1.0
    image = pixels(picture_of(features))
    assert image.shape == (10, 90, 3)
    assert np.all(image[6] == (253, 231, 37))
    assert np.all(np.delete(image, 6, axis=0) == (68, 1, 84))
    assert pixels(picture_of(np.zeros((3, 1000, 10)))).shape == (90, 1, 3)  # an image


@pytest.mark.parametrize(("shape", "lines"), [((128, 3), 3), ((1, 6, 50), 6), ((4000,), 1)])
def test_series_are_lines(shape: tuple[int, ...], lines: int) -> None:
    sample = np.sin(np.arange(np.prod(shape))).reshape(shape)
    found = picture_of(sample)
    assert found is not None
    assert (found.source, len(found.lines)) == ("", lines)
    for line in found.lines:
        points = [tuple(map(float, point.split(","))) for point in line.points.split()]
        assert len(points) <= 512
        assert all(0 <= x <= 1000 and 0 <= y <= 1000 for x, y in points)


@pytest.mark.parametrize("shape", [(), (1,), (4, 5, 6, 7), (9, 8, 7)])
def test_other_shapes_have_no_picture(shape: tuple[int, ...]) -> None:
    assert picture_of(np.zeros(shape)) is None


def test_numbers_that_are_none_are_drawn_as_zero() -> None:
    assert picture_of(np.full((4, 4), np.nan)) == picture_of(np.zeros((4, 4)))


def test_builds_side_by_side() -> None:
    page = render_compare_html(builds())
    assert page.count('class="mark point dot"') == 10
    assert "accuracy is old" in page
    assert "state" not in page  # no build keeps any
    one = render_compare_html(builds()[:1])
    assert "figure" not in one.split("</style>")[1]
    hostile = replace(builds()[0], model=NASTY, folder=Path(NASTY))
    assert "<script" not in without_zoom(render_compare_html((hostile, *builds())))


def test_samples_of_every_kind_are_shown() -> None:
    page = render_evaluation_html(sample_report("a"), *evaluation())
    assert page.count("<img ") == 2 * 24
    assert page.count('aria-label="sample') == 24
    assert page.count('<figure class="sample">') == 24


def test_anchors_of_a_page_are_unlike_each_other() -> None:
    for name, page in pages().items():
        anchors = re.findall(r' id="([^"]*)"', page)
        assert len(set(anchors)) == len(anchors), name
