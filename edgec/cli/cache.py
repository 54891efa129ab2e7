"""The command `edgec cache`."""

from __future__ import annotations

from typing import Annotated

import typer

from edgec.cli.options import Json
from edgec.report import console
from edgec.report.tables import table


def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove all that is kept.")] = False,
    json: Json = False,
) -> None:
    """Show what edgec keeps to give it again: finished builds, and accuracies of weight pools.

    EDGEC_CACHE_DIR names the folder, EDGEC_CACHE_LIMIT the most that they may take (default: 1G; 0:
    none is kept). Those that were used longest ago go first.
    """
    from edgec.base.result_cache import cache_limit_bytes
    from edgec.commands.compile_cached import build_cache

    store, limit = build_cache(), cache_limit_bytes()
    if clear and store is not None:
        store.clear()
    sizes = () if store is None else store.sizes()
    folder = "" if store is None else str(store.folder)
    if json:
        found = {"folder": folder, "results": len(sizes), "bytes": sum(sizes), "limit_bytes": limit}
        console.print_json(found)
        return
    count = console.count
    row = (folder or "none", count(len(sizes)), count(sum(sizes)), count(limit))
    columns = ("folder", ">results", ">bytes", ">at most")
    console.out.print(table("Results that are kept", columns, [row]))
    if sizes:
        console.print_next("edgec", "cache", "--clear")
