"""``dais-verif cache``: what earlier runs left on this machine so that later ones need not build it again."""

from __future__ import annotations

import json
import time
from pathlib import Path

import click
from rich.table import Table

from dais_verif.cache_folder import proof_store
from dais_verif.cli.common import console, json_option
from dais_verif.temporary import remove_abandoned
from dais_verif.toolchain import build_cache as builds
from dais_verif.toolchain import tools, verilator_runtime

__all__ = ["cache"]

_MEGABYTE = 1_000_000


@click.group(invoke_without_command=True)
@click.pass_context
@json_option
def cache(context: click.Context, as_json: bool) -> int:
    """Show the simulations and proofs that are kept, or remove them.

    \b
    dais-verif cache             what there is, last used first
    dais-verif cache clear       remove it all; runs that are going on are not disturbed

    DAIS_VERIF_CACHE names the folder, DAIS_VERIF_CACHE_MB limits the builds in it (2000 megabytes; 0: keep none);
    what was not used for longest goes first. A build is taken only if RTL, simulator, compiler and options are
    the same. RTL that includes other files is built each time. A sign-off takes nothing from here.
    """
    if context.invoked_subcommand is not None:
        return 0
    found = builds.entries()
    common = _size(verilator_runtime.home())
    total = sum(entry.bytes for entry in found)
    if as_json:
        tree = {
            "folder": str(tools.cache_dir()),
            "limit_bytes": builds.limit(),
            "runtime_bytes": common,
            "builds_bytes": total,
            "proofs_bytes": _proofs(),
            "builds": [
                {"key": entry.key, "bytes": entry.bytes, "used": entry.used, "facts": entry.facts} for entry in found
            ],
        }
        click.echo(json.dumps(tree, indent=2))
        return 0
    out = console()
    if found:
        table = Table(box=None, pad_edge=False, header_style="dim")
        for name, justify in (("simulator", "left"), ("top", "left"), ("size", "right"), ("last used", "right")):
            table.add_column(name, justify=justify)  # type: ignore[arg-type]
        for entry in found:
            facts = entry.facts
            names = (str(facts.get(name, "?")) for name in ("simulator", "top"))
            table.add_row(*names, _megabytes(entry.bytes), _ago(entry.used))
        out.print(table)
    out.print(f"folder     {tools.cache_dir()}", markup=False)
    out.print(f"builds     {len(found)}, {_megabytes(total)} of at most {_megabytes(builds.limit())}", markup=False)
    out.print(f"proofs     {_megabytes(_proofs())}", markup=False)
    out.print(f"runtime    {_megabytes(common)}, compiled once for this machine", markup=False)
    return 0


@cache.command()
def clear() -> int:
    """Remove every build, every proof, what is compiled once per machine, and what killed runs have left."""
    number, size, proofs, common = len(builds.entries()), builds.clear(), _proofs(), verilator_runtime.clear()
    proof_store().unlink(missing_ok=True)
    more = f", {_megabytes(proofs)} of proofs" if proofs else ""
    more += f", {_megabytes(common)} of Verilator's runtime" if common else ""
    left = remove_abandoned()
    more += f", {left} temporary folders of runs that were killed" if left else ""
    console().print(f"removed {number} builds, {_megabytes(size)}{more}", markup=False)
    return 0


def _proofs() -> int:
    store = proof_store()
    return store.stat().st_size if store.is_file() else 0


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _megabytes(size: int) -> str:
    return f"{size / _MEGABYTE:.1f} MB"


def _ago(when: float) -> str:
    seconds = max(time.time() - when, 0.0)
    for unit, length in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit} ago"
    return f"{seconds:.0f} s ago"
