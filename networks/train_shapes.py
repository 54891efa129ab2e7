"""Trains a network on the scenes of `shapes.py`: python networks/train_shapes.py unet.

Each epoch draws scenes that no other has.  AdamW with a one-cycle rate; what is exported is an
average of the weights over the last steps.  Seeds are fixed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import detection
import detector
import segmentation
import shapes
import torch
from onnx_file import export
from schedule import average_decay, one_cycle
from torch import nn
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from unet import UNet

HERE = Path(__file__).resolve().parent
BATCH = 32
SCENES = 2000
PEAK, DECAY = 4e-3, 0.02


@dataclass(frozen=True, slots=True)
class Task:
    """A network and what it learns.

    Attributes:
        build: the network with fresh weights.
        outputs: names of what it gives.
        loss: of a network on scenes.
        score: of a network on scenes, larger is better.
        measure: what the score is called.
    """

    build: Callable[[], nn.Module]
    outputs: tuple[str, ...]
    loss: Callable[[nn.Module, shapes.Scenes], torch.Tensor]
    score: Callable[[nn.Module, shapes.Scenes], float]
    measure: str


def segmentation_loss(model: nn.Module, scenes: shapes.Scenes) -> torch.Tensor:
    """Cross entropy of the pixels."""
    masks = torch.from_numpy(scenes.masks).long()
    return functional.cross_entropy(model(torch.from_numpy(scenes.x)), masks)


def segmentation_score(model: nn.Module, scenes: shapes.Scenes) -> float:
    """Mean intersection over union."""
    logits = model(torch.from_numpy(scenes.x)).numpy()
    return segmentation.mean_iou(segmentation.confusions(logits, scenes.masks))


def detection_loss(model: nn.Module, scenes: shapes.Scenes) -> torch.Tensor:
    """Focal loss and boxes."""
    assert isinstance(model, detector.Detector)
    found = model.logits(torch.from_numpy(scenes.x))
    return detector.loss(*found, *detector.targets(scenes))


def detection_score(model: nn.Module, scenes: shapes.Scenes) -> float:
    """Mean average precision."""
    scores, distances = (each.numpy() for each in model(torch.from_numpy(scenes.x)))
    found = detection.decode(scores, distances)
    pictures = [detection.matched(*each)
                for each in zip(found, scenes.boxes, scenes.classes, strict=True)]  # fmt: skip
    return detection.mean_average_precision(pictures)


TASKS = {
    "unet": Task(UNet, ("logits",), segmentation_loss, segmentation_score, "mean IoU"),
    "detector": Task(
        detector.Detector, ("scores", "distances"), detection_loss, detection_score, "mAP@0.5"
    ),
}


def part(scenes: shapes.Scenes, index: list[int]) -> shapes.Scenes:
    """Some of the scenes."""
    return shapes.Scenes(
        scenes.images[index],
        scenes.masks[index],
        tuple(scenes.boxes[i] for i in index),
        tuple(scenes.classes[i] for i in index),
    )


def train(task: Task, args: argparse.Namespace) -> nn.Module:
    """The trained network, its weights averaged."""
    torch.manual_seed(args.seed)
    generator = torch.Generator().manual_seed(args.seed)
    validation = shapes.scenes("validation", args.validation)
    model = task.build()
    optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK, weight_decay=DECAY)
    steps = -(-args.scenes // BATCH)
    kept = get_ema_multi_avg_fn(average_decay(args.epochs * steps))
    average = AveragedModel(model, multi_avg_fn=kept, use_buffers=True)
    for number in range(args.epochs):
        start = time.perf_counter()
        scenes = shapes.scenes("train", args.scenes, number * args.scenes)
        model.train()
        total = 0.0
        batches = torch.randperm(args.scenes, generator=generator).split(BATCH)
        for index, batch in enumerate(batches):
            rate = one_cycle(number * steps + index, args.epochs * steps, PEAK)
            optimizer.param_groups[0]["lr"] = rate
            loss = task.loss(model, part(scenes, batch.tolist()))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            average.update_parameters(model)
            total += float(loss.detach()) / steps
        module = average.module
        assert isinstance(module, nn.Module)
        with torch.no_grad():
            score = task.score(module.eval(), validation)
        print(f"epoch {number + 1}/{args.epochs}: loss {total:.3f}, validation {task.measure} "
              f"{score:.2%}, {time.perf_counter() - start:.0f} s", flush=True)  # fmt: skip
    return module


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("network", choices=sorted(TASKS))
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--scenes", type=int, default=SCENES, help="of an epoch")
    parser.add_argument("--validation", type=int, default=500, help="scenes to score")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    task = TASKS[args.network]
    model = train(task, args)
    path = HERE / f"{args.network}_shapes.onnx"
    export(model, path, (3, shapes.SIZE, shapes.SIZE), task.outputs)
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
