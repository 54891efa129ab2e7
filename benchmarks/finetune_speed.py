"""Images a second that `edgec compress --train` trains a pooled ResNet-8 on, teacher included.

    python benchmarks/finetune_speed.py
    python benchmarks/finetune_speed.py --device cuda --batches 400

ResNet-10 is the teacher.  It is asked in every step, once for each of four views, or for views that
are renewed one after the other (`--views 4 --renew`).  The network and the teacher are those of
networks/, the images noise: their number a second does not depend on what they show.  On a
processor seconds are those that this process computed on one thread, so that other programs count
little; on a GPU they are those of the clock.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from edgec.base.options import IntegerOptions, WeightPoolOptions
from edgec.finetune.options import Augmentation, TrainingData
from edgec.finetune.pooled import FinetuneOptions, finetune
from edgec.ir.graph import Graph
from edgec.weightpool import compress_graphs
from edgec.workflow.integer import real_model

NETWORKS = Path(__file__).resolve().parents[1] / "networks"
EPOCHS = 8
CALIBRATION = 16
WAYS: dict[str, dict[str, Any]] = {
    "asked in every step": {},
    "four views": {"views": 4},
    "four views, renewed": {"views": 4, "renew": True},
}


def graph(name: str) -> Graph:
    """A network of networks/."""
    return real_model(NETWORKS / name, None, IntegerOptions()).graph


def images_a_second(
    way: dict[str, Any], start: tuple[Graph, Graph], data: TrainingData, device: str
) -> float:
    """Images of one run, from its first step to its last one; `start` is float and pooled."""
    now = time.process_time if device == "cpu" else time.perf_counter
    times: list[float] = []

    def progress(text: str, _done: int = 0, _total: int = 0) -> None:
        if text.startswith(("fine-tuning", "asking")):
            times.append(now())

    options = FinetuneOptions(epochs=EPOCHS, device=device, augmentation=Augmentation(), **way)
    finetune(*start, data, options, progress, graph("resnet10_cifar10.onnx"))
    return EPOCHS * len(data.labels) / (times[-1] - times[0])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--batches", type=int, default=8, help="batches of 128 images an epoch")
    parser.add_argument("--ways", nargs="+", default=[*WAYS], help="words that ways begin with")
    args = parser.parse_args()
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    count = 128 * args.batches
    images = rng.normal(size=(count, 32, 32, 3)).astype(np.float32)
    data = TrainingData({"input": images}, np.arange(count) % 10)
    network = graph("resnet8_cifar10.onnx")
    few = {network.only_input: images[:CALIBRATION]}
    ((pooled, _),) = compress_graphs([network], [few], WeightPoolOptions())
    print("| teacher | images a second |\n|---|---:|")
    for title, way in WAYS.items():
        if title.startswith(tuple(args.ways)):
            print(
                f"| {title} | {images_a_second(way, (network, pooled), data, args.device):,.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
