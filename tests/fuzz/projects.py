"""Campaign `projects`: damaged caches, project files, boards, output folders, limits and folders.

Each case compiles a small network in a folder whose surroundings are damaged (`project_damage`).  A
finding is a traceback, exit code 70, a failure without a message or with several, an output that is
half written or not that of the undamaged project, a file of the user that changed or is gone, a
file left behind, a character of a stranger's that reaches the terminal as it is.
"""

from __future__ import annotations

import hashlib
import logging
import os
import random
import resource
import shutil
import stat
import sys
import traceback
import unicodedata
from collections.abc import Mapping
from pathlib import Path

from . import project_damage
from .campaign import Campaign, Case, Outcome
from .command_line import INTERNAL
from .family import obey_modes
from .project_damage import FAMILIES, Project

_EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "digits_mlp.onnx"
_TREE = str(Path(__file__).resolve().parents[2])
_TOML = 'model = "model.onnx"\nboard = "host"\nbuild = false\nverify = false\nout = "out"\n'
_OWN_PROCESS_SHARE = 0.15
_ALWAYS_OWN = (project_damage.limits, project_damage.surroundings)
_UNREADY = ("Fatal Python error", "error while loading shared libraries", "Py_InitializeFromConfig")
"""Said by Python where it cannot even begin."""

Tree = Mapping[str, str]


def prepare(shared: Path) -> None:
    """Compile the undamaged project once, and import what cases need."""
    import edgec.commands.compile
    import edgec.report.text
    import edgec.workflow.session  # noqa: F401

    sys.dont_write_bytecode = True
    _make(shared)
    code, said = _run(_project(random.Random(0), shared), own_process=False)
    if code:
        raise AssertionError(f"the undamaged project does not compile: {said}")
    (shared / "project" / "out").rename(shared / "earlier")


def _make(root: Path) -> None:
    for name in ("project", "cache", "state", "tmp", "precious"):
        (root / name).mkdir(mode=0o700)
    shutil.copyfile(_EXAMPLE, root / "project" / "model.onnx")
    (root / "project" / "edgec.toml").write_text(_TOML)
    for folder in (root, root / "project"):
        (folder / "precious").mkdir(exist_ok=True)
        (folder / "precious" / "notes.txt").write_text("years of work")


def _project(rng: random.Random, root: Path) -> Project:
    folders = {"HOME": "home", "EDGEC_CACHE_DIR": "cache", "XDG_STATE_HOME": "state"}
    environment = {name: str(root / folder) for name, folder in folders.items()}
    environment |= {"TMPDIR": str(root / "tmp"), "PYTHONPATH": _TREE, "EDGEC_DEBUG": "1"}
    environment |= {"PATH": os.environ["PATH"], "EDGEC_CACHE_LIMIT": "1G", "LC_ALL": "C.UTF-8"}
    # CPython 3.11 takes a compiled module for whole that a limit on the size of files has cut.
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    return Project(rng, root, ["compile"], environment)


def run(case: Case) -> Outcome:
    """Damage the surroundings of a project, compile it, and look at all that is there."""
    rng, root = case.random(), case.folder
    _make(root)
    for name in ("cache", "state", "earlier"):
        shutil.copytree(case.shared / name, root / name, dirs_exist_ok=True)
        shutil.copystat(case.shared / name, root / name)
    project = _project(rng, root)
    family = rng.choice(FAMILIES)
    family(project)
    print(family.__name__, *project.log, *project.words, sep="\n  ", flush=True)
    before = {name: _tree(root / name) for name in ("project", "precious")}
    own = family in _ALWAYS_OWN or rng.random() < _OWN_PROCESS_SHARE
    code, said = _run(project, own_process=own)
    print(f"exit code {code}", said[-4000:], sep="\n", flush=True)
    if any(text in said for text in _UNREADY):
        return Outcome(f"{family.__name__}: Python does not begin")
    problem = _words_problem(code, said) or _files_problem(project, code, before, case.shared)
    for path in root.rglob("*"):  # pipes and what has no permission would stop the harness
        if not path.is_symlink() and stat.S_ISFIFO(path.lstat().st_mode):
            path.unlink()
    return Outcome(f"{family.__name__}: exit code {code}", problem)


