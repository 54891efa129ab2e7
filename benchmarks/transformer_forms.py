"""The operators of integer transformers beside the same in floating point and in 64-bit integers.

    python benchmarks/transformer_forms.py             # all cores
    python benchmarks/transformer_forms.py m0plus m4

The C sources are in reference_forms/: edgec's are the functions of its runtime, the others are
written for this comparison as plainly as their definitions allow.  All are compiled alike (-O2),
run in the emulator and compared with float64 first.  Numbers are cycles with memory that never
waits, on a53 instructions.  m4f and m7f have a floating-point unit for the float forms; on the
others these call the functions of the C library and of the compiler.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from bare_code import TARGETS, BareProgram, Target
from form_data import (
    KEYS,
    WIDTH,
    Call,
    Form,
    attention_rows,
    gelu_forms,
    norm_forms,
    requantize_forms,
    softmax_forms,
    values_forms,
)

from edgec.base.dtypes import Array

SOURCES = Path(__file__).with_name("reference_forms")
DEVIATION = 2.0
"""Of the logits of a row, in natural units."""
_ALIGNMENT = 16
_ATTENTION = "softmax and A*V of a query, 196 keys"
_PRODUCTS = ("edgec", "float", "64-bit")


def forms_of(target: Target) -> list[Form]:
    """Every operator in every arithmetic."""
    rng = np.random.default_rng(5)
    rows = attention_rows(rng, DEVIATION)
    return [
        *requantize_forms(rng),
        *gelu_forms(rng),
        *norm_forms(rng),
        *softmax_forms(rows, target.dsp),
        *values_forms(rows, target.dsp),
    ]


def program_of(target: Target) -> BareProgram:
    """All forms for a core."""
    return BareProgram(sorted(SOURCES.glob("*.c")), target)


def run(program: BareProgram, call: Call) -> Array:
    """The result of a call; `program.cost()` is then what it took."""
    address = program.buffers
    places = []
    for argument in call.arguments:
        if isinstance(argument, int):
            places.append(argument)
            continue
        program.write(address, argument.tobytes())
        places.append(address)
        address += -(-argument.nbytes // _ALIGNMENT) * _ALIGNMENT
    program.call(call.function, *places)
    output = call.arguments[call.output]
    assert not isinstance(output, int)
    data = program.read(places[call.output], output.nbytes)
    return np.frombuffer(data, output.dtype).reshape(output.shape)


def error_of(form: Form, result: Array) -> float:
    """Largest difference to float64."""
    return float(np.abs(form.real(result) - form.wanted).max())


def measured(target: Target) -> dict[str, dict[str, float]]:
    """Cycles (instructions) an element: operator, form, number.

    Raises:
        AssertionError: a result is not what it should be.
    """
    program = program_of(target)
    table: dict[str, dict[str, float]] = {}
    for form in forms_of(target):
        error = error_of(form, run(program, form.call))
        if error > form.tolerance:
            raise AssertionError(f"{target}, {form.operator}, {form.name}: off by {error:.3g}")
        table.setdefault(form.operator, {})[form.name] = program.cost() / form.elements
    softmax, values = (
        next(row for name, row in table.items() if name.startswith(start))
        for start in ("softmax", "A*V")
    )
    table[_ATTENTION] = {
        name: KEYS * (_named(softmax, name) + WIDTH * _named(values, name)) for name in _PRODUCTS
    }
    return table


def _named(row: Mapping[str, float], name: str) -> float:
    """The form of that name, or whose name begins so."""
    return next(value for form, value in row.items() if form.split(" (")[0] == name)


def show(core: str) -> None:
    """A Markdown table of a core."""
    table = measured(TARGETS[core])
    unit = "instructions" if TARGETS[core].is_a64 else "cycles"
    print(f"\n| {core}, {unit} | edgec | float | 64-bit | float / edgec | 64-bit / edgec |")
    print("|---|---|---|---|---|---|")
    for operator, row in table.items():
        ours, single, wide = (_named(row, name) for name in _PRODUCTS)
        print(
            f"| {operator} | {_short(ours)} | {_short(single)} | {_short(wide)} "
            f"| {single / ours:.1f} | {wide / ours:.1f} |"
        )


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cores", nargs="*", default=list(TARGETS), help=f"of {', '.join(TARGETS)}")
    args = parser.parse_args()
    for core in args.cores:
        show(core)


if __name__ == "__main__":
    main()
