"""Trains a teacher and the compressed networks, best value first, within some minutes of a GPU.

    networks/gpu.sh --data-dir FOLDER --out FOLDER [--minutes 9]

A ResNet-18 for small images, then by it ternary and pooled ResNet-8 (8 and 4.5 times smaller than
int8), pooled ResNet-10 and ResNet-14 (8 times), and the binary network; the same with other seeds
where time allows.  Files, checkpoints and logs are in the folder, and `table.md`, which has the
share of the validation images that each tells right.  When the minutes are over, the training that
runs is ended; the same command again goes on from its last whole epoch.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import cifar10

HERE = Path(__file__).resolve().parent
TEACHER = "resnet18"
_GRACE_S = 5.0
_SHARE = re.compile(r"(?:validation|now) ([\d.]+)%")


@dataclass(frozen=True, slots=True)
class Job:
    """A training.

    Attributes:
        name: what is trained: a network of train_cifar10.py, or a recipe of pool_cifar10.py.
        script: which of the two.
        epochs: passes over the training images.
        options: more for the script; {out} is the folder, {seed} the seed.
        suffix: of the file that it writes, after the name and "_cifar10".
    """

    name: str
    script: str
    epochs: int
    options: tuple[str, ...] = ()
    suffix: str = ".onnx"

    def output(self, out: Path, seed: int) -> Path:
        """The file that it writes."""
        return out / f"seed{seed}" / f"{self.name}_cifar10{self.suffix}"

    def command(self, args: argparse.Namespace, seed: int) -> list[str]:
        """What is run."""
        output = self.output(args.out, seed)
        words = [sys.executable, str(HERE / self.script), self.name, "--seed", str(seed)]
        words += ["--data-dir", str(args.data_dir), "--device", args.device]
        words += ["--epochs", str(args.epochs or self.epochs)]
        where = output.parent if self.script == "train_cifar10.py" else output
        words += ["--out" if self.script == "train_cifar10.py" else "-o", str(where)]
        return words + [each.format(out=args.out, seed=seed) for each in self.options]


def pooled(name: str, epochs: int, *options: str, suffix: str = ".pool.onnx") -> Job:
    """A recipe of pool_cifar10.py with the teacher of seed 1."""
    teacher = f"--teacher={{out}}/seed1/{TEACHER}_cifar10.onnx"
    return Job(name, "pool_cifar10.py", epochs, (teacher, *options), suffix)


JOBS = (
    Job(TEACHER, "train_cifar10.py", 40),
    pooled("resnet8_sums", 60),
    pooled("resnet8", 60),
    pooled("resnet8_ternary", 20, suffix=".bits.onnx"),
    Job(
        "binary", "train_cifar10.py", 60,
        ("--hold", f"--teacher={{out}}/seed1/{TEACHER}_cifar10.onnx"),
    ),
    pooled("resnet10_sums", 40),
    Job("resnet14", "train_cifar10.py", 30),
    pooled("resnet14_sums", 30, "--network={out}/seed{seed}/resnet14_cifar10.onnx"),
)  # fmt: skip
"""In this order; a later seed does without the teacher, which all have in common."""


def plan(seeds: int, only: Sequence[str]) -> Iterator[tuple[int, Job]]:
    """Seeds and jobs in the order in which they are done."""
    for seed in range(1, seeds + 1):
        for job in JOBS:
            if (not only or job.name in only) and (seed == 1 or job.name != TEACHER):
                yield seed, job


def log_of(job: Job, out: Path, seed: int) -> Path:
    """Where a job's output goes."""
    return out / f"seed{seed}" / f"{job.name}.log"


def run(job: Job, args: argparse.Namespace, seed: int, seconds: float) -> str:
    """One job, or as much of it as fits.

    Returns:
        "done", "interrupted" or "failed".
    """
    log = log_of(job, args.out, seed)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8") as file:
        process = subprocess.Popen(
            job.command(args, seed), stdout=file, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            return "failed" if process.wait(seconds) else "done"
        except subprocess.TimeoutExpired:
            return "interrupted"
        finally:
            if process.returncode is None:
                # With all that it has started: the next run writes the same checkpoint.
                os.killpg(process.pid, signal.SIGTERM)
                process.wait()


def table(found: Mapping[tuple[int, str], str], args: argparse.Namespace) -> str:
    """Markdown: what became of each job, and the last share of validation images in its log."""
    lines = ["| network | seed | validation | |", "|---|---:|---:|---|"]
    for seed, job in plan(args.seeds, args.only):
        log = log_of(job, args.out, seed)
        shares = _SHARE.findall(log.read_text("utf-8")) if log.exists() else []
        share = f"{shares[-1]} %" if shares else ""
        lines.append(f"| {job.name} | {seed} | {share} | {found.get((seed, job.name), 'open')} |")
    return "\n".join([*lines, ""])


def main(arguments: list[str] | None = None) -> int:
    """Command line; 1 if a job failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cifar10.add_data_option(parser)
    parser.add_argument("--out", type=Path, required=True, help="folder for all that is written")
    parser.add_argument("--minutes", type=float, default=9.0, help="until the last job is ended")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument("--epochs", type=int, help="of every job; default: its own number")
    parser.add_argument("--only", nargs="+", default=[], choices=[job.name for job in JOBS])
    args = parser.parse_args(arguments)
    args.data_dir = cifar10.chosen_folder(parser, args)
    args.out.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 60 * args.minutes
    found: dict[tuple[int, str], str] = {}
    for seed, job in plan(args.seeds, args.only):
        left = end - time.monotonic() - _GRACE_S
        if job.output(args.out, seed).exists():
            found[seed, job.name] = "done"
        elif left > 0:
            found[seed, job.name] = run(job, args, seed, left)
            print(f"{job.name}, seed {seed}: {found[seed, job.name]}", flush=True)
        (args.out / "table.md").write_text(table(found, args), encoding="utf-8")
    print(table(found, args), end="")
    return int("failed" in found.values())


if __name__ == "__main__":
    # An exception, so that the job, which has a session of its own, ends as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
