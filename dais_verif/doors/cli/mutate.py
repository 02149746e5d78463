"""``dais-verif mutate``: how good is a verification? Mutants of the RTL, and which judges kill them."""

from __future__ import annotations

from typing import Any

import click

from dais_verif.doors.cli import common
from dais_verif.doors.cli.grouped import GroupedCommand
from dais_verif.doors.cli.options.design import design_options
from dais_verif.doors.cli.terminal import TerminalProgress
from dais_verif.doors.cli.verb import FiniteRange
from dais_verif.report.campaigns_text import print_mutation
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.mutation.mutate import mutate as run_mutate
from dais_verif.verbs.mutation.requests import DEFAULT_FOLDER, JUDGES, MUTATION_SIMULATORS, MutationRequest
from dais_verif.verbs.recognition import Sort


@click.command(cls=GroupedCommand)
@common.program_argument
@common.layout_option
@design_options(Sort.NETLIST)
@click.option("--count", type=click.IntRange(1), default=200, show_default=True, help="Mutants.")
@click.option("--judge", "judges", type=click.Choice(JUDGES), multiple=True, help="[default: sim and prove]")
@common.vectors_option(1000)
@common.seed_option
@common.inputs_option
@common.unchecked_option
@click.option("--sim", "simulator", type=click.Choice(MUTATION_SIMULATORS), default="verilator", show_default=True)
@click.option(
    "--timeout",
    type=common.seconds,
    default=2.0,
    show_default=True,
    help="Minimum CPU time limit per proof, in seconds.",
)
@click.option(
    "--floor",
    type=FiniteRange(0, 100),
    default=95.0,
    show_default=True,
    help="The lowest accepted score, in percent; 0: any.",
)
@click.option("--most-unknown", type=FiniteRange(0, 100), help="Largest accepted share of unknown mutants, in percent.")
@click.option("--expected", type=common.file_path, help="TOML file that says which judge must kill which mutants.")
@click.option("--add-vectors", type=common.output_path, help="Write the vectors that kill further mutants, as CSV.")
@common.jobs_option
@click.option("-o", "--output", type=common.file_path, default=DEFAULT_FOLDER, show_default=True, help="Folder kept.")
@common.json_option
def mutate(dut: DesignRequest, as_json: bool, **asked: Any) -> int:
    """Change the RTL of PROGRAM in many places, one at a time: is each change detected (docs/mutation.md)?

    \b
    dais-verif mutate prog.bin --count 1000 -o mutation          emitted RTL
    dais-verif mutate prog.bin --rtl model.v --judge sim         your RTL, by simulation only
    dais-verif mutate prog.bin --add-vectors more.csv            vectors that kill mutants which random ones miss
    dais-verif mutate m.mach                                     the RTL of a machine, from power-up

    Exit code 0 if all mutants were judged and --floor, --most-unknown and --expected are met, 7 if not, 8 if a mutant
    was proved although a simulator shows that it differs from the program.
    """
    record = run_mutate(MutationRequest(design=dut, **asked, command=common.reproduce()), progress=TerminalProgress())
    return common.show_record(record, as_json, lambda: print_mutation(record, common.console()))
