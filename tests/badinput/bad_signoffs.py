"""Inputs that ``signoff`` and ``verify-cert`` must refuse."""

from __future__ import annotations

from pathlib import Path

from bad_case import GOOD, Case

from dais_verif.spec.program import Program, write_binary

BROKEN = write_binary(Program.build([(-1, 0, -1, 0, (1, 3, 0))], [(0, 0, 0)], inp_shift=[0]), "v1")[:-4]


def signoff(*options: str, **files: bytes) -> Case:
    named = {name.replace("_", "."): data for name, data in files.items()}
    return Case(("signoff", "p.bin", *options), {"p.bin": GOOD, **named})


def _foreign(folder: Path, _: object) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "thesis.tex").write_text("years of work")


CASES = {
    "policy missing": signoff("--policy", "none.toml"),
    "policy with another key": signoff("--policy", "p.toml", p_toml=b"speed = 3"),
    "policy that seeds no faults": signoff("--policy", "p.toml", p_toml=b"anti_vacuity = false"),
    "policy with a waiver of a simulation": signoff(
        "--policy",
        "p.toml",
        p_toml=b'[[waivers]]\nwhat = "simulation"\nreason = "hurry"\nexpires = 2099-01-01\n',
    ),
    "policy in bytes": signoff("--policy", "p.toml", p_toml=b"\xff\xfe"),
    "key missing": signoff("--sign", "none"),
    "key that is none": signoff("--sign", "k.txt", k_txt=b"k"),
    "seed of a sign-off negative": signoff("--seed", "-1"),
    "program broken": Case(("signoff", "p.bin"), {"p.bin": BROKEN}),
    "folder of somebody else": Case(
        ("signoff", "p.bin", "-o", "out"),
        {"p.bin": GOOD},
        setup=_foreign,
    ),
    "no certificate": Case(("signoff", "--verify", "out")),
    "rerun without a certificate": Case(("signoff", "--verify", "--rerun", ".")),
}
