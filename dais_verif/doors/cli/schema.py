"""``dais-verif schema``: the JSON schema of records."""

from __future__ import annotations

import click

from dais_verif.doors.cli.verb import Verb

__all__ = ["schema"]


#: Kinds of records, and verbs whose records have another name.
_KINDS = (
    "result proof regression signoff conversion coverage mutation fuzzing shrinking configurations "
    "approx-apply approx-measure approx-tune build cache check diff emit explain kernel-build kernel-list "
    "kernel-picture kernel-show printout profile report run sensitivity synth verify-cert"
)
_VERBS = {
    "sim": "result",
    "hil": "result",
    "prove": "proof",
    "regress": "regression",
    "convert": "conversion",
    "asm": "conversion",
    "mutate": "mutation",
    "fuzz": "fuzzing",
    "shrink": "shrinking",
    "approx-show": "configurations",
    "approx-convert": "configurations",
}


@click.command(cls=Verb)
@click.argument("kind", type=click.Choice([*_KINDS.split(), *_VERBS]), metavar="VERB")
def schema(kind: str) -> int:
    """Print the JSON schema of the records of VERB: what --json prints and -o keeps.

    \b
    dais-verif schema sim            or result: of sim and hil, and what every verb prints for an error
    dais-verif schema prove          or proof
    dais-verif schema regress        or regression
    dais-verif schema approx-tune    verbs of approx and kernel have a hyphen

    Later versions only add fields.
    """
    from dais_verif.record.schema import schema_path

    click.echo(schema_path(_VERBS.get(kind, kind)).read_text(encoding="utf-8"), nl=False)
    return 0
