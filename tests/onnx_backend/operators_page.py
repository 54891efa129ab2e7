"""`docs/operators.md`, made of the stored verdicts and of the tables of both importers."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping

import tflite
from node_cases import operator_of
from scope import shown_reason
from verdict import CONSTANTS, KINDS, MATCH, OUT_OF_SCOPE, REFUSED, Verdict

from edgec.importers.onnx.registry import supported_operators
from edgec.importers.tflite.registry import HANDLERS as TFLITE_HANDLERS
from edgec.importers.tflite.registry import obstacle as tflite_obstacle

_MOST_REASONS = 2
_GENERATED = re.compile(r"(<!-- tables: begin [^\n]*-->\n).*(?=<!-- tables: end -->)", re.S)


def updated(text: str, verdicts: Mapping[str, Verdict]) -> str:
    """The page with its tables made anew.

    Args:
        text: the page as it is.
        verdicts: of all node tests.
    """
    parts = [_counts(verdicts), _forms(verdicts), _scope(verdicts), _onnx(verdicts), _tflite()]
    tables = "\n".join(parts)
    return _GENERATED.sub(lambda found: f"{found[1]}\n{tables}\n", text)


def _table(head: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines) + "\n"


def _cell(value: object) -> str:
    return re.sub(r"\s+", " ", str(value)).replace("|", "\\|").strip()


def _counts(verdicts: Mapping[str, Verdict]) -> str:
    found = Counter(v.kind for v in verdicts.values())
    rows = [(kind, found[kind]) for kind in KINDS]
    head = (f"of {len(verdicts):,} node tests", "")
    return "\n".join(["## Counts\n", _table(head, rows)])


def _forms(verdicts: Mapping[str, Verdict]) -> str:
    texts = [v.text for v in verdicts.values() if v.kind == MATCH]
    rows: list[tuple[object, ...]] = list(Counter(t.split(";")[0] for t in texts).most_common())
    extra = Counter(
        part.split(":")[0] for text in texts for part in map(str.strip, text.split(";")[1:])
    )
    names = {"constant": "some inputs constant", "first output": "first output only"}
    rows += [(names.get(part, part), count) for part, count in extra.most_common()]
    return "\n".join(["Forms in which tests match:\n", _table(("form", "tests"), rows)])


def _scope(verdicts: Mapping[str, Verdict]) -> str:
    found = Counter(v.text for v in verdicts.values() if v.kind == OUT_OF_SCOPE)
    rows: list[tuple[object, ...]] = list(found.most_common())
    return "\n".join(["Out of scope:\n", _table(("reason", "tests"), rows)])


def _onnx(verdicts: Mapping[str, Verdict]) -> str:
    by_op: dict[str, list[Verdict]] = defaultdict(list)
    for name, verdict in verdicts.items():
        by_op[operator_of(name)].append(verdict)
    supported = {row.op: row.constraints for row in supported_operators()}
    rows = []
    for op in sorted({*by_op, *(name for name in supported if name.isidentifier())}):
        own = by_op.get(op, [])
        count = Counter(v.kind for v in own)
        left = [v for v in own if v.kind in (REFUSED, CONSTANTS, OUT_OF_SCOPE)]
        numbers = tuple(count[kind] or "" for kind in (MATCH, CONSTANTS, REFUSED, OUT_OF_SCOPE))
        rows.append((op, supported.get(op, ""), *numbers, _reasons(left)))
    head = ("operator", "what is supported", *(MATCH, CONSTANTS, REFUSED, OUT_OF_SCOPE))
    text = "## ONNX\n\nOperators without a text in the second column have no form of their own: "
    text += "their tests match by what they are expanded into, or at compile time.\n"
    return "\n".join([text, _table((*head, "why not"), rows)])


def _reasons(verdicts: list[Verdict]) -> str:
    found = Counter(shown_reason(v.text) for v in verdicts)
    most = [text for text, _ in found.most_common(_MOST_REASONS)]
    return "; ".join(most) + ("; ..." if len(found) > _MOST_REASONS else "")


def _tflite() -> str:
    kinds = [n for n in vars(tflite.BuiltinOperator) if n.isupper() and "PLACEHOLDER" not in n]
    missing: dict[str, list[str]] = defaultdict(list)
    for op in sorted(set(kinds) - set(TFLITE_HANDLERS) - {"CUSTOM", "DELEGATE"}):
        missing[tflite_obstacle(op).reason].append(op)
    imported = len(set(kinds) & set(TFLITE_HANDLERS))
    text = (
        f"## TensorFlow Lite\n\n{imported} of {len(kinds)} built-in operators are "
        "imported; [the page of TensorFlow Lite files](tflite.md#operators) says how each. "
        "The others are refused:\n"
    )
    rows: list[tuple[object, ...]] = [
        (reason, len(ops), ", ".join(ops)) for reason, ops in sorted(missing.items())
    ]
    return "\n".join([text, _table(("reason", "operators", ""), rows)])
