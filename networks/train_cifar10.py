"""Trains a network on CIFAR-10 and writes it as ONNX: python networks/train_cifar10.py resnet8.

Stochastic gradient descent for residual networks and AdamW for transformers, with a one-cycle rate,
in bfloat16 unless told otherwise, an average of the weights over the last steps (what is
exported), seeded.  `--teacher` names a network of this folder whose outputs are learned as well as
the labels.  A run that was interrupted goes on from its last epoch (networks/checkpoints, not kept
in git), and gives what it would have given in one piece.
"""

from __future__ import annotations

import argparse
import io
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import binary
import cct
import cifar10
import mobilenets
import mobilenetv3
import mobilevit
import resnets
import shufflenet
import torch
from onnx_file import export
from schedule import MOST_KEPT, average_decay, held, held_steps, one_cycle
from teacher import Views
from torch import nn
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from edgec.base.output_file import write_whole
from edgec.finetune.loss import Loss
from edgec.finetune.run import chosen_device

HERE = Path(__file__).resolve().parent
BATCH = 128
SMOOTHING = 0.05
DECAY_SGD, PEAK_SGD = 5e-4, 0.2
DECAY_ADAMW, PEAK_ADAMW = 0.05, 2e-3
VIEWS = 4
TAUGHT = Loss(distillation=0.9, temperature=4.0)
SETTINGS = ("network", "epochs", "rate", "hold", "seed", "float32", "teacher")
"""Options that a run keeps from its first epoch to its last."""
BINARY = {"binary": binary.build}
TRANSFORMERS = {"cct": cct.CCT, "mobilevit": mobilevit.build}
OTHERS: dict[str, Callable[[], nn.Module]] = {
    **TRANSFORMERS,
    **BINARY,
    "mobilenetv2": mobilenets.build,
    "efficientnet_lite": partial(mobilenets.build, mobilenets.EFFICIENTNET_LITE),
    "mobilenetv3": mobilenetv3.build,
    "shufflenetv2": shufflenet.build,
}


def build(name: str) -> nn.Module:
    """A network with fresh weights; raises KeyError for an unknown name."""
    return OTHERS[name]() if name in OTHERS else resnets.build(name)


def make_optimizer(model: nn.Module, name: str, peak: float) -> torch.optim.Optimizer:
    """What trains the network `name`, with `peak` as its highest learning rate."""
    weights = model.parameters()
    if name in TRANSFORMERS:
        return torch.optim.AdamW(weights, lr=peak, weight_decay=DECAY_ADAMW)
    if name in BINARY:  # a decay of latent weights would turn signs and change nothing else
        return torch.optim.Adam(weights, lr=peak)
    return torch.optim.SGD(weights, lr=peak, momentum=0.9, nesterov=True, weight_decay=DECAY_SGD)


def accuracy(model: nn.Module, images: cifar10.Images, device: str) -> float:
    """Share of images whose largest output is their label."""
    model.eval()
    hits = 0
    with torch.no_grad():
        for x, y in zip(images.x.split(500), images.y.split(500), strict=True):
            hits += int((model(cifar10.normalise(x.to(device))).argmax(1).cpu() == y).sum())
    return hits / len(images.y)


