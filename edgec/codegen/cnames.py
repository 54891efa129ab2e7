"""Untrusted names -> C identifiers.

A model's name is the only one that reaches C: all others (kernels, constants, argument structs) are
made by edgec.  It becomes part of functions, macros and file names, so that libraries of several
models can stand in one program.  No two names meet, because they are told apart by their ends: no
end of a name (`_run`, `_quantize`) ends in another one after an underscore, so that no model's name
completes it, and no name of the runtime has such an end (`tests/unit/codegen/test_names_apart.py`).
Files have a hyphen before their ends, which no name of a model has.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass

_MAX_LENGTH = 40
_HASH_LENGTH = 8
_KEYWORDS_TEXT = (
    "alignas alignof and and_eq asm atomic auto bitand bitor bool break case catch char "
    "class compl concept const constexpr continue decltype default delete do double else "
    "enum explicit export extern false float for friend goto if inline int long main "
    "mutable namespace new noexcept not not_eq nullptr operator or or_eq private "
    "protected public register requires restrict return short signed sizeof static struct "
    "switch template this throw true try typedef typeid typename typeof union unsigned "
    "using virtual void volatile wchar_t while xor xor_eq"
)
_KEYWORDS = frozenset(_KEYWORDS_TEXT.split(" "))
"""Keywords of C and C++, and `main`."""
_DEVICES = frozenset(
    ["aux", "con", "nul", "prn", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))]
)
"""Names that Windows keeps for devices."""


@dataclass(frozen=True, slots=True)
class LibraryNames:
    """Names in the C interface of a model.

    Attributes:
        name: a C identifier in lower case, also safe as a file name.
        header: file name of the header, for #include.
        labels: that of the header with the names of classes.
        weights: that of the source with the constants, and of its header, without `.c` and `.h`.
        symbol: the `edgec_model_t`.
        prefix: what names of functions and variables begin with, e.g. `edgec_digits`.
        macro: what names of macros begin with, e.g. `EDGEC_DIGITS`.
    """

    name: str
    header: str
    labels: str
    weights: str
    symbol: str
    prefix: str
    macro: str

    @classmethod
    def of(cls, name: str) -> LibraryNames:
        """The names for a C identifier."""
        prefix = f"edgec_{name}"
        return cls(
            name=name,
            header=f"{prefix}.h",
            labels=f"{prefix}-labels.h",
            weights=f"{prefix}-weights",
            symbol=f"{prefix}_model",
            prefix=prefix,
            macro=prefix.upper(),
        )

    def constant(self, number: int, stem: str) -> str:
        """The name of constant `number` of the model, which is a `stem`, such as `bias`."""
        return f"{self.prefix}_{number}_{stem}"


def library_names(model_name: str) -> LibraryNames:
    """The names in C of a model, from its untrusted name."""
    return LibraryNames.of(c_identifier(model_name))


def c_identifier(text: str) -> str:
    """A legal C and C++ identifier and file name in lower case, at most 40 characters.

    Letters, digits and single underscores stay; accents are dropped; all else separates.  The same
    text always gives the same name; different texts may give one name.
    """
    plain = unicodedata.normalize("NFKD", text[: 16 * _MAX_LENGTH]).encode("ascii", "ignore")
    name = re.sub(r"[^a-z0-9]+", "_", plain.decode("ascii").lower()).strip("_")
    if not name:
        name = f"model_{_short_hash(text)}" if text else "model"
    if name[0].isdigit() or name in _KEYWORDS or name in _DEVICES:
        name = f"model_{name}"
    if len(name) > _MAX_LENGTH or len(text) > 16 * _MAX_LENGTH:
        kept = name[: _MAX_LENGTH - _HASH_LENGTH - 1].rstrip("_")
        name = f"{kept}_{_short_hash(text)}"
    return name


def _short_hash(text: str) -> str:
    encoded = text.encode("utf-8", "surrogatepass")
    return hashlib.sha256(encoded).hexdigest()[:_HASH_LENGTH]
