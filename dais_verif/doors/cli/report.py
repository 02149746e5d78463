"""``dais-verif report``: records as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dais_verif.doors.cli.common import console, file_path, json_option, layout_option, page_path
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.doors.cli.verb import Verb
from dais_verif.record.page import WrittenPage
from dais_verif.report.html.stored import ReportRequest, render_report


@click.command(cls=Verb)
@click.argument("records", type=file_path, nargs=-1, required=True)
@click.option("-o", "--output", type=page_path, default=Path("report.html"), show_default=True, help="Page to write.")
@click.option("--program", type=file_path, help="The program to show. Default: the path stored in the records.")
@layout_option
@click.option("--history", type=file_path, multiple=True, help="Folder with earlier runs; may be repeated.")
@click.option("--exit-code", is_flag=True, help="Exit with the code of the verdict that the page shows.")
@json_option
def report(exit_code: bool, as_json: bool, **asked: Any) -> int:
    """Render RECORDS, which -o kept, as one HTML page that works offline.

    RECORDS are result.json (of sim, hil, prove), coverage.json, signoff.json or regression.json, or folders that hold
    one. Several records of one program make one page, with the best evidence for each output; a regression has its own.

    \b
    dais-verif sim prog.bin -o run                      keeps run/result.json
    dais-verif report run                               writes report.html
    dais-verif report run proof -o prog.html            a simulation and a proof together
    dais-verif report run --history nightly             with earlier runs found in the folder nightly
    dais-verif report run --program prog.bin            if the program was moved
    dais-verif report regression.json                   the jobs of a regression

    Exit code 0 if the page was written, whatever the verdict; 2 if a record cannot be used. With --exit-code, that of
    the verdict.
    """
    verdict, message, word = render_report(ReportRequest(**asked), progress=TerminalProgress())
    if as_json:
        code, path = verdict.exit_code, str(asked["output"])
        click.echo(WrittenPage(page=path, verdict=verdict, exit_code=code, message=message).to_json())
    else:
        console().print(f"{word}  {message}", markup=False)
        console().print(f"page       {asked['output']}", markup=False)
    return verdict.exit_code if exit_code else 0
