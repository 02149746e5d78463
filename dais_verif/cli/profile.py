"""``dais-verif profile``: where the golden model's time goes."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import click

from dais_verif.cli.common import (
    inputs_option,
    json_option,
    layout_option,
    load_program,
    notices,
    output_path,
    program_argument,
    reproduce,
    seed_option,
    vectors_option,
)
from dais_verif.cli.verb import Verb
from dais_verif.files import write_atomically
from dais_verif.flows.vectors import batch_of
from dais_verif.golden.vm import (
    ENGINES,
    Profile,
    accept_instructions,
    benchmark_accept_instructions,
    compile_forward_and_backward,
)
from dais_verif.record.base import SCHEMA
from dais_verif.record.program import ProgramInfo
from dais_verif.verdict import Verdict


@click.command(cls=Verb)
@program_argument
@layout_option
@inputs_option
@vectors_option(2048)
@seed_option
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="auto",
    show_default=True,
    help="Engine to time.",
)
@click.option("--samples", type=click.IntRange(1), default=10, show_default=True, help="Calls to take the mean of.")
@click.option("--ignore-first", is_flag=True, help="Do not count the first call.")
@click.option("--top-k", type=click.IntRange(1), default=10, show_default=True, help="Kinds of instruction to list.")
@click.option("--pullback", is_flag=True, help="Time the pullback too.")
@click.option("-o", "--output", type=output_path, help="File to write; stdout if not given.")
@json_option
def profile(
    program: Path,
    layout: str | None,
    inputs: tuple[Path, ...],
    vectors: int,
    seed: int,
    engine: str,
    samples: int,
    ignore_first: bool,
    top_k: int,
    pullback: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    """Time PROGRAM on the golden model an instruction at a time: in order, then the kinds that take most.

    \b
    dais-verif profile prog.bin
    dais-verif profile prog.bin --samples 100 --ignore-first --top-k 3
    dais-verif profile prog.bin --inputs x.npy --vectors 0 --pullback --json

    An asterisk marks instructions above the average. The fast engine computes most sums inside the op that reads
    them and renames bits for nothing: such instructions take no time of their own. The numpy engine runs every
    instruction as it is listed.
    """
    if ignore_first and samples == 1:
        raise click.UsageError("--ignore-first with --samples 1 leaves nothing to measure; use --samples 2 or more.")
    loaded, _ = load_program(program, layout)
    batch = batch_of([loaded], inputs, vectors, seed)
    compiled = compile_forward_and_backward(loaded, need_backward=pullback)
    text, profiles = io.StringIO(), []
    with notices().status("timing"):
        options: dict[str, Any] = {"n_sample": samples, "ignore_first_call": ignore_first, "top_k": top_k}
        profiles.append(benchmark_accept_instructions(compiled.forward, stream=text, x=batch, engine=engine, **options))
        if compiled.backward is not None:
            accept_instructions(compiled.forward, batch, opt_level=3)
            text.write("\n")
            profiles.append(benchmark_accept_instructions(compiled.backward, stream=text, **options))
    facts = {
        "schema": SCHEMA,
        "verdict": Verdict.PASS.value,
        "exit_code": 0,
        "program": ProgramInfo.of(loaded).__dict__,
        "seed": seed,
        "vectors": batch.rows,
        "reproduce": reproduce(),
        "sequences": [_facts(each, top_k) for each in profiles],
    }
    answer = json.dumps(facts, indent=2) + "\n" if as_json else text.getvalue()
    if output is not None:
        write_atomically(output, answer.encode())
    else:
        click.echo(answer, nl=False)


def _facts(timed: Profile, top_k: int) -> dict[str, Any]:
    rows = zip(timed.iseq, timed.ns.tolist(), timed.above_average.tolist(), strict=True)
    return {
        "direction": timed.iseq.direction,
        "engine": timed.engine,
        "calls": timed.calls,
        "total_ns": timed.total,
        "instructions": [
            {"position": row.position, "instruction": row.op, "op": row.node, "ns": ns, "above_average": above}
            for row, ns, above in rows
        ],
        "kinds": [
            {
                "kind": kind.name,
                "count": kind.size,
                "ns": kind.ns,
                "share": kind.ns / timed.total if timed.total else None,
            }
            for kind in timed.kinds(top_k)
        ],
    }
