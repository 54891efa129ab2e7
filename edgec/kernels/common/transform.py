"""Parts of the DFT of a real frame, as `sound/spectrum.h` computes it."""

from __future__ import annotations

from edgec.ir.qops.dft import numbers_of, radices


def transform_parts(points: int, *, magnitude: bool) -> dict[str, int]:
    """Counts of a transform: its places, the stages of each kind, and the bins.

    Args:
        points: how many real numbers the DFT is of.
        magnitude: bins are magnitudes, not powers.
    """
    numbers, size = numbers_of(points), 1
    found = dict.fromkeys(
        (
            "place of the transform",
            "stage",
            "wave",
            "butterfly",
            "odd stage",
            "odd wave",
            "odd butterfly",
            "pair of an odd butterfly",
            "product of an odd butterfly",
        ),
        0,
    )
    found["place of the transform"] = numbers
    for radix in radices(points):
        half = radix // 2
        if radix == 2:
            found["stage"] += 1
            found["wave"] += size
            found["butterfly"] += numbers // 2
        else:
            found["odd stage"] += 1
            found["odd wave"] += size * (radix - 1)
            found["odd butterfly"] += numbers // radix
            found["pair of an odd butterfly"] += numbers // radix * half
            found["product of an odd butterfly"] += numbers // radix * half * half
        size *= radix
    pairs = points // 4 if points % 2 == 0 else 0
    found["magnitudes of two bins" if magnitude else "powers of two bins"] = pairs
    if points % 2:
        found["magnitude of a bin" if magnitude else "power of a bin"] = points // 2 + 1
    return found
