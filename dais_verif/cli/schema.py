"""``dais-verif schema``: the JSON schema of records."""

from __future__ import annotations

import click

from dais_verif.cli.verb import Verb

__all__ = ["schema"]


_KINDS = "result proof regression signoff conversion coverage mutation fuzzing shrinking configurations approximation"


@click.command(cls=Verb)
@click.argument("kind", type=click.Choice(_KINDS.split()), metavar="KIND")
def schema(kind: str) -> int:
    """Print the JSON schema of the records of KIND: what --json prints and -o keeps.

    \b
    dais-verif schema result         of sim and hil: result.json
    dais-verif schema proof          of prove
    dais-verif schema regression     of regress: regression.json
    dais-verif schema signoff        of signoff: signoff.json
    dais-verif schema conversion     of convert
    dais-verif schema coverage       of coverage
    dais-verif schema mutation       of mutate: mutation.json
    dais-verif schema fuzzing        of fuzz: fuzz.json
    dais-verif schema shrinking      of shrink
    dais-verif schema configurations of approx show and approx convert
    dais-verif schema approximation  of approx apply, approx measure and approx tune

    Later versions only add fields.
    """
    from dais_verif.record.schema import schema_path

    click.echo(schema_path(kind).read_text(encoding="utf-8"), nl=False)
    return 0