def _run(project: Project, *, own_process: bool) -> tuple[int, str]:
    """Exit code of the command, and all that it said."""
    sys.stdout.flush()
    reader, writer = os.pipe()  # a limit on the size of files is none on what is said
    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            os.dup2(writer, 1)
            os.dup2(writer, 2)
            os.close(reader)
            code = _command(project, own_process)
        except BaseException:
            os.write(1, traceback.format_exc().encode())
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8", errors="backslashreplace") as said:
        text = said.read()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), text


def _command(project: Project, own_process: bool) -> int:
    os.chdir(project.folder)
    if project.deleted:
        project.folder.rename(gone := project.root / "gone")
        shutil.rmtree(gone)
    obey_modes()
    for limit, most in project.limits.items():
        resource.setrlimit(limit, (most, most))
    if own_process:
        words = [sys.executable, "-m", "edgec", *project.words]
        os.execve(sys.executable, words, project.environment)
    os.environ.clear()
    os.environ.update(project.environment)
    import tempfile

    from edgec.cli.app import run_app

    tempfile.tempdir = None
    logging.disable(logging.NOTSET)
    sys.stdout, sys.stderr = (os.fdopen(n, "w", 1, "utf-8", closefd=False) for n in (1, 2))
    code = run_app(project.words)
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def _words_problem(code: int, said: str) -> str:
    if code == INTERNAL or "Traceback (most recent call last)" in said:
        return f"a bug of its own, exit code {code}: {said[-6000:]}"
    if code < 0:
        return f"ended by signal {-code}"
    messages = [line for line in said.splitlines() if line.startswith("error:")]
    if code and len(messages) != 1:
        return f"exit code {code} with {len(messages)} messages: {said[-3000:]}"
    if code == 0 and messages:
        return f"exit code 0 with an error: {messages[0]}"
    raw = {c for c in said if unicodedata.category(c) in ("Cc", "Cf") and c not in "\n\r\t"}
    if raw:
        return f"characters that reach the terminal as they are: {sorted(map(ascii, raw))}"
    return "a message of several pages" if len(said) > 20_000 else ""


def _tree(folder: Path) -> Tree:
    """What lies in a folder: a digest, or what it is, by path."""
    found = {}
    for path in sorted(folder.rglob("*")):
        kind = path.lstat().st_mode
        name = str(path.relative_to(folder))
        if stat.S_ISLNK(kind):
            found[name] = f"link to {path.readlink()}"
        elif stat.S_ISREG(kind):
            large = path.stat().st_size > 1 << 26
            found[name] = "large" if large else hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            found[name] = f"{stat.S_IFMT(kind)}"
    return found


def _files_problem(project: Project, code: int, before: Mapping[str, Tree], shared: Path) -> str:
    root = project.root
    if _tree(root / "precious") != before["precious"]:
        return "files of the user have changed"
    left = [path.name for path in (root / "tmp").iterdir()]
    if left:
        return f"left in the temporary folder: {left}"
    if project.deleted:
        return "" if code else "succeeded in a folder that is gone"
    after, old = _tree(project.folder), before["project"]
    changed = {name for name in {*after, *old} if after.get(name) != old.get(name)}
    if code:
        rest = {name for name in changed if not name.split("/")[0].endswith("-unbuilt")}
        return f"failed, and yet changed {sorted(rest)[:10]}" if rest else ""
    if project.same:
        golden = _tree(shared / "earlier")
        ours = _tree(project.folder / "out")
        other = sorted(n for n in {*ours, *golden} if ours.get(n) != golden.get(n))
        return f"other output than that of the undamaged project: {other[:10]}" if other else ""
    earlier = {f"out/{name}" for name in _tree(shared / "earlier")}
    lost = [n for n in old if after.get(n) != old[n] and n not in earlier and n != "out"]
    return f"files of the user are changed or gone: {lost[:10]}" if lost else ""


CAMPAIGN = Campaign(
    summary="damaged caches, project files, boards, output folders, limits and folders",
    run=run,
    nightly=5000,
    prepare=prepare,
    seconds=90.0,
    memory_bytes=8 << 30,
)
