"""``dais-verif report``: records as one HTML page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dais_verif.cli.common import console, file_path, json_option, layout_option, notices, page_path
from dais_verif.cli.verb import Verb
from dais_verif.errors import DaisError, InputError
from dais_verif.program import LAYOUTS, Program, load

if TYPE_CHECKING:
    from dais_verif.record.program import ProgramInfo
    from dais_verif.report.html import Source


@click.command(cls=Verb)
@click.argument("records", type=file_path, nargs=-1, required=True)
@click.option(
    "-o", "--output", type=page_path, default=Path("report.html"), show_default=True, help="The page to write."
)
@click.option("--program", type=file_path, help="The program to show. Default: where the records say that it was.")
@layout_option
@click.option("--history", type=file_path, multiple=True, help="Folder with earlier runs; may be repeated.")
@click.option("--exit-code", is_flag=True, help="Exit with the code of the verdict that the page shows.")
@json_option
def report(
    records: tuple[Path, ...],
    output: Path,
    program: Path | None,
    layout: str | None,
    history: tuple[Path, ...],
    exit_code: bool,
    as_json: bool,
) -> int:
    """Render RECORDS, which -o kept, as one HTML page that needs no network.

    RECORDS are result.json (of sim, hil, prove), signoff.json or regression.json, or folders that hold one. Several
    records of one program make one page, with the best evidence for each output; a regression has its own.

    \b
    dais-verif sim prog.bin -o run                      keeps run/result.json
    dais-verif report run                               writes report.html
    dais-verif report run proof -o prog.html            a simulation and a proof together
    dais-verif report run --history nightly             with earlier runs found in the folder nightly
    dais-verif report run --program prog.bin            if the program is not where it was
    dais-verif report regression.json                   the jobs of a regression

    Exit codes: 0 if the page was written, whatever it says; 2 if a record cannot be used. With --exit-code that of
    the verdict.
    """
    from dais_verif.report.html import write_report
    from dais_verif.report.html.sources import program_of, read_source, records_below

    sources = list(map(read_source, dict.fromkeys(records)))
    info = program_of(sources[0].document)
    if info is None and (program is not None or history):
        raise InputError("a regression is of many programs: --program and --history are for records of one")
    shown = None if info is None else _program(info, program, layout)
    earlier: list[Source] = []
    if info is not None and history:
        with notices().status("looking for earlier runs"):
            earlier = records_below(history, info.hash)
    with notices().status("writing the page"):
        verdict, message, word = write_report(sources, shown, output, earlier)
    if as_json:
        tree = {"page": str(output), "verdict": verdict.value, "exit_code": verdict.exit_code, "message": message}
        click.echo(json.dumps(tree, indent=2))
    else:
        console().print(f"{word}  {message}", markup=False)
        console().print(f"page       {output}", markup=False)
    return verdict.exit_code if exit_code else 0


def _program(info: ProgramInfo, path: Path | None, layout: str | None) -> Program | None:
    """The program to show: the one that is named, which must be right, or else where the record says, if it is."""
    known = layout or (info.layout if info.layout in LAYOUTS else None)
    if path is not None:
        return load(path, layout=layout)
    if info.path is None:
        return None
    try:
        program = load(info.path, layout=None if info.path.endswith(".dais") else known)
    except DaisError as error:
        _warn(str(error))
        return None
    if program.hash != info.hash:
        _warn(f"{info.path!r} is no longer the program that was verified")
        return None
    return program


def _warn(reason: str) -> None:
    notices().print(f"warning: the page does not show the ops: {reason}; give the program with --program", markup=False)
