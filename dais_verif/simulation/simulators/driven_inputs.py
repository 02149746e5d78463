"""Refuse RTL that drives its own inputs: a bench overrides such a driver, but hardware does not.

In Icarus the compiled design lists the drivers of each net. Verilator refuses such RTL itself, unless the RTL switches
that error off.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from dais_verif.errors import SimulatorFailure

__all__ = ["refuse_in_icarus", "refuse_unchecked_in_verilator"]

#: A root module, one of its input ports, and a net with its source. The source of a net without drivers is an open
#: functor, whose label begins with ``o``. A net at a switch (``tran``) has another label, even with 0 drivers.
_ROOT = re.compile(r'S_\w+ \.scope module, "(.*)" "(?:.*)" \d+ \d+;$')
_INPUT = re.compile(r'    \.port_info \d+ /INPUT \d+ "(.*)"')
_NET = re.compile(r'v\w+ \.net\S* "(.*)", -?\d+ -?\d+, (\S+); +(\d+) drivers')

#: Later versions of Verilator accept several codes, separated by commas.
_UNCHECKED = re.compile(rb"verilator\s+lint_off[\w\s,]*?\bASSIGNIN\b|`\s*verilator_config", re.IGNORECASE)


def refuse_in_icarus(compiled: Path, top: str, own: frozenset[str] = frozenset()) -> None:
    """Raise ``ToolError`` if the design drives an input of its top module.

    ``compiled``: the design as vvp runs it. ``own``: top modules that are not the user's.
    """
    with compiled.open(encoding="utf-8", errors="surrogateescape") as lines:
        inputs: set[str] | None = None
        for line in lines:
            if line.startswith("S_"):
                if inputs is not None:
                    break
                root = _ROOT.match(line)
                inputs = set() if root is not None and root[1] not in own else None
            elif inputs is not None:
                port, net = _INPUT.match(line), _NET.match(line)
                if port is not None:
                    inputs.add(port[1])
                elif net is not None and net[1] in inputs:
                    if not net[2].startswith("o") or int(net[3]):
                        raise SimulatorFailure(_told(net[1]))
                    inputs.discard(net[1])
    if inputs is None or inputs:
        what = f"of input {min(inputs)!r}" if inputs else f"of the inputs of {top!r}"
        raise SimulatorFailure(
            f"iverilog's output does not show which drivers {what} are within the design: update dais-verif"
        )


def refuse_unchecked_in_verilator(texts: Iterable[bytes]) -> None:
    """Raise ``ToolError`` if one of ``texts`` keeps Verilator from saying that the RTL drives its own input."""
    for text in texts:
        found = _UNCHECKED.search(text)
        if found is not None:
            line = text.count(b"\n", 0, found.start()) + 1
            words = " ".join(found[0].decode(errors="replace").split())
            raise SimulatorFailure(
                f"line {line} of the RTL, {words!r}, lets Verilator accept a driver of an input within the design: a "
                "bench would override that driver, hardware would not; remove that line"
            )


def _told(port: str) -> str:
    return (
        f"input {port!r} is driven within the design: a bench would override that driver, hardware would not; "
        "drive outputs only"
    )
