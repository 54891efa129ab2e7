"""Kernels of layers that `edgec tune` measured: what a build takes from a tune file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TunedKernels:
    """The fastest kernels, as they were measured on one target.

    Attributes:
        file: name of the file that they come from; "": they are being measured.
        kernels: signature of a layer (`kernels.tuned`) and name of its kernel, each signature once.
    """

    file: str
    kernels: tuple[tuple[str, str], ...]

    def kernel_of(self, signature: str) -> str | None:
        """Name of the kernel of a layer; None: it was not measured."""
        return next((name for layer, name in self.kernels if layer == signature), None)
