"""``dais-verif diff``: do two programs compute the same, and if not, where do they first differ?"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from dais_verif.cli.common import (
    console,
    file_path,
    inputs_option,
    json_option,
    layout_option,
    load_program,
    notices,
    output_path,
    progress,
    reproduce,
    seconds,
    seed_option,
    stimulus,
    unchecked_option,
    vectors_option,
)
from dais_verif.cli.grouped import GroupedCommand
from dais_verif.files import write_atomically
from dais_verif.golden import ENGINES, Engine
from dais_verif.golden.compare import Comparison, Witness, compare, first_different_op, require_same_shape
from dais_verif.golden.oracle import show
from dais_verif.program import LAYOUTS, Program
from dais_verif.program.listing import in_words
from dais_verif.program.numbers import Batch
from dais_verif.report.console import program_line, verdict_text
from dais_verif.report.record import SCHEMA, ProgramInfo
from dais_verif.verdict import Verdict

if TYPE_CHECKING:
    from dais_verif.prove.equivalence import Equivalence


@click.command(cls=GroupedCommand)
@click.argument("a", type=file_path)
@click.argument("b", type=file_path)
@layout_option
@click.option("--layout-b", type=click.Choice(LAYOUTS), help="Layout of B, if it is not that of A.")
@vectors_option(1000)
@seed_option
@inputs_option
@click.option("--engine", type=click.Choice(ENGINES), default="auto", show_default=True, help="Golden engine.")
@unchecked_option
@click.option(
    "--prove", is_flag=True, help="Where no vector shows a difference, prove that no input does, or find one."
)
@click.option(
    "--timeout",
    type=seconds,
    default=20.0,
    show_default=True,
    help="Seconds for each question of a proof.",
)
@click.option("-o", "--output", type=output_path, help="File for the witness, if there is one: .npy, else CSV.")
@json_option
def diff(
    a: Path,
    b: Path,
    layout: str | None,
    layout_b: str | None,
    vectors: int,
    seed: int,
    inputs: tuple[Path, ...],
    engine: Engine,
    unchecked: bool,
    prove: bool,
    timeout: float,
    output: Path | None,
    as_json: bool,
) -> int:
    """Evaluate the programs A and B on the same vectors and compare their outputs as exact real numbers.

    \b
    dais-verif diff a.bin b.bin
    dais-verif diff a.bin b.json --vectors 100000 --seed 7
    dais-verif diff a.bin b.bin --inputs x.npy --vectors 0 -o witness.npy
    dais-verif diff a.bin b.bin --prove

    Both must have as many inputs and outputs; types and ops may differ. Generated vectors hold the corners of the
    input types of both.

    \b
    PASS              no difference on these vectors, which is no proof that there is none
    PROGRAMS_DIFFER   exit code 1; the first vector and output that differ, an input vector that shows it with as
                      many zeros and short numbers as were found, and the first op that differs
    PROGRAM_INVALID   exit code 2; A or B breaks a promise on a vector (--unchecked carries on)
    UNKNOWN           exit code 6; with --prove: neither proved nor refuted, for the outputs that are named

    --prove compares what hardware computes, for all inputs: what breaks a promise is quantised, in A and B alike.
    """
    loaded_a, warnings = load_program(a, layout)
    loaded_b, more = load_program(b, layout_b or layout)
    names = (f"A ({a})", f"B ({b})")
    require_same_shape(loaded_a, loaded_b, names)
    batch = stimulus([loaded_a, loaded_b], inputs, vectors, seed)
    with notices().status(f"{batch.rows} vectors ..."):
        found = compare(loaded_a, loaded_b, batch, engine=engine, check=not unchecked, names=names)
    identical = loaded_a.hash == loaded_b.hash
    verdict, message = _verdict(found, identical)
    proof = None
    if prove and not found.differing:
        proof = _proof(loaded_a, loaded_b, timeout, seed)
        verdict, message = _proved(proof)
        if proof.witness is not None:
            batch = Batch.of([list(proof.witness)], loaded_a.n_in)
            found = compare(loaded_a, loaded_b, batch, engine=engine, check=False, names=names)
            if not found.differing:
                verdict, message = (
                    Verdict.UNKNOWN,
                    "the golden model does not see what the prover does; please report it",
                )
    facts: dict[str, Any] = {
        "schema": SCHEMA,
        "verdict": verdict.value,
        "exit_code": verdict.exit_code,
        "message": message,
        "a": ProgramInfo.of(loaded_a).__dict__,
        "b": ProgramInfo.of(loaded_b).__dict__,
        "identical": identical,
        "first_different_op": _structure(loaded_a, loaded_b),
        "seed": seed,
        "vectors": found.rows,
        "unchecked": unchecked,
        "engine": engine,
        "bits_compared": found.rows * found.bits,
        "differing_vectors": found.differing,
        "difference": _difference(loaded_a, loaded_b, found.witness) if found.witness else None,
        "proof": proof and _facts_of(proof),
        "replay": None,
        "warnings": warnings + more,
        "reproduce": reproduce(),
    }
    if output is not None and found.witness:
        data = _file_of(found.witness.inputs, output)
        if data is not None:
            write_atomically(output, data)
            given = [*(("--layout", layout) if layout else ()), *(("--layout-b", layout_b) if layout_b else ())]
            given += ["--unchecked"] if unchecked else []
            facts["replay"] = reproduce(["diff", str(a), str(b), "--inputs", str(output), "--vectors", "0", *given])
        else:  # no reason to withhold the verdict
            facts["warnings"] += [f"{output} was not written: it could not hold the witness exactly"]
            notices().print(f"warning: {facts['warnings'][-1]}", markup=False)
    if as_json:
        click.echo(json.dumps(facts, indent=2))
    else:
        _print(facts, console())
    return verdict.exit_code


def _verdict(found: Comparison, identical: bool) -> tuple[Verdict, str]:
    if not found.rows * found.bits:
        return Verdict.NOT_RUN, "nothing was compared: " + ("no output has a bit" if found.rows else "no vectors")
    if found.differing:
        return Verdict.PROGRAMS_DIFFER, f"{found.differing} of {found.rows} vectors differ"
    known = "the same program" if identical else "that is no proof that there is none"
    return Verdict.PASS, f"no difference on {found.rows} vectors; {known}"


def _proof(a: Program, b: Program, timeout: float, seed: int) -> Equivalence:
    from dais_verif.prove.equivalence import compare_programs

    with progress("proving ops and outputs equal") as tell:
        return compare_programs(a, b, timeout=timeout, seed=seed, tell=tell)


def _proved(proof: Equivalence) -> tuple[Verdict, str]:
    """What a proof comes to; its witness is still to be looked at."""
    if not proof.equal:
        return Verdict.NOT_RUN, "nothing was compared: the programs have no outputs"
    if proof.witness is not None:
        return Verdict.PROGRAMS_DIFFER, f"output {proof.equal.index(False)} differs; no generated vector shows it"
    if proof.undecided:
        known = f"; {len(proof.proved)} of {len(proof.equal)} are equal for all inputs"
        return Verdict.UNKNOWN, f"undecided: {_outputs(proof.undecided)}{known}; a longer --timeout may help"
    return Verdict.PASS, f"equal for all inputs: {_outputs(proof.proved)}"


def _outputs(numbers: Sequence[int], most: int = 12) -> str:
    if len(numbers) > most:
        return f"{len(numbers)} outputs"
    return f"output{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def _facts_of(proof: Equivalence) -> dict[str, Any]:
    return {
        "proved": proof.proved,
        "undecided": proof.undecided,
        "merged_ops": proof.merged,
        "methods": {method.value: count for method, count in proof.methods.items()},
        "seconds": round(proof.seconds, 3),
    }


def _structure(a: Program, b: Program) -> dict[str, Any] | None:
    """The first op that is not the same in both, in words."""
    index = first_different_op(a, b)
    return None if index is None else {"op": index, "a": _in_words(a, index), "b": _in_words(b, index)}


def _in_words(program: Program, index: int) -> str | None:
    if index >= program.n_ops:
        return None
    op = program.ops[index]
    return f"{op.spec.mnemonic} {op.type}: {in_words(program, op)}"


def _difference(a: Program, b: Program, witness: Witness) -> dict[str, Any]:
    op = witness.op
    return {
        "vector": witness.row,
        "inputs": [show(value) for value in witness.given],
        "witness": [show(value) for value in witness.inputs],
        "output": witness.output,
        "a": {"real": show(witness.a), "type": str(a.output_types[witness.output])},
        "b": {"real": show(witness.b), "type": str(b.output_types[witness.output])},
        "op": op
        and {
            "op": op.index,
            "mnemonic": a.ops[op.index].spec.mnemonic,
            "a": {"real": show(op.a), "type": str(a.ops[op.index].type)},
            "b": {"real": show(op.b), "type": str(b.ops[op.index].type)},
        },
    }


def _file_of(inputs: Sequence[Fraction], path: Path) -> bytes | None:
    """The vector as ``--inputs`` reads it back from ``path``: .npy, or CSV, which also takes integers of any size.

    None if such a file cannot hold it exactly.
    """
    if path.suffix == ".npy":
        if not all(_is_double(value) for value in inputs):
            return None
        file = io.BytesIO()
        np.save(file, np.array([[float(value) for value in inputs]]))
        return file.getvalue()
    if not all(value.denominator == 1 or _is_double(value) for value in inputs):
        return None
    return (",".join(str(value) if value.denominator == 1 else repr(float(value)) for value in inputs) + "\n").encode()


def _is_double(value: Fraction) -> bool:
    try:
        return Fraction(float(value)) == value
    except OverflowError:
        return False


def _print(facts: dict[str, Any], out: Console) -> None:
    unchecked = ", overflow unchecked" if facts["unchecked"] else ""
    for name in ("a", "b"):
        out.print(f"{name}          {program_line(ProgramInfo(**facts[name]))}", markup=False)
    first, difference = facts["first_different_op"], facts["difference"]
    if facts["identical"]:
        out.print(f"structure  the same program, hash {facts['a']['hash']}", markup=False)
    elif first is None:
        out.print("structure  all ops are the same; outputs, or what no op uses, differ", markup=False)
    else:
        out.print(f"structure  op {first['op']} is the first that is not the same in both", markup=False)
        for name in ("a", "b"):
            out.print(f"           {name}: {first[name] or 'has no such op'}", markup=False)
    out.print(f"stimulus   {facts['vectors']} vectors, seed {facts['seed']}{unchecked}", markup=False)
    if facts["proof"]:
        methods = ", ".join(f"{name} {count}" for name, count in facts["proof"]["methods"].items())
        merged, seconds = facts["proof"]["merged_ops"], facts["proof"]["seconds"]
        out.print(f"proof      {merged} ops of b equal one of a ({methods}), {seconds:.1f} s", markup=False)
    if difference:
        _print_difference(difference, out)
    out.print(verdict_text(Verdict[facts["verdict"]], facts["message"]))
    if difference:
        out.print(f"reproduce  {facts['reproduce']}", markup=False)
    if facts["replay"]:
        out.print(f"replay     {facts['replay']}", markup=False)


def _print_difference(difference: dict[str, Any], out: Console) -> None:
    out.print(f"\nfirst difference: vector {difference['vector']}, output {difference['output']}", markup=False)
    if difference["witness"] != difference["inputs"]:
        out.print("a simpler vector shows it as well", markup=False)
    out.print(f"witness    {', '.join(difference['witness'])}", markup=False)
    rows = [(f"output {difference['output']}", difference)]
    if difference["op"]:
        rows.append((f"op {difference['op']['op']} ({difference['op']['mnemonic']})", difference["op"]))
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("", "a", "type in a", "b", "type in b"):
        table.add_column(heading)
    for name, values in rows:
        table.add_row(name, *(values[side][what] for side in ("a", "b") for what in ("real", "type")))
    out.print(table)
    if difference["op"]:
        out.print(f"inside     op {difference['op']['op']} is the first whose value differs there", markup=False)
