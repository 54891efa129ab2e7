"""Campaign `data`: damaged files of samples, each given to the reader and held against numpy's.

A finding is an exception that is no `EdgecError`, a file that takes longer than `_UNIT_SECONDS`,
memory beyond the limit of the process, or samples that the file does not hold.
"""

from __future__ import annotations

import contextlib
import io
import random
import signal
import struct
import wave
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from .campaign import Campaign, Case, Outcome
from .model_damage import NAMES, damaged_bytes

_UNIT_SECONDS = 10
_UNITS = 100
_SHAPE = (3, 4)
_NUMBERS = (0, 1, 2, 3, 5, 12, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1)
_DTYPES = (
    "<f4",
    "<f8",
    "<f2",
    "<i1",
    "<u1",
    "<i8",
    ">f4",
    "|b1",
    "<c8",
    "<U3",
    "|O",
    "<M8[s]",
    "|V0",
)


def prepare(shared: Path) -> None:
    """Import what cases need."""
    del shared
    import edgec.base.samples.file  # noqa: F401


def run(case: Case) -> Outcome:
    """Read some damaged files."""
    rng = case.random()
    read = 0
    for unit in range(case.units):
        path = case.folder / f"{unit}{rng.choice(_SUFFIXES)}"
        path.write_bytes(_damaged(rng, path.suffix))
        with _alarm(_UNIT_SECONDS):
            problem, accepted = _tried(path)
        read += accepted
        if problem:
            return Outcome("finding", f"{path.name}: {problem}")
        path.unlink()
    return Outcome(f"{case.units} files, {'some' if read else 'none'} read")


@contextlib.contextmanager
def _alarm(seconds: int) -> Iterator[None]:
    def late(_number: int, _frame: object) -> None:
        raise TimeoutError(f"not read within {seconds} s")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def _tried(path: Path) -> tuple[str, bool]:
    """What is wrong, and whether the file was accepted."""
    from edgec.base.errors import EdgecError
    from edgec.base.samples import InputSpec, load_labelled, load_samples

    spec = InputSpec("x", (1, *_SHAPE))
    with contextlib.suppress(EdgecError):
        load_labelled(path, [spec])
    try:
        found = load_samples(path, [spec])["x"]
    except EdgecError as error:
        text = str(error)
        return ("a message of several pages" if len(text) > 4000 else ""), False
    if found.shape[1:] != _SHAPE or not len(found):
        return f"samples of shape {found.shape}", True
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        return "samples that are not finite", True
    return _other_numbers(path, found), True


def _other_numbers(path: Path, found: np.ndarray) -> str:
    """Numbers that numpy's own reader does not see in the file."""
    if path.suffix != ".npz":
        return ""
    try:
        with np.load(path, allow_pickle=False) as data:
            theirs = np.asarray(data["x.npy"])
    except Exception:  # numpy's reader is less careful, or more
        return ""
    if theirs.dtype.kind not in "fiu":
        return "numbers where numpy reads none"
    with np.errstate(all="ignore"):
        same = np.array_equal(np.asarray(theirs, np.float32).ravel(), found.ravel().astype("f4"))
    return "" if same else "other numbers than numpy reads"


_SUFFIXES = (".npz", ".npz", ".npz", ".npz", ".npy", ".csv", ".wav")


def _damaged(rng: random.Random, suffix: str) -> bytes:
    data = {".npz": _npz, ".npy": _npy, ".csv": _csv, ".wav": _wav}[suffix](rng)
    return damaged_bytes(data, rng) if rng.random() < 0.5 else data


def _array(rng: random.Random) -> np.ndarray:
    shape = (rng.choice((0, 1, 2, 7)), *_SHAPE)
    if rng.random() < 0.2:
        shape = rng.choice(((), (0,), (2, 12), (1, 1, 3, 4), (2, 4, 3), (3,)))
    values = np.random.default_rng(rng.randrange(1 << 30)).normal(size=shape) * 3
    if rng.random() < 0.2 and values.size:
        values.reshape(-1)[0] = rng.choice((np.nan, np.inf, -np.inf, 1e300, 1e-320))
    with np.errstate(all="ignore"):
        return values.astype(rng.choice(("f4", "f4", "f8", "f2", "i1", "u1", "i4", "?", "c8")))


