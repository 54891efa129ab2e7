"""Parts of the DFT of a real frame, as `sound/spectrum.h` computes it."""

from __future__ import annotations

from dataclasses import dataclass

from edgec.ir.qops.dft import numbers_of, quarter_points, radices

_BIN_BYTES = 8


@dataclass(frozen=True, slots=True)
class Transform:
    """The DFT of a frame, as `kernels/common/_transform.c.j2` writes it.

    Attributes:
        points: how many real numbers the DFT is of.
        width: samples of a frame, the others are zeros.
    """

    points: int
    width: int

    @property
    def scratch_bytes(self) -> int:
        """Memory of the transform, and of its bins in the same place."""
        return _BIN_BYTES * max(numbers_of(self.points), self.points // 2 + 1)

    @property
    def radices(self) -> tuple[int, ...]:
        """The radices of the stages, first to last."""
        return radices(self.points)

    @property
    def twos(self) -> int:
        """Number of the stages of radix 2, the first ones."""
        return self.radices.count(2)

    @property
    def quarter(self) -> int:
        """A quarter of the points of the sine that waves are taken from."""
        return quarter_points(self.points)


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
