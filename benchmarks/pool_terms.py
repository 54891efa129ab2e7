"""Which layers of ResNet-8 need more bits, and what sums of vectors make of the same bytes.

    python benchmarks/pool_terms.py [--images 10000] [--epochs 6] [--seeds 0] [--only float bytes]
    python benchmarks/pool_terms.py --only order --seeds 0 1 2

All layers of networks/resnet8_cifar10.onnx but the first are pooled, or all but some that stay in
float, and fine-tuned on the first of CIFAR-10's training images, mirrored and shifted in three
views.  Told are bytes, terms of the pooled layers, the loss of the last epoch's training, and
training and validation images told right.  *float*: pools of 64 vectors, some layers in float.
*bytes*: pools of several sizes, terms by ``--ratio 8``.  *order*: a pool of 64 vectors once more,
with channels in the order that `compress` gives them; elsewhere they have that of the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from data_folder import chosen_data_folder
from pool_recipes import CALIBRATION, NETWORK, data, last_words, training_parser

from edgec.base.limits import MAX_TERMS
from edgec.base.options import CompileOptions, TermsRule, WeightPoolOptions
from edgec.finetune.options import Augmentation
from edgec.finetune.pooled import FinetuneOptions
from edgec.weightpool import compress_graph, with_best_order
from edgec.workflow.integer import real_model

FIRST_STAGE, SECOND_STAGE = ("139", "141"), ("143", "145", "147")
SMALLER, LARGEST = ("149", "153"), ("151",)
LAST = "linear"
EVERY = (*FIRST_STAGE, *SECOND_STAGE, *SMALLER, *LARGEST, LAST)
IN_FLOAT: Mapping[str, tuple[str, ...]] = {
    "nothing": (),
    "the largest layer": LARGEST,
    "last stage": (*SMALLER, *LARGEST),
    "second stage": SECOND_STAGE,
    "first stage": FIRST_STAGE,
    "all but the largest": tuple(each for each in EVERY if each not in LARGEST),
}
SIZES = (16, 32, 64)
RATIO = 8.0
IN_ORDER = "channels in another order"


def pooled_layers(without: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Patterns of the layers to pool."""
    return tuple(f"*{each}*" for each in EVERY if each not in without)


def configurations(only: list[str]) -> dict[str, WeightPoolOptions]:
    """What is compared, by name."""
    plain = WeightPoolOptions(range_bits=8, layers=pooled_layers())
    found = {}
    if "float" in only:
        for name, layers in IN_FLOAT.items():
            found[f"{name} in float"] = replace(plain, layers=pooled_layers(layers))
    if "order" in only:
        found[IN_ORDER] = plain
    if "bytes" in only:
        last = (TermsRule(f"*{LAST}*", MAX_TERMS),)
        found[f"{MAX_TERMS} terms in the last layer"] = replace(plain, terms=last)
        for size in SIZES:
            found[f"{size} vectors, ratio {RATIO:g}"] = replace(plain, size=size, ratio=RATIO)
    return found


def main() -> None:
    """Command line."""
    parser = training_parser(__doc__, 10_000, [0])
    kinds = ("float", "order", "bytes")
    parser.add_argument("--only", nargs="+", choices=kinds, default=["float", "bytes"])
    args = parser.parse_args()
    folder = chosen_data_folder(args)
    model = real_model(NETWORK, None, CompileOptions())
    train = data(folder, model, "cifar10_train_0", args.images)
    few = {name: x[:CALIBRATION] for name, x in train.inputs.items()}
    recipe = FinetuneOptions(
        epochs=args.epochs,
        augmentation=Augmentation(),
        views=3,
        validation=data(folder, model, "cifar10_train_1", 5000),
    )
    print("| pools | seed | bytes | terms | loss | training | validation, 8 bits | 4 bits |")
    print("|---|---:|---:|---|---:|---:|---:|---:|")
    for name, options in configurations(args.only).items():
        whole = with_best_order(model.graph, options) if name == IN_ORDER else model.graph
        pooled, report = compress_graph(whole, few, options)
        terms = ", ".join(str(layer.terms) for layer in report.layers)
        for seed in args.seeds:
            text = last_words(whole, pooled, train, replace(recipe, seed=seed))
            numbers = " | ".join(re.findall(r"\d+\.\d+%?", text))
            size = f"{report.sizes.pooled_bytes:,}"
            print(f"| {name} | {seed} | {size} | {terms} | {numbers} |", flush=True)


if __name__ == "__main__":
    main()
