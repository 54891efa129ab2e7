"""What a multiply-accumulate of int8 and of int16 activations takes on the emulated cores.

    python benchmarks/int16_prices.py --data-dir FOLDER

Builds MLPerf's ResNet-8 (dense layers) and DS-CNN (depthwise ones among them) with int8 and with
int16 codes, profiles them, and prints cycles a multiply-accumulate by kind of layer: the table of
`products` of a core in `edgec/kernels/choice/prices.toml`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from pathlib import Path

from data_folder import add_data_option, chosen_data_folder
from public_data import TASKS

from edgec.base.options import CompileOptions, Effort, Precision, QuantOptions
from edgec.commands.compile import compile_model
from edgec.importers.formats import import_model
from edgec.profile.run import profile

_SAMPLES = 16
BOARDS = ("nucleo_l4r5zi", "nucleo_h7a3zi_q", "nucleo_u575zi_q", "nucleo_g0b1re", "nucleo_f207zg")


def measured(task: str, board: str, precision: Precision, data: Path) -> dict[str, list[int]]:
    """Cycles and multiply-accumulates of a build by kind of layer."""
    found = TASKS[task]
    model = data / "models" / found.model
    options = CompileOptions(
        quant=QuantOptions(precision=precision, effort=Effort.FAST), verify=False
    )
    samples = found.data(data, "calibration").x[:_SAMPLES]
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    with tempfile.TemporaryDirectory() as folder:
        name = model_input(model)
        built = compile_model(
            model, board, calibration={name: samples}, out=Path(folder) / "b", options=options
        )
        counts = profile(built.folder)
        nodes = {node.output: node for node in built.model.integer.nodes}
        for layer in counts.layers:
            node = nodes[layer.name]
            if not layer.macs:
                continue
            group = getattr(node.attrs, "group", 1)
            kind = "depthwise" if group > 1 else "dense"
            reads = built.model.integer.values[node.first].dtype.value
            sums[f"{reads} {kind}"][0] += layer.counts.cycles
            sums[f"{reads} {kind}"][1] += layer.macs
    return sums


def model_input(path: Path) -> str:
    """The name of the only input of a model."""
    (name,) = import_model(path).inputs
    return name


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    parser.add_argument("--boards", nargs="*", default=BOARDS)
    arguments = parser.parse_args()
    data = chosen_data_folder(arguments)
    for board in arguments.boards:
        total: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for task in ("resnet8", "dscnn"):
            for precision in (Precision.INT8, Precision.INT16):
                for kind, (cycles, macs) in measured(task, board, precision, data).items():
                    total[kind][0] += cycles
                    total[kind][1] += macs
        rates = ", ".join(f"{kind} {c / m:.2f}" for kind, (c, m) in sorted(total.items()))
        print(f"{board}: {rates}", flush=True)


if __name__ == "__main__":
    main()