def epoch(
    model: nn.Module, average: AveragedModel, optimizer: torch.optim.Optimizer,
    images: cifar10.Images, views: Views | None, number: int, args: argparse.Namespace,
) -> float:  # fmt: skip
    """One pass over the training images, in a view with its teacher's outputs or varied anew.

    Returns:
        The mean loss.
    """
    model.train()
    varied, wanted = (None, None) if views is None else views.of(number)
    generator = torch.Generator().manual_seed(args.seed * 1000 + number)
    batches = torch.randperm(len(images.y), generator=generator).split(BATCH)
    total = 0.0
    for index, batch in enumerate(batches):
        step = number * len(batches) + index
        rate = (held if args.hold else one_cycle)(step, args.epochs * len(batches), args.rate)
        optimizer.param_groups[0]["lr"] = rate
        taken = cifar10.augment(images.x[batch], generator) if varied is None else varied[batch]
        x = cifar10.normalise(taken.to(args.device))
        x = x.contiguous(memory_format=torch.channels_last)
        with torch.autocast(args.device, torch.bfloat16, enabled=not args.float32):
            output = model(x).float()
        labels = images.y[batch].to(args.device)
        if wanted is None:
            loss = functional.cross_entropy(output, labels, label_smoothing=SMOOTHING)
        else:
            loss = TAUGHT(output, wanted[batch].to(args.device), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update_parameters(model)
        total += float(loss.detach())
    return total / len(batches)


def goes_on(old: Mapping[str, str], new: Mapping[str, str], done: int) -> bool:
    """Whether a run with the settings `new` would have done the same `done` epochs as one of `old`.

    With --hold that is so for any number of epochs, as long as the rate has not begun to fall.
    """
    epochs = min(int(old["epochs"]), int(new["epochs"]))
    same = new["hold"] == str(True) and done <= held_steps(epochs)
    return dict(old) == {**new, "epochs": old["epochs"] if same else new["epochs"]}


def train(args: argparse.Namespace) -> nn.Module:
    """Trains, or goes on training; returns the averaged network."""
    torch.manual_seed(args.seed)
    images = cifar10.load(args.data_dir, "train")
    validation = cifar10.load(args.data_dir, "validation")
    model = build(args.network).to(args.device, memory_format=torch.channels_last)
    steps = args.epochs * -(-len(images.y) // BATCH)
    kept = get_ema_multi_avg_fn(MOST_KEPT if args.hold else average_decay(steps))
    average = AveragedModel(model, multi_avg_fn=kept, use_buffers=True)
    optimizer = make_optimizer(model, args.network, args.rate)
    states = {"model": model, "average": average, "optimizer": optimizer}
    checkpoint = args.out / "checkpoints" / f"{args.network}.pt"
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    settings = {name: str(getattr(args, name)) for name in SETTINGS}
    first = 0
    if checkpoint.exists() and not args.restart:
        saved = torch.load(checkpoint, weights_only=True)
        old = saved.get("settings")
        if not (old and goes_on(old, settings, saved["epoch"])):
            raise SystemExit(
                f"{checkpoint}: a run with other options, {old or 'which it does not name'}: give "
                "them again, or --restart"
            )
        first = saved["epoch"]
        for name, state in states.items():
            state.load_state_dict(saved[name])
    views = Views(args.teacher, images, VIEWS, args.seed, args.device) if args.teacher else None
    for number in range(first, args.epochs):
        start = time.perf_counter()
        loss = epoch(model, average, optimizer, images, views, number, args)
        saved = {name: state.state_dict() for name, state in states.items()}
        buffer = io.BytesIO()
        torch.save({**saved, "epoch": number + 1, "settings": settings}, buffer)
        write_whole(checkpoint, buffer.getvalue())
        score = accuracy(average, validation, args.device)
        seconds = time.perf_counter() - start
        print(f"{args.network} epoch {number + 1}/{args.epochs}: loss {loss:.3f}, "
              f"validation {score:.2%}, {seconds:.0f} s", flush=True)  # fmt: skip
    module = average.module
    assert isinstance(module, nn.Module)
    return module


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("network", choices=sorted({*resnets.SHAPES, *OTHERS}))
    cifar10.add_data_option(parser)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--rate", type=float, help="the highest learning rate")
    parser.add_argument(
        "--hold", action="store_true",
        help="hold the rate until three fifths of the run; until then --epochs may be changed",
    )  # fmt: skip
    parser.add_argument("--teacher", type=Path, help="float ONNX file to learn from")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument("--out", type=Path, default=HERE, help="folder; default: that of this file")
    parser.add_argument("--float32", action="store_true", help="faster for depthwise layers")
    parser.add_argument("--restart", action="store_true", help="forget the checkpoint")
    parser.add_argument("--test", action="store_true", help="also score the test images, once")
    args = parser.parse_args()
    args.data_dir = cifar10.chosen_folder(parser, args)
    args.device = chosen_device(args.device).type
    if args.rate is None:
        is_adam = args.network in TRANSFORMERS or args.network in BINARY
        args.rate = PEAK_ADAMW if is_adam else PEAK_SGD
    model = train(args)
    path = args.out / f"{args.network}_cifar10.onnx"
    export(binary.hardened(model), path)
    print(f"wrote {path}")
    if args.test:
        print(f"test accuracy {accuracy(model, cifar10.load(args.data_dir, 'test'), 'cpu'):.2%}")


if __name__ == "__main__":
    main()
