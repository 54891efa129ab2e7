"""What changes of the recipe do to a pooled network that is fine-tuned for a few epochs.

    python benchmarks/pool_recipes.py [--images 9000] [--epochs 6] [--seeds 0 1] [--only base moves]

ResNet-8 of networks/, 64 vectors for all layers, fine-tuned on the first of CIFAR-10's training
images, mirrored and shifted.  Told are the loss of the last epoch's training (without augmentation
it is another measure) and validation images told right at 8 and at 4 bits.  A difference below a
point of 2,000 images may be chance: compare seeds.
"""

from __future__ import annotations

import argparse
import re
from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from data_folder import add_data_option, chosen_data_folder
from pool_accuracy import samples
from public_data import cifar_part

from edgec.base.options import CompileOptions, WeightPoolOptions
from edgec.finetune.options import Augmentation, TrainingData
from edgec.finetune.pooled import FinetuneOptions, MoveLimits, finetune
from edgec.ir.graph import Graph
from edgec.weightpool import compress_graph
from edgec.workflow.integer import RealModel, real_model

NETWORK = Path(__file__).parents[1] / "networks" / "resnet8_cifar10.onnx"
CALIBRATION = 512
FEW = MoveLimits(most_changes=0.01, most_returns=0.02)
RECIPES: Mapping[str, Mapping[str, Any]] = {
    "base": {},
    "moves": {"limits": FEW},
    "few moves": {"limits": replace(FEW, most_changes=0.002)},
    "trust": {"limits": MoveLimits(trust_ratio=0.05)},
    "no momentum": {"latent_momentum": 0.0},
    "plain": {"plain": 0.34},
    "moves, plain": {"limits": FEW, "plain": 0.34},
}


def data(folder: Path, model: RealModel, file: str, count: int) -> TrainingData:
    """The first images of a file, as the network takes them, with their labels."""
    images = cifar_part(folder / "data", file, count)
    assert images.y is not None
    return TrainingData(samples(model, images), images.y)


def last_words(
    original: Graph, pooled: Graph, train: TrainingData, options: FinetuneOptions
) -> str:
    """What a run tells of its last epoch."""
    told: list[str] = []

    def tell(text: str, _done: int = 0, _total: int = 0) -> None:
        told.append(text)

    finetune(original, pooled, train, options, tell)
    return told[-1]


def training_parser(description: str | None, images: int, seeds: list[int]) -> ArgumentParser:
    """A command line for short trainings, with what they have in common."""
    parser = ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--images", type=int, default=images)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--seeds", type=int, nargs="+", default=seeds)
    add_data_option(parser)
    return parser


def main() -> None:
    """Command line."""
    parser = training_parser(__doc__, 9000, [0, 1])
    parser.add_argument("--only", nargs="+", choices=RECIPES, default=list(RECIPES))
    args = parser.parse_args()
    folder = chosen_data_folder(args)
    model = real_model(NETWORK, None, CompileOptions())
    train = data(folder, model, "cifar10_train_0", args.images)
    few = {name: x[:CALIBRATION] for name, x in train.inputs.items()}
    pooled, _ = compress_graph(model.graph, few, WeightPoolOptions(range_bits=8))
    recipe = FinetuneOptions(
        epochs=args.epochs,
        augmentation=Augmentation(),
        validation=data(folder, model, "cifar10_train_1", 2000),
    )
    print("| recipe | seed | loss | training | validation, 8 bits | 4 bits |")
    print("|---|---:|---:|---:|---:|---:|")
    for name in args.only:
        for seed in args.seeds:
            options = replace(recipe, seed=seed, **RECIPES[name])
            text = last_words(model.graph, pooled, train, options)
            numbers = " | ".join(re.findall(r"\d+\.\d+%?", text))
            print(f"| {name} | {seed} | {numbers} |", flush=True)


if __name__ == "__main__":
    main()
