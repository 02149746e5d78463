"""Inputs that ``signoff`` and ``verify-cert`` must refuse."""

from __future__ import annotations

from pathlib import Path

from bad_case import GOOD, Case

from dais_verif.program import Program, write_binary

BROKEN = write_binary(Program.build([(-1, 0, -1, 0, (1, 3, 0))], [(0, 0, 0)], inp_shift=[0]), "v1")[:-4]


def signoff(*options: str, says: tuple[str, ...], **files: bytes) -> Case:
    named = {name.replace("_", "."): data for name, data in files.items()}
    return Case(("signoff", "p.bin", *options), says, {"p.bin": GOOD, **named})


def _foreign(folder: Path, _: object) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "thesis.tex").write_text("years of work")


CASES = {
    "policy missing": signoff("--policy", "none.toml", says=("policy 'none.toml'", "No such file", "name a TOML file")),
    "policy with another key": signoff(
        "--policy", "p.toml", says=("policy 'p.toml'", "unknown field `speed`", "--show-policy"), p_toml=b"speed = 3"
    ),
    "policy that seeds no faults": signoff(
        "--policy", "p.toml", says=("unknown field `anti_vacuity`",), p_toml=b"anti_vacuity = false"
    ),
    "policy with a waiver of a simulation": signoff(
        "--policy",
        "p.toml",
        says=("what is 'simulation'", "only these can be waived"),
        p_toml=b'[[waivers]]\nwhat = "simulation"\nreason = "hurry"\nexpires = 2099-01-01\n',
    ),
    "policy in bytes": signoff("--policy", "p.toml", says=("is not valid TOML",), p_toml=b"\xff\xfe"),
    "key missing": signoff("--sign", "none", says=("key 'none'", "No such file")),
    "key that is none": signoff(
        "--sign", "k.txt", says=("key 'k.txt' cannot be used", "ssh-keygen -t ed25519"), k_txt=b"k"
    ),
    "seed of a sign-off negative": signoff("--seed", "-1", says=("--seed", "-1", "x>=0")),
    "program broken": Case(("signoff", "p.bin"), ("no layout fits",), {"p.bin": BROKEN}),
    "folder of somebody else": Case(
        ("signoff", "p.bin", "-o", "out"),
        ("'out' holds 'thesis.tex'", "choose another"),
        {"p.bin": GOOD},
        setup=_foreign,
    ),
    "no certificate": Case(("verify-cert", "out"), ("no certificate 'out'", "No such file")),
    "rerun without a certificate": Case(("verify-cert", "--rerun", "."), ("no certificate", "No such file")),
}
