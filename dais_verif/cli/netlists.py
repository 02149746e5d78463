"""The options by which verbs take a netlist for the RTL."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from dais_verif.cli.common import file_path
from dais_verif.flows.designs import DesignRequest
from dais_verif.synthesis.netlist import find_netlist
from dais_verif.synthesis.targets import NETLISTS

__all__ = ["netlist_options", "target_option"]


def target_option(*, help: str, targets: Iterable[str], **more: Any) -> Callable[[Any], Any]:
    """``--target``, one of ``targets``."""
    return click.option("--target", type=click.Choice(tuple(targets)), help=help, **more)


def netlist_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds ``--netlist`` and ``--target``; they become part of the command's ``dut``."""

    @wraps(command)
    def with_options(
        *arguments: Any, dut: DesignRequest, netlist: Path | None, target: str | None, **given: Any
    ) -> Any:
        if netlist is None and target is not None:
            raise click.UsageError("--target says what cells a netlist is made of; name it with --netlist.")
        if netlist is not None and (dut.rtl or dut.wrapped):
            other = "--rtl" if dut.rtl else "--wrapped"
            raise click.UsageError(f"--netlist and {other} both name what is to be verified; give one of them.")
        if netlist is not None and dut.pipeline:
            raise click.UsageError("--stages makes RTL of ours; a netlist of a pipeline takes --clock instead.")
        found = None if netlist is None else find_netlist(netlist, target)
        return command(*arguments, dut=replace(dut, netlist=found), **given)

    for option in (
        target_option(targets=NETLISTS, help="Cells of the netlist; a folder of synth knows them."),
        click.option("--netlist", type=file_path, help="Verify this netlist: a folder of synth, or a Verilog file."),
    ):
        with_options = option(with_options)
    return with_options
