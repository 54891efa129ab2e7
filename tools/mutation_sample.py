"""Change one place of the code at random, and see whether the tests nearest to it fail.

    python tools/mutation_sample.py --count 40 --seed 1 [--only 7] [--list]

A mutant changes an operator, a comparison, a whole number or a name such as `min` in one line of
`edgec/**/*.py`, `edgec/**/*.c.j2` or `firmware/runtime/include/**/*.h`; text, comments, imports
and type annotations stay. It is applied in a worktree of git of its own (the last commit, so commit
first). Tests run in the order of their nearness: those that import the module or name it or the
families that include it, then those of its package; at the first failure the mutant is killed. A
mutant that none of them fails for is printed as survived: read it, for it may compute the same.

Tools such as mutmut know Python alone; much of edgec is in templates and headers of C.
"""

import argparse
import ast
import io
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SHARES = {
    "kernels": (15, ("edgec/kernels", "edgec/templates", "firmware/runtime/include")),
    "quant": (8, ("edgec/quant",)),
    "lower": (5, ("edgec/lower", "edgec/memory", "edgec/codegen")),
    "importers": (5, ("edgec/importers", "edgec/passes")),
    "sim": (4, ("edgec/sim", "edgec/toolchain", "edgec/workflow")),
    "commands": (3, ("edgec/commands", "edgec/cli", "edgec/report")),
}
"""Of 40 mutants, how many come from which folders."""
SWAPS = {
    **{"+": "-", "-": "+", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="},
    **{"//": "*", "<<": ">>", ">>": "<<", "+=": "-=", "-=": "+=", "&&": "||", "||": "&&"},
    **{"and": "or", "or": "and", "min": "max", "max": "min", "any": "all", "all": "any"},
    **{"True": "False", "False": "True", "not": ""},
}
C_CODE = re.compile(
    r"(?<= )(?:<=|>=|==|!=|<<|>>|&&|\|\||\+=|-=|//|[-+<>])(?= )|(?<![\w.\"])\d+(?=[uU]?\b)(?!\.)"
    r"|\b(?:min|max|and|or|not|any|all)\b"
)
NO_CODE = re.compile(r"/\*.*?\*/|\{#.*?#\}|//[^\n]*|\"[^\"\n]*\"|^\s*#[^\n]*", re.S | re.M)

NO_EFFECT = re.compile(r"\b(?:frozen|slots|strict|kw_only)=$")
"""What comes before a truth value that only guards against wrong use."""


class Mutant(NamedTuple):
    """One change: in line `line` of `path` (from 1), from column `column`, `old` to `new`."""

    share: str
    path: str
    line: int
    column: int
    old: str
    new: str


def changed(token: str) -> str | None:
    """What stands for a token in a mutant, or None for tokens that stay."""
    return str(int(token) + 1) if token.isdecimal() else SWAPS.get(token)


def python_places(text: str) -> Iterator[tuple[int, int, str]]:
    """Line (from 1), column and text of each token to change."""
    kept: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        notes = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        notes += [node] if isinstance(node, ast.Import | ast.ImportFrom) else []
        for note in notes:
            if note is not None:
                kept.update(range(note.lineno, (note.end_lineno or note.lineno) + 1))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        code = token.type in (tokenize.OP, tokenize.NUMBER, tokenize.NAME)
        option = NO_EFFECT.search(token.line[: token.start[1]]) is not None
        if code and not option and token.start[0] not in kept:
            yield *token.start, token.string


def c_places(text: str) -> Iterator[tuple[int, int, str]]:
    """As `python_places`, for a template or a header of C."""
    blank = NO_CODE.sub(lambda found: re.sub(r"[^\n]", "_", found[0]), text)
    for number, line in enumerate(blank.splitlines(), 1):
        for found in C_CODE.finditer(line):
            yield number, found.start(), found[0]


def places(path: Path) -> list[tuple[int, int, str]]:
    """All places of a file that a mutant may change."""
    find = python_places if path.suffix == ".py" else c_places
    return [each for each in find(path.read_text("utf-8")) if changed(each[2]) is not None]


def draw(count: int, seed: int) -> list[Mutant]:
    """The mutants of a seed; each place of a share is as likely as any other."""
    chance = random.Random(seed)
    mutants = []
    for share, (of_40, folders) in SHARES.items():
        files = [
            file
            for folder in folders
            for file in sorted((ROOT / folder).rglob("*"))
            if file.suffix in (".py", ".j2", ".h")
        ]
        every = [(file, place) for file in files for place in places(file)]
        for file, (line, column, old) in chance.sample(every, max(1, of_40 * count // 40)):
            path = file.relative_to(ROOT).as_posix()
            mutants.append(Mutant(share, path, line, column, old, changed(old) or ""))
    return mutants


def apply(mutant: Mutant, tree: Path) -> str:
    """Write a mutant into a tree; returns the changed line."""
    file = tree / mutant.path
    lines = file.read_text("utf-8").splitlines(keepends=True)
    line = lines[mutant.line - 1]
    end = mutant.column + len(mutant.old)
    lines[mutant.line - 1] = line[: mutant.column] + mutant.new + line[end:]
    file.write_text("".join(lines), "utf-8")
    return lines[mutant.line - 1].strip()


def nearest(path: str) -> list[list[str]]:
    """Test files by nearness to a file, in stages, the nearest first."""
    parts = Path(path).with_suffix("").with_suffix("").parts
    module = ".".join(part for part in parts if part != "__init__")
    names = {parts[-1].strip("_"), parts[-2].strip("_")} - {"init", "common", "edgec", "generic"}
    words = {word for name in names for word in name.split("_") if len(word) > 2}
    if not path.endswith(".py"):
        names |= _including(Path(path).name)
    scores = {}
    for test in sorted((ROOT / "tests").rglob("test_*.py")):
        text = test.read_text("utf-8")
        name = test.relative_to(ROOT).as_posix()
        package = f"/{parts[1]}/" in f"/{name}"
        imports = re.search(rf"\b{re.escape(module)}\b", text) is not None
        outer = re.search(rf"\b{re.escape(module.rpartition('.')[0])} import", text) is not None
        parity = not path.endswith(".py") and "test_parity" in name
        said = sum(re.search(rf"\b\w*{re.escape(each)}\w*\b", text) is not None for each in names)
        heard = sum(word in test.stem.split("_") for word in words)
        slow = name.startswith(("tests/e2e", "tests/firmware"))
        score = 8 * imports + 3 * outer + 2 * said + 3 * heard + 2 * package + 3 * parity - 2 * slow
        if score > 1:
            scores[name] = score
    order = sorted(scores, key=lambda name: -scores[name])
    golden = [] if path.endswith(".py") else ["tests/unit/codegen/test_codegen_golden.py"]
    return [stage for stage in (order[:5], order[5:14], golden) if stage]


def _including(name: str) -> set[str]:
    """Stems of the templates that include a template or header."""
    stems = set()
    for file in (ROOT / "edgec").rglob("*.j2"):
        if name in file.read_text("utf-8"):
            stems.add(file.name.split(".")[0].strip("_"))
    return stems


def verdict(stages: list[list[str]], tree: Path, seconds: float) -> str:
    """Run stages of test files one after the other, each with a limit of time, until one fails."""
    said = [""]
    for tests in stages:
        said.append(_outcome(tests, tree, seconds))
        if said[-1].startswith("killed"):
            break
    return said[-1] if said[-1].startswith("killed") else max(said, key=len)


def _outcome(tests: list[str], tree: Path, seconds: float) -> str:
    """Run test files until one fails or the time is over."""
    environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    options = ["-q", "-x", "-p", "no:cacheprovider", "-m", "not slow and not torch", *tests]
    run = subprocess.Popen(
        [sys.executable, "-m", "pytest", *options],
        cwd=tree,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = run.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        said, _ = run.communicate()
        return "survived what ran in the time"
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", said, re.M)
    if run.returncode in (0, 5):
        return "survived"
    return f"killed by {failed[0] if failed else said.strip().splitlines()[-1]}"


def main() -> None:
    """Draw, apply and judge the mutants that the options name."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, nargs="*", help="numbers of mutants, from 0")
    parser.add_argument("--seconds", type=float, default=90, help="for the tests of a stage")
    parser.add_argument("--stages", type=int, default=3, help="nearest, those after, texts of C")
    parser.add_argument("--list", action="store_true", help="only show them and their tests")
    parser.add_argument("--tests", nargs="*", help="run these instead of the nearest")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT)]
        subprocess.run([*git, "worktree", "add", "-q", "--detach", tree, "HEAD"], check=True)
        try:
            for number, mutant in enumerate(draw(options.count, options.seed)):
                if options.only and number not in options.only:
                    continue
                before = (tree / mutant.path).read_text("utf-8")
                line = apply(mutant, tree)
                stages = (
                    [options.tests] if options.tests else nearest(mutant.path)[: options.stages]
                )
                place = f"{number} {mutant.path}:{mutant.line}"
                sys.stdout.write(f"{place} {mutant.old} -> {mutant.new}: {line}\n")
                start = time.monotonic()
                said = str(stages) if options.list else verdict(stages, tree, options.seconds)
                sys.stdout.write(f"    {said} ({time.monotonic() - start:.0f} s)\n")
                sys.stdout.flush()
                (tree / mutant.path).write_text(before, "utf-8")
        finally:
            subprocess.run([*git, "worktree", "remove", "--force", tree], check=True)


if __name__ == "__main__":
    main()
