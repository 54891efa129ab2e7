"""Replay a newcomer's first hour: the screens of all commands, and how long one waits for them.

Prints three tables:

* Each command of `docs/tour.md`, in its order, in an empty folder with an empty cache: its lines in
  a terminal of 80 by 24, and its seconds; then its lines in one of 120 by 40, where builds come
  from the cache.
* Each command with a file or folder that is not there: the seconds until its message.
* The lines of `--help` and of `--help-all`.

Ends with exit code 1 where a command fails or prints more than a screen, `--help` included;
`--help-all` may scroll.

    python benchmarks/first_hour.py
    python benchmarks/first_hour.py --only missing
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))

from tour import faults, step, tour
from typer.main import get_command

from edgec.cli.app import app

SIZES = ((80, 24), (120, 40))
MISSING = (
    ("bundle", "missing", "missing", "-o", "out"),
    ("check", "missing"),
    ("compare", "missing", "missing"),
    ("compile", "missing.onnx", "--board", "nucleo"),
    ("compress", "missing.onnx", "-o", "pool.onnx"),
    ("evaluate", "missing", "--data", "missing.npz"),
    ("explore", "missing.onnx", "--board", "nucleo"),
    ("export", "missing", "--as", "c"),
    ("flash", "missing"),
    ("inspect", "missing.onnx"),
    ("profile", "missing"),
    ("quantize", "missing.onnx", "-o", "int8.onnx"),
    ("report", "missing"),
    ("run", "missing", "--input", "missing.npz"),
    ("tune", "missing.onnx", "--board", "nucleo"),
    ("validate", "missing"),
    ("watch", "missing"),
)
"""Every command that reads a file or a folder."""
TRIES = 3


def of_the_tour(folder: Path) -> list[str]:
    """The table of the tour; the bounds that were broken."""
    (narrow, short), (wide, tall) = SIZES
    first = list(tour(folder, narrow, short))
    again = list(tour(folder, wide, tall))
    print(
        f"\n| command | lines at {narrow}x{short} | at {wide}x{tall} | seconds | processor time |"
    )
    print("|---|---:|---:|---:|---:|")
    broken = []
    for a, b in zip(first, again, strict=True):
        line = " ".join(a.words)
        print(
            f"| `edgec {line}` | {len(a.screen.lines)} | {len(b.screen.lines)} | "
            f"{a.seconds:.1f} | {a.busy_s:.1f} |"
        )
        found = [*faults(a, narrow, short), *faults(b, wide, tall)]
        broken += [f"edgec {line}: {each}" for each in found]
    seconds, busy_s = (sum(getattr(each, of) for each in first) for of in ("seconds", "busy_s"))
    print(f"| all {len(first)} | | | {seconds:.0f} | {busy_s:.0f} |")
    return broken


def of_missing_files(folder: Path) -> list[str]:
    """The table of files that are not there, the quickest of some tries; commands that end well."""
    print(f"\n| with a file that is not there | seconds, best of {TRIES} | processor time |")
    print("|---|---:|---:|")
    broken = []
    for words in MISSING:
        tries = [step(words, folder, *SIZES[0]) for _ in range(TRIES)]
        best, least = min(t.seconds for t in tries), min(t.busy_s for t in tries)
        print(f"| `edgec {' '.join(words)}` | {best:.2f} | {least:.2f} |")
        if any(each.screen.code == 0 for each in tries):
            broken.append(f"edgec {' '.join(words)}: no error")
    return broken


def of_help(folder: Path) -> list[str]:
    """The table of helps; the bounds that were broken."""
    heads = " | ".join(f"at {columns}x{rows}" for columns, rows in SIZES)
    print(f"\n| help | {heads} |")
    print("|---|---:|---:|")
    broken = []
    names = sorted(get_command(app).commands)
    lines = [("--help",), *((name, "--help") for name in names)]
    lines += [(name, "--help-all") for name in names if name != "boards"]
    for words in lines:
        done = [step(words, folder, *size) for size in SIZES]
        counts = " | ".join(str(len(each.screen.lines)) for each in done)
        print(f"| `edgec {' '.join(words)}` | {counts} |")
        for each, (columns, rows) in zip(done, SIZES, strict=True):
            most = rows if words[-1] == "--help" else sys.maxsize
            broken += [f"edgec {' '.join(words)}: {f}" for f in faults(each, columns, most)]
    return broken


TABLES = {"tour": of_the_tour, "missing": of_missing_files, "help": of_help}


def main() -> int:
    """Print the tables; 1 where a bound is broken."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=TABLES, help="one of the tables")
    chosen = parser.parse_args().only
    broken = []
    with tempfile.TemporaryDirectory() as folder:
        for name, table in TABLES.items():
            if chosen in (None, name):
                broken += table(Path(folder))
    print("\n" + ("\n".join(broken) or "no command fails or prints more than a screen"))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
