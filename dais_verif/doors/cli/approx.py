"""``dais-verif approx``: show, convert, apply, measure and search approximation configurations of HPVM."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dais_verif.doors.cli import common
from dais_verif.doors.cli.declared import requested
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.doors.cli.verb import Verb
from dais_verif.report.approximation_text import print_applied, print_configurations, print_measured, print_tuned
from dais_verif.verbs.approximation.apply import ApplyRequest, apply_configuration
from dais_verif.verbs.approximation.convert import ConvertConfigurationsRequest, convert_configurations
from dais_verif.verbs.approximation.measure import MeasureRequest, measure_configurations
from dais_verif.verbs.approximation.show import ShowConfigurationsRequest, show_configurations
from dais_verif.verbs.approximation.tune import TuneRequest, tune_configurations

__all__ = ["approx"]

_configurations = click.argument("configurations", type=common.file_path)
_network = click.argument("network", type=common.file_path)


def _write_page(record: Any, html: Path | None) -> None:
    if html is not None:
        from dais_verif.report.html.configurations import write_page

        write_page(record, html)
        common.tell_written(html, "the configurations as a page")


@click.group()
def approx() -> None:
    """Show, convert, apply, measure and search approximation configurations, in the format of HPVM's tuner.

    \b
    dais-verif approx show confs.txt --pareto          configurations that HPVM's runtime keeps
    dais-verif approx show confs.txt --config conf7    one, node by node
    dais-verif approx convert confs.txt -o out.txt     in the format of the tuner's files
    dais-verif approx apply net.onnx confs.txt --config conf7 -o quick     the network under conf7, as a program
    dais-verif approx apply net.onnx confs.txt --select conf1,conf7 --form memory -o folded     a machine for both
    dais-verif approx measure net.onnx confs.txt --data d.npz --budget 1.0     accuracy and loss of each
    dais-verif approx tune net.onnx --data d.npz --budget 1.0 -o confs.txt     search for good ones
    """


@approx.command(cls=Verb)
@_configurations
@requested(ShowConfigurationsRequest)
@click.option("--html", type=common.page_path, help="Also write them as an HTML page, with a plot.")
@common.json_option
def show(request: ShowConfigurationsRequest, as_json: bool, html: Path | None) -> None:
    """List CONFIGURATIONS: the gain and cost of each, and the knob of each node.

    \b
    speed-up, energy    ratios to the first configuration, as predicted by the tuner
    loss                accuracy of the first, minus the accuracy of this one
    curve               whether HPVM's runtime keeps it: no other one with as small a loss is as fast
    half                ops that compute in half precision, of all ops
    node:knob           convolutions that skip computation; the meaning of each knob is listed below
    """
    record = show_configurations(request, progress=TerminalProgress())
    _write_page(record, html)
    nodes = request.config is not None
    click.echo(record.to_json()) if as_json else print_configurations(record, common.console(), nodes=nodes)


@approx.command(cls=Verb)
@_network
@_configurations
@requested(ApplyRequest)
@common.json_option
def apply(request: ApplyRequest, as_json: bool) -> None:
    """Apply one of CONFIGURATIONS to NETWORK, and write the result as program.bin, a program for any verb.

    With --form memory the result is a machine with memories, for --config, or for all configurations in --select;
    `run`, `sim`, `prove`, `synth` and `signoff` accept the folder.
    """
    record = apply_configuration(request, progress=TerminalProgress())
    click.echo(record.to_json()) if as_json else print_applied(record, common.console())


@approx.command(cls=Verb)
@_network
@_configurations
@requested(MeasureRequest)
@click.option("--html", type=common.page_path, help="Also write them as an HTML page, with plots.")
@common.json_option
def measure(request: MeasureRequest, as_json: bool, html: Path | None) -> int:
    """Measure CONFIGURATIONS of NETWORK on labelled samples: accuracy, loss and estimated speed.

    \b
    dais-verif approx measure net.onnx confs.txt --data d.npz                      all of them, as a table
    dais-verif approx measure net.onnx confs.txt --data d.npz --budget 1.0         also the fastest with this loss
    dais-verif approx measure net.onnx confs.txt --data d.npz --target ice40       also cells, with Yosys
    dais-verif approx measure net.onnx confs.txt --data d.npz -o out --html m.html

    d.npz holds one array of samples per input of the network, under its name, and the classes as `label`. Every
    configuration is applied as by `approx apply`, and the golden model computes its exact outputs for all samples.
    The table has accuracy and loss, the speed-up that the tuner's model predicts, ops and multiply-adds, and bounds on
    the error for any input. Configurations that do not fit the network are named and left out.

    Exit code 7 if no configuration is within --budget.
    """
    record = measure_configurations(request, progress=TerminalProgress())
    _write_page(record, html)
    click.echo(record.to_json()) if as_json else print_measured(record, common.console())
    return record.verdict.exit_code


@approx.command(cls=Verb)
@_network
@requested(TuneRequest)
@common.json_option
def tune(request: TuneRequest, as_json: bool) -> None:
    """Search for configurations of NETWORK that lose at most --budget percent of accuracy; write the fastest ones.

    \b
    dais-verif approx tune net.onnx --data d.npz --budget 1.0 -o confs.txt
    dais-verif approx tune net.onnx --data d.npz --budget 1.0 -o confs.txt --tries 1000 --resume
    dais-verif approx tune net.onnx --data d.npz --budget 1.0 -o confs.txt --cluster local:4

    d.npz holds one array of samples per input of the network, under its name, and the classes as `label`. Each
    knob of each layer is measured alone first; then combinations that should fit the budget, the fastest first; then
    the best ones with a knob or two changed. The file has the baseline, the configurations on the curve of
    loss and speed-up, and the chosen one. `approx apply` applies one to the network; before you trust them, measure
    them on other samples with `approx measure`.

    The same samples and seed give the same file. All measurements are kept in OUTPUT.tried.json, for --resume.
    """
    record = tune_configurations(request, progress=TerminalProgress())
    click.echo(record.to_json()) if as_json else print_tuned(record, common.console())


@approx.command(cls=Verb)
@_configurations
@requested(ConvertConfigurationsRequest)
@common.json_option
def convert(request: ConvertConfigurationsRequest, as_json: bool) -> None:
    """Write CONFIGURATIONS in the format of the tuner's files: a baseline, each knob with its name.

    A file in this format is copied byte for byte; numbers keep their digits.
    """
    record = convert_configurations(request, progress=TerminalProgress())
    click.echo(record.to_json()) if as_json else common.tell_written(request.output, record.message)
