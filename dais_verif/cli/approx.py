"""``dais-verif approx``: approximation configurations of HPVM, shown and converted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dais_verif.cli.common import console, file_path, json_option, output_path, page_path, reproduce, tell_written
from dais_verif.cli.terminal import TerminalProgress
from dais_verif.cli.verb import Verb
from dais_verif.flows.approximation.convert import ConvertConfigurationsRequest, convert_configurations
from dais_verif.flows.approximation.show import ShowConfigurationsRequest, show_configurations
from dais_verif.report.configurations_text import print_configurations

__all__ = ["approx"]

_configurations = click.argument("configurations", type=file_path)
_strict = click.option("--strict", is_flag=True, help="Refuse what is odd, too, such as fp16 with the number of fp32.")
_knobs = click.option("--knobs", type=file_path, help="A table of knobs (global_knobs.txt), not the one built in.")


@click.group()
def approx() -> None:
    """Show or convert files of approximation configurations, as HPVM's tuner writes them.

    \b
    dais-verif approx show confs.txt --pareto          those that HPVM's runtime keeps
    dais-verif approx show confs.txt --config conf7    one, node by node
    dais-verif approx convert confs.txt -o out.txt     in the form of the tuner's files
    """


@approx.command(cls=Verb)
@_configurations
@click.option("--config", metavar="NAME", help="Only this configuration, node by node.")
@click.option("--pareto", is_flag=True, help="Only those on the curve that HPVM's runtime keeps.")
@_strict
@_knobs
@json_option
@click.option("--html", type=page_path, help="Also write them as an HTML page, with a plot.")
def show(as_json: bool, html: Path | None, **asked: Any) -> None:
    """List CONFIGURATIONS: what each gains and costs, and which knob is where.

    \b
    speed-up, energy    ratios to the first configuration, as the tuner predicts them
    loss                accuracy of the first, less the accuracy of this one
    curve               whether HPVM's runtime keeps it: nothing with as small a loss is as fast
    half                ops that compute in half precision, of all
    node:knob           convolutions that leave something out; what each knob does is listed below
    """
    record = show_configurations(ShowConfigurationsRequest(**asked, command=reproduce()), progress=TerminalProgress())
    if html is not None:
        from dais_verif.report.html.configurations import write_configurations_page

        write_configurations_page(record, html)
        tell_written(html, "the configurations as a page")
    if as_json:
        click.echo(record.to_json())
    else:
        print_configurations(record, console(), nodes=asked["config"] is not None)


@approx.command(cls=Verb)
@_configurations
@click.option("-o", "--output", type=output_path, required=True, help="The file to write.")
@_strict
@_knobs
@json_option
def convert(as_json: bool, output: Path, **asked: Any) -> None:
    """Write CONFIGURATIONS in the form of the tuner's files: a baseline, each knob with its name.

    What is in that form is written byte for byte, and numbers keep their digits.
    """
    request = ConvertConfigurationsRequest(output=output, **asked, command=reproduce())
    record = convert_configurations(request, progress=TerminalProgress())
    if as_json:
        click.echo(record.to_json())
    else:
        tell_written(output, record.message)
