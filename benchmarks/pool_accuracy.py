"""What pools cost in accuracy and save in bytes: float, int8, pooled at 8 and 4 bits.

    python benchmarks/pool_accuracy.py networks/resnet8_cifar10.onnx            # validation
    python benchmarks/pool_accuracy.py networks/*_cifar10.onnx --split test

MODEL.pool.onnx beside a model, or the file of --pooled, is measured if it is there (`edgec compress
--train` wrote it); else, or with --after-training, the model is compressed here, without labels.
Models are classifiers of CIFAR-10 that take [1, 3, 32, 32] normalised or [1, 32, 32, 3] pixels.
Integers are those of the numpy reference, which the firmware equals.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from data_folder import add_data_option, chosen_data_folder
from public_data import Split, cifar_part, normalised_pixels

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions, PoolSharing, WeightPoolOptions, no_progress
from edgec.commands.compress_jobs import SUFFIX
from edgec.weightpool import StoredSizes, compress_graph, stored_sizes
from edgec.workflow.accuracy import Accuracy, LabelledData, measured
from edgec.workflow.integer import RealModel, graph_side, input_specs, real_model

FILES = {"validation": "cifar10_train_1", "test": "cifar10_test_5000"}
IMAGES = 5000
COLUMNS = (
    f"{'network':24s} {'made':>15s} {'images':>6s} {'float':>6s} {'int8':>6s} {'8 bits':>6s} "
    f"{'4 bits':>6s}  {'int8 weights':>12s} {'stored':>9s} {'ratio':>6s} {'like for like':>13s}"
)


@dataclass(frozen=True, slots=True)
class Row:
    """One network.

    Attributes:
        made: how its pool was made.
        accuracy: of the network before and after.
        sizes: of the pooled one.
    """

    network: str
    made: str
    accuracy: Accuracy
    sizes: StoredSizes

    def text(self) -> str:
        """A line of the table."""
        found, sizes = self.accuracy, self.sizes
        shares = " ".join(f"{100 * each:6.2f}" for each in (found.real, found.int8, *found.pooled))
        ratio = sizes.int8_weights / sizes.pooled_bytes
        return (
            f"{self.network:24s} {self.made:>15s} {found.n:6d} {shares}  "
            f"{sizes.int8_weights:12,d} {sizes.pooled_bytes:9,d} {ratio:5.2f}x "
            f"{sizes.compression:12.2f}x"
        )


def samples(model: RealModel, images: Split) -> dict[str, Array]:
    """Images as a graph takes them."""
    (spec,) = input_specs(model.imported, model.about)
    x = normalised_pixels(images.x) if spec.shape[1] == 3 else images.x.astype(np.float32)
    return graph_side(model.imported, model.graph, {spec.name: x})


def row(path: Path, folder: Path, args: argparse.Namespace) -> Row:
    """Measure one network."""
    data = folder / "data"
    model = real_model(path, None, CompileOptions())
    calibration = samples(model, cifar_part(data, "cifar10_train_0", args.calibration))
    images = cifar_part(data, FILES[args.split], args.limit)
    assert images.y is not None
    file = args.pooled or path.with_name(path.name.removesuffix(".onnx") + SUFFIX)
    if file.is_file() and not args.after_training:
        graph = real_model(file, None, CompileOptions()).graph
        made = args.pooled.name.removesuffix(SUFFIX) if args.pooled else "file"
    else:
        options = WeightPoolOptions(size=args.pool_size, sharing=PoolSharing(args.pools))
        graph, _ = compress_graph(model.graph, calibration, options)
        made = "after training"
    accuracy = measured(
        replace(model, calibration=calibration),
        replace(model, graph=graph, calibration=calibration),
        LabelledData(samples(model, images), images.y),
        CompileOptions(),
        no_progress,
    )
    return Row(path.name.removesuffix(".onnx"), made, accuracy, stored_sizes(graph, signed=False))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--split", choices=tuple(FILES), default="validation")
    parser.add_argument("--limit", type=int, default=IMAGES, help="the first images only")
    parser.add_argument("--calibration", type=int, default=256, help="images, of training")
    parser.add_argument("--pool-size", type=int, default=WeightPoolOptions().size)
    parser.add_argument("--pools", choices=[each.value for each in PoolSharing], default="network")
    parser.add_argument("--after-training", action="store_true")
    parser.add_argument("--pooled", type=Path, help=f"the pooled form; default: MODEL{SUFFIX}")
    add_data_option(parser)
    args = parser.parse_args()
    folder = chosen_data_folder(args)
    print(COLUMNS)
    for path in args.models:
        if not path.name.endswith(SUFFIX):
            print(row(path, folder, args).text(), flush=True)
    print(
        "\nAccuracy in percent; 8 and 4 bits: pooled, width of the activations of pooled layers. "
        "Stored: packed\nindices, pool, weights that stay int8, and for each output channel a bias "
        "and a multiplier (the scale is\nin it), of 16 bits each in pooled layers, else of 32.  "
        "Ratio: int8 weights alone over all that; like for\nlike: biases and multipliers on both "
        "sides."
    )


if __name__ == "__main__":
    main()