def _npy(rng: random.Random) -> bytes:
    """An array file, whose header may lie about shape, type, order, version and length."""
    array = _array(rng)
    if rng.random() < 0.5:
        buffer = io.BytesIO()
        np.save(buffer, array)
        return buffer.getvalue()
    shape: Sequence[object] = array.shape
    if rng.random() < 0.5:
        shape = rng.choice(
            ((2**62, 3, 4), (-1, 3, 4), (2**31, 3, 4), (1.5,), ("a",), (10**30, 3, 4))
        )
    header: object = {
        "descr": rng.choice(_DTYPES),
        "fortran_order": rng.choice((False, True, 3)),
        "shape": tuple(shape),
    }
    if rng.random() < 0.2:
        header = rng.choice(("[" * 3000, "{}", "{'descr': 1}", "__import__('os')", "(" * 90 + "1"))
    text = f"{header}".ljust(rng.choice((64, 118, 500))).encode() + b"\n"
    version = rng.choice(((1, 0), (1, 0), (2, 0), (3, 0), (9, 9)))
    length = struct.pack(
        "<H" if version == (1, 0) else "<I", rng.choice((len(text), len(text), 65535))
    )
    return b"\x93NUMPY" + bytes(version) + length + text + array.tobytes()


def _npz(rng: random.Random) -> bytes:
    """An archive whose entries, names, methods and sizes may lie."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        names = [
            "x.npy",
            *(rng.choice(("y.npy", "x.npy", *NAMES)) for _ in range(rng.randrange(3))),
        ]
        rng.shuffle(names)
        for name in names:
            methods = (
                zipfile.ZIP_STORED,
                zipfile.ZIP_DEFLATED,
                zipfile.ZIP_BZIP2,
                zipfile.ZIP_LZMA,
            )
            with contextlib.suppress(ValueError, UserWarning):
                info = zipfile.ZipInfo(name or "empty")
                info.compress_type = rng.choice(methods)
                data = _npy(rng) if rng.random() < 0.9 else bytes(rng.choice((0, 10, 1 << 16)))
                archive.writestr(info, data)
    return _headers_that_lie(buffer.getvalue(), rng) if rng.random() < 0.6 else buffer.getvalue()


def _headers_that_lie(data: bytes, rng: random.Random) -> bytes:
    """Other numbers in a field of a local header, the directory, or the end of it."""
    changed = bytearray(data)
    marks = [place for mark in (b"PK\3\4", b"PK\1\2", b"PK\5\6") for place in _places(data, mark)]
    for _ in range(rng.choice((1, 1, 2, 4))):
        place = rng.choice(marks) + rng.randrange(4, 44)
        size = rng.choice((1, 2, 4))
        if place + size <= len(changed):
            number = rng.choice(_NUMBERS) & ((1 << 8 * size) - 1)
            changed[place : place + size] = number.to_bytes(size, "little")
    return bytes(changed)


def _places(data: bytes, mark: bytes) -> list[int]:
    return [place for place in range(len(data)) if data.startswith(mark, place)]


def _csv(rng: random.Random) -> bytes:
    """A table with or without a head, with cells that are no numbers, rows of other lengths."""
    cells = (
        "1",
        "-2.5",
        "1e300",
        "nan",
        "inf",
        "",
        "x",
        '"',
        '"a',
        "1,2",
        "0x10",
        "1_0",
        "9" * 500,
    )
    rows = []
    if rng.random() < 0.5:
        rows.append(",".join(rng.choice((f"x{i}", "y", *NAMES[:8])) for i in range(12)))
    for _ in range(rng.randrange(6)):
        width = rng.choice((12, 12, 12, 13, 0, 1, 500))
        odd = rng.random() < 0.3
        row = [rng.choice(cells) if odd and rng.random() < 0.2 else str(i) for i in range(width)]
        rows.append(",".join(row))
    return rng.choice(("\n", "\r\n", "\r")).join(rows).encode()


def _wav(rng: random.Random) -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(rng.choice((1, 2)))
        file.setsampwidth(rng.choice((1, 2, 3, 4)))
        file.setframerate(rng.choice((1, 8000, 16000)))
        file.writeframes(bytes(rng.randrange(256) for _ in range(rng.choice((0, 7, 24, 48, 960)))))
    return buffer.getvalue()


CAMPAIGN = Campaign(
    summary="damaged npz, npy, csv and wav files of samples, beside numpy's own reader",
    run=run,
    nightly=100_000,
    prepare=prepare,
    units_per_case=_UNITS,
    seconds=120.0,
    memory_bytes=3 << 30,
)
