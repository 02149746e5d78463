"""Generate the page on supported Verilog from the tables that the reader follows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from dais_verif.prover.slang.kinds import TABLES, TRUSTED
from dais_verif.prover.slang.kinds.decision import How, KindDecision, Table

__all__ = ["page"]

_HEAD = """# Supported Verilog

How `prove` treats each kind of construct that pyslang can find in SystemVerilog: it is **read**, by the rule in the
table; **left out**, because it changes no value; or **refused**, with a message that gives the place. The reader
follows these tables, so nothing else is read, and kinds that a later pyslang adds are refused. Kinds have pyslang's
names; system calls and gates are written as in RTL. [proof.md](../proof.md#supported-systemverilog) has examples.
"""


def page() -> str:
    """Return the page, as Markdown."""
    return "\n".join([_HEAD, *("\n".join([*_section(table), ""]) for table in (*TABLES, TRUSTED))])


def _section(table: Table[Any]) -> Iterator[str]:
    yield f"## {table.title}\n"
    if table.note:
        yield f"{table.note}\n"
    yield "| kind | treatment | rule, or message |"
    yield "| --- | --- | --- |"
    groups: dict[KindDecision, list[str]] = {}
    for kind, decision in table.decisions.items():
        groups.setdefault(decision, []).append(str(getattr(kind, "name", kind)))
    for how in How:
        for decision, names in groups.items():
            if decision.how is how:
                yield f"| {', '.join(f'`{name}`' for name in names)} | {how.value} | {_cell(decision)} |"


def _cell(decision: KindDecision) -> str:
    """Return the text of a decision; in messages, Markdown characters are escaped."""
    text = decision.text if decision.how is not How.REFUSED else re.sub(r"([`*_<>])", r"\\\1", decision.text)
    return text.replace("|", r"\|")
