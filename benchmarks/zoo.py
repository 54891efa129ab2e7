"""Architectures as users export them: does each compile, how exact is it, what does it cost?

    python benchmarks/zoo.py                              # all, both exporters of PyTorch
    python benchmarks/zoo.py --only timm: --exporter new  # those whose name holds a text
    python benchmarks/zoo.py --json zoo.json --work FOLDER
    python benchmarks/zoo.py --no-build                   # what compiles, without numbers

Weights are random but sane (`zoo_make.py`).  Each architecture is made, compiled for the host and
compared in processes of its own, with a time limit; --work keeps models and results, and what it
holds already is not measured again.  The libraries (torch, timm, torchvision, transformers,
skl2onnx) are no dependencies of edgec: architectures of those that are missing are left out.  For
those of Keras, TensorFlow lies in a folder of its own (`pip install --target FOLDER
tensorflow-cpu`) that EDGEC_ZOO_TENSORFLOW names.

"static dB" is what the usual static quantization to int8 gives: onnxruntime's without its
optimizations, of Keras' networks that of TensorFlow's converter.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from zoo_catalog import TENSORFLOW, architectures, exporters, missing

_HERE = Path(__file__).resolve().parent
_COLUMNS = ("architecture", "exporter", "result", "dB", "static dB", "seconds", "peak MiB")


def run(script: str, arguments: list[str], limit: float) -> tuple[dict[str, Any] | None, str]:
    """What a script prints as its last line, or None and why not."""
    command = [sys.executable, str(_HERE / script), *arguments]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", "HF_HUB_OFFLINE": "1"}
    if arguments[0].startswith("keras:"):
        environment["PYTHONPATH"] = os.environ[TENSORFLOW]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        return None, f"more than {limit:g} s"
    lines = done.stdout.strip().splitlines()
    if done.returncode:
        errors = done.stderr.strip().splitlines()
        return None, errors[-1][:200] if errors else f"exit code {done.returncode}"
    try:
        return json.loads(lines[-1]) if lines else {}, ""
    except ValueError:
        return {}, ""


def measured(name: str, exporter: str, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """The row of one architecture."""
    limit = options.timeout
    row: dict[str, Any] = {"architecture": name, "exporter": exporter}
    if not any((folder / f"model.{kind}").is_file() for kind in ("onnx", "tflite")):
        made, problem = run("zoo_make.py", [name, exporter, str(folder)], limit)
        if made is None:
            return row | {"result": "not exported", "reason": problem}
    what = "sources" if options.no_build else "edgec"
    found, problem = run("zoo_measure.py", [what, str(folder)], limit)
    if found is None:
        return row | {"result": "failed", "reason": problem}
    if options.no_build or found["result"] != "compiled":
        return row | found
    other, problem = run("zoo_measure.py", ["static", str(folder)], limit)
    return row | found | {"static_db": other["db"] if other else None}


def remembered(
    name: str, exporter: str, folder: Path, options: argparse.Namespace
) -> dict[str, Any]:
    """The row of one architecture, from the work folder if it is there."""
    path = folder / ("sources.json" if options.no_build else "result.json")
    if path.is_file():
        return dict(json.loads(path.read_text("utf-8")))
    row = measured(name, exporter, folder, options)
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(row), "utf-8")
    shutil.rmtree(folder / "out", ignore_errors=True)
    return row


def line(row: dict[str, Any]) -> str:
    """A row of the table."""
    numbers = [row.get(key) for key in ("db", "static_db", "seconds", "peak_mib")]
    result = row["result"] if row["result"] == "compiled" else f"{row['result']}: {row['reason']}"
    cells = [row["architecture"], row["exporter"], result.replace("|", "/")]
    cells += ["" if number is None else f"{number:g}" for number in numbers]
    return f"| {' | '.join(cells)} |"


def summary(rows: list[dict[str, Any]]) -> str:
    """How many compile, by exporter, and how many reach onnxruntime's numbers."""
    lines = []
    for exporter in sorted({row["exporter"] for row in rows}):
        own = [r for r in rows if r["exporter"] == exporter and r["result"] != "not exported"]
        good = [row for row in own if row["result"] == "compiled"]
        both = [row for row in good if row.get("static_db") is not None and row["db"] is not None]
        near = [row for row in both if row["db"] >= row["static_db"] - 1]
        lines.append(
            f"{exporter}: {len(good)} of {len(own)} compile; {len(near)} of {len(both)} have at "
            "least the dB of the usual static quantization less 1"
        )
    return "\n".join(lines)


def arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", action="append", help="part of a name; may be given again")
    parser.add_argument("--exporter", choices=("old", "new", "both"), default="both")
    parser.add_argument("--json", type=Path, help="file for the rows")
    parser.add_argument("--work", type=Path, help="folder that keeps models and results")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds of each step")
    parser.add_argument("--no-build", action="store_true", help="write the C, measure nothing")
    parser.add_argument("--list", action="store_true", help="print the names, measure nothing")
    return parser.parse_args()


def main() -> None:
    """Measure and print the table."""
    options = arguments()
    names = [n for n in architectures() if not options.only or any(o in n for o in options.only)]
    if options.list:
        print("\n".join(names))
        return
    for package in missing():
        print(f"left out: {package} is not installed", file=sys.stderr)
    print(f"| {' | '.join(_COLUMNS)} |\n|{'---|' * len(_COLUMNS)}", flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        for name in names:
            for exporter in exporters(name, options.exporter):
                folder = work / f"{name.replace(':', '-')}-{exporter}"
                rows.append(remembered(name, exporter, folder, options))
                print(line(rows[-1]), flush=True)
    print(summary(rows))
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1), "utf-8")


if __name__ == "__main__":
    main()
