"""``dais-verif approx``: show, convert, apply, measure and search approximation configurations of HPVM."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dais_verif.doors.cli import common
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.doors.cli.verb import Verb
from dais_verif.report.approximation_text import print_applied, print_configurations, print_measured, print_tuned
from dais_verif.verbs.approximation.apply import ApplyRequest, apply_configuration
from dais_verif.verbs.approximation.convert import ConvertConfigurationsRequest, convert_configurations
from dais_verif.verbs.approximation.measure import MeasureRequest, measure_configurations
from dais_verif.verbs.approximation.show import ShowConfigurationsRequest, show_configurations
from dais_verif.verbs.synthesize import TARGETS

__all__ = ["approx"]

_configurations = click.argument("configurations", type=common.file_path)
_network = click.argument("network", type=common.file_path)
_data = click.option(
    "--data", type=common.file_path, required=True, help="Samples (.npz): one array per input, and label."
)
_grid = click.option(
    "--grid", type=int, help="Fractional bits of weights that a knob multiplies by 4/3.  [default: 2 more]"
)
_strict = click.option(
    "--strict", is_flag=True, help="Also refuse questionable entries, such as fp16 with the number of fp32."
)
_knobs = click.option(
    "--knobs", type=common.file_path, help="Table of knobs (global_knobs.txt) instead of the built-in one."
)


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
@click.option("--config", metavar="NAME", help="Only this configuration, node by node.")
@click.option("--pareto", is_flag=True, help="Only configurations on the curve that HPVM's runtime keeps.")
@_strict
@_knobs
@common.json_option
@click.option("--html", type=common.page_path, help="Also write them as an HTML page, with a plot.")
def show(as_json: bool, html: Path | None, **asked: Any) -> None:
    """List CONFIGURATIONS: the gain and cost of each, and the knob of each node.

    \b
    speed-up, energy    ratios to the first configuration, as predicted by the tuner
    loss                accuracy of the first, minus the accuracy of this one
    curve               whether HPVM's runtime keeps it: no other one with as small a loss is as fast
    half                ops that compute in half precision, of all ops
    node:knob           convolutions that skip computation; the meaning of each knob is listed below
    """
    record = show_configurations(
        ShowConfigurationsRequest(**asked, command=common.reproduce()), progress=TerminalProgress()
    )
    _write_page(record, html)
    nodes = asked["config"] is not None
    click.echo(record.to_json()) if as_json else print_configurations(record, common.console(), nodes=nodes)


@approx.command(cls=Verb)
@_network
@_configurations
@click.option("--config", metavar="NAME", help="The configuration to apply.  [default: the first]")
@click.option(
    "--select",
    metavar="NAMES",
    help="Configurations to apply, separated by commas: one machine, with an input that selects one.",
)
@common.form_option
@common.parallel_option
@common.at_once_option
@click.option(
    "-o",
    "--output",
    required=True,
    type=common.output_folder,
    help="Output folder; that of an earlier call is replaced.",
)
@_grid
@_knobs
@common.json_option
def apply(as_json: bool, **asked: Any) -> None:
    """Apply one of CONFIGURATIONS to NETWORK, and write the result as program.bin, a program for any verb.

    With --form memory the result is a machine with memories, for --config, or for all configurations in --select;
    `run`, `sim`, `prove`, `synth` and `signoff` accept the folder.
    """
    record = apply_configuration(ApplyRequest(**asked, command=common.reproduce()), progress=TerminalProgress())
    click.echo(record.to_json()) if as_json else print_applied(record, common.console())


@approx.command(cls=Verb)
@_network
@_configurations
@_data
@click.option(
    "--budget", metavar="PERCENT", help="Choose the fastest with at most this loss; exit code 7 if there is none."
)
@click.option(
    "-o", "--output", type=common.output_folder, help="Folder for measured.txt: the file with measured columns."
)
@click.option("--bound", is_flag=True, help="Tighten bounds: search for large differences, then ask the solver.")
@click.option(
    "--timeout", type=float, default=10.0, show_default=True, help="Solver time limit for each output, in seconds."
)
@click.option(
    "--target",
    type=click.Choice(list(TARGETS)),
    help="Also synthesize each configuration for this target: cells and depth.",
)
@common.form_option
@common.parallel_option
@click.option("--html", type=common.page_path, help="Also write them as an HTML page, with plots.")
@_grid
@_knobs
@common.jobs_option
@common.json_option
def measure(as_json: bool, html: Path | None, **asked: Any) -> int:
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
    record = measure_configurations(MeasureRequest(**asked, command=common.reproduce()), progress=TerminalProgress())
    _write_page(record, html)
    click.echo(record.to_json()) if as_json else print_measured(record, common.console())
    return record.verdict.exit_code


@approx.command(cls=Verb)
@_network
@_data
@click.option("--budget", metavar="PERCENT", required=True, help="The largest loss that is allowed.")
@click.option("-o", "--output", type=common.output_path, required=True, help="The file of configurations to write.")
@click.option("--tries", type=int, default=200, show_default=True, help="Largest number of configurations to measure.")
@click.option("--half", is_flag=True, help="Also let convolutions compute in half precision.")
@click.option("--resume", is_flag=True, help="Continue an earlier search from its measurements: OUTPUT.tried.json.")
@click.option("--random", is_flag=True, help="Draw configurations at random instead, as a baseline for the search.")
@click.option("--cluster", help="Measure on Dask: local[:N], tls://host:port of a scheduler, slurm[:N] or lsf[:N].")
@common.seed_option
@_grid
@common.jobs_option
@common.json_option
def tune(as_json: bool, **asked: Any) -> None:
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
    from dais_verif.verbs.approximation.tune import TuneRequest, tune_configurations

    record = tune_configurations(TuneRequest(**asked, command=common.reproduce()), progress=TerminalProgress())
    click.echo(record.to_json()) if as_json else print_tuned(record, common.console())


@approx.command(cls=Verb)
@_configurations
@click.option("-o", "--output", type=common.output_path, required=True, help="The file to write.")
@_strict
@_knobs
@common.json_option
def convert(as_json: bool, output: Path, **asked: Any) -> None:
    """Write CONFIGURATIONS in the format of the tuner's files: a baseline, each knob with its name.

    A file in this format is copied byte for byte; numbers keep their digits.
    """
    request = ConvertConfigurationsRequest(output=output, **asked, command=common.reproduce())
    record = convert_configurations(request, progress=TerminalProgress())
    click.echo(record.to_json()) if as_json else common.tell_written(output, record.message)
