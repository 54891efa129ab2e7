"""Pools of a network, of its stages and of its layers: bytes, and accuracy without training.

    python benchmarks/pool_sharing.py networks/resnet8_cifar10.onnx stage:64 network:64:7.12

Each configuration is `compress --pools`, `--pool-size` and, if it is given, `--ratio`.  Accuracy
is that of the float network with pooled weights on validation images of CIFAR-10, after compression
on 256 others without labels.  Channels have the order that the file has, or with --reorder the one
that `compress` gives them.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from data_folder import add_data_option, chosen_data_folder
from pool_accuracy import FILES, IMAGES, samples
from public_data import cifar_part

from edgec.base.options import CompileOptions, PoolSharing, WeightPoolOptions, no_progress
from edgec.weightpool import compress_graph, with_best_order
from edgec.workflow.accuracy import LabelledData, float_share
from edgec.workflow.integer import real_model
from edgec.workflow.pool_search import point_name

WIDE = WeightPoolOptions(range_bits=8)
"""Ranges stay as they are: activations are not rounded."""


def configuration(text: str) -> WeightPoolOptions:
    """The options of pools that a word of the command line names.

    Raises:
        ArgumentTypeError: it names none.
    """
    sharing, _, rest = text.partition(":")
    size, _, ratio = rest.partition(":")
    try:
        return replace(
            WIDE,
            sharing=PoolSharing(sharing),
            size=int(size),
            ratio=float(ratio) if ratio else None,
        )
    except ValueError:
        kinds = "|".join(each.value for each in PoolSharing)
        raise argparse.ArgumentTypeError(
            f"{text!r} is not {kinds}:SIZE or {kinds}:SIZE:RATIO, as network:32:8"
        ) from None


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument(
        "configurations", nargs="+", type=configuration, metavar="SHARING:SIZE[:RATIO]"
    )
    parser.add_argument("--limit", type=int, default=IMAGES, help="the first images only")
    parser.add_argument("--calibration", type=int, default=256, help="images, of training")
    parser.add_argument("--seed", type=int, default=WIDE.seed)
    parser.add_argument("--reorder", action="store_true")
    add_data_option(parser)
    args = parser.parse_args()
    data = chosen_data_folder(args) / "data"
    model = real_model(args.model, None, CompileOptions())
    calibration = samples(model, cifar_part(data, "cifar10_train_0", args.calibration))
    images = cifar_part(data, FILES["validation"], args.limit)
    assert images.y is not None
    labelled = LabelledData(samples(model, images), images.y.reshape(-1))
    print(f"float {100 * float_share(model, labelled, no_progress):.2f} %")
    for chosen in args.configurations:
        options = replace(chosen, seed=args.seed)
        whole = with_best_order(model.graph, options) if args.reorder else model.graph
        graph, report = compress_graph(whole, calibration, options)
        accuracy = float_share(replace(model, graph=graph), labelled, no_progress)
        sizes, terms = report.sizes, " ".join(str(layer.terms) for layer in report.layers)
        name = point_name(options.sharing.value, options.size, options.ratio)
        print(
            f"{name:15s} {report.pools} pools, terms {terms}, "
            f"{sizes.pooled_bytes:,} bytes, "
            f"{sizes.compression:.2f}x, {100 * accuracy:.2f} %",
            flush=True,
        )


if __name__ == "__main__":
    main()
