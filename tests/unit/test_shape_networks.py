"""The scenes of networks/, how outputs on them are judged, and the networks trained on them."""

from __future__ import annotations

import numpy as np
import proof_tasks
import pytest
from proof_tasks import TASKS, detection, segmentation, shapes

from edgec.floatrun.float_model import FloatModel

FOUND = detection.Found


def boxes(*rows: tuple[float, ...]) -> np.ndarray:
    return np.asarray(rows, np.float32).reshape(-1, 4)


def found(rows: np.ndarray, scores: list[float], classes: list[int]) -> FOUND:
    return FOUND(rows, np.asarray(scores, np.float32), np.asarray(classes, np.int64))


def test_scenes_depend_on_their_split_and_number_alone():
    some = shapes.scenes("validation", 3)
    later = shapes.scenes("validation", 1, first=2)
    assert np.array_equal(some.images[2], later.images[0])
    assert not np.array_equal(some.images[0], shapes.scenes("test", 1).images[0])
    for mask, rows, classes in zip(some.masks, some.boxes, some.classes, strict=True):
        assert set(np.unique(mask)) <= {0, *(1 + classes)}
        left, top, right, bottom = rows[-1].astype(int)  # nothing hides the last shape
        inside = mask[top:bottom, left:right] == 1 + classes[-1]
        assert inside.any(axis=0).all()
        assert inside.any(axis=1).all()


def test_overlaps():
    one, others = boxes((0, 0, 4, 4)), boxes((0, 0, 4, 4), (2, 0, 6, 4), (5, 5, 9, 9))
    assert detection.overlaps(one, others)[0] == pytest.approx([1, 8 / 24, 0])


def test_cells_become_boxes_and_the_weaker_of_two_alike_goes():
    cells = len(detection.cells()[0])
    scores = np.zeros((1, cells, 3), np.float32)
    scores[0, 0, 1], scores[0, 1, 1], scores[0, 1, 2] = 0.9, 0.6, 0.5
    distances = np.ones((1, cells, 4), np.float32)
    distances[0, 1] = (2, 1, 0, 1)  # the same box, seen from the next cell
    (one,) = detection.decode(scores, distances)
    assert one.classes.tolist() == [1, 2]
    assert one.scores.tolist() == pytest.approx([0.9, 0.5])
    assert np.array_equal(one.boxes, boxes((-4, -4, 12, 12), (-4, -4, 12, 12)))
    assert one.above(0.7).classes.tolist() == [1]


def test_mean_average_precision():
    truth, classes = boxes((0, 0, 8, 8), (20, 20, 30, 30)), np.array([0, 0])
    perfect = detection.matched(found(truth, [0.9, 0.8], [0, 0]), truth, classes)
    others = [
        detection.matched(found(truth[:1], [0.5], [k]), truth[:1], np.array([k])) for k in (1, 2)
    ]
    assert detection.mean_average_precision([perfect, *others]) == 1.0
    # Right, wrong, right: precision 1 up to half of the recall, 2/3 for the rest.
    rows = boxes((0, 0, 8, 8), (40, 40, 50, 50), (20, 20, 30, 31))
    mixed = detection.matched(found(rows, [0.9, 0.8, 0.7], [0, 0, 0]), truth, classes)
    assert mixed.right.tolist() == [True, False, True]
    wanted = (0.5 + 0.5 * 2 / 3 + 2) / 3
    assert detection.mean_average_precision([mixed, *others]) == pytest.approx(wanted)


def test_a_true_box_is_met_once_and_by_its_class_alone():
    truth = boxes((0, 0, 8, 8))
    rows = boxes((0, 0, 8, 8), (0, 0, 8, 8), (0, 0, 8, 8))
    some = detection.matched(found(rows, [0.9, 0.8, 0.7], [1, 0, 0]), truth, np.array([0]))
    assert some.right.tolist() == [False, True, False]
    none = detection.matched(found(rows, [0.9, 0.8, 0.7], [0, 0, 0]), boxes(), np.array([], int))
    assert not none.right.any()


def test_mean_intersection_over_union():
    masks = np.zeros((1, 2, 4), np.uint8)
    masks[0, 0] = 1, 1, 2, 3
    given = masks.copy()
    given[0, 0, 1] = 0
    logits = np.stack([given == k for k in range(4)], axis=1).astype(np.float32)
    counts = segmentation.confusions(logits, masks)
    assert counts.sum() == masks.size
    # Background 4 of 5 pixels, discs 1 of 2.
    assert segmentation.mean_iou(counts) == pytest.approx((4 / 5 + 1 / 2 + 1 + 1) / 4)


@pytest.mark.parametrize(("name", "floor"), [("unet", 0.9), ("detector", 0.6)])
def test_trained_networks_do_what_they_learned(name: str, floor: float):
    task = TASKS[name]
    data = task.samples("validation", 60)
    model = FloatModel(task.model)
    outputs = model.run({model.input_names[0]: data.x})
    assert task.score(task.judged(outputs, data.truth)) > floor
    assert task.changed(outputs, outputs) == 0
    changed = {key: -array for key, array in outputs.items()}
    assert task.changed(outputs, changed) > 0


def test_every_network_is_there_and_small():
    for task in proof_tasks.TASKS.values():
        assert task.model.stat().st_size < 400_000, task.model.name
