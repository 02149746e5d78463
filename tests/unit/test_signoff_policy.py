"""A policy is read as it is meant; a value without a meaning is refused with its key."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from support.said import as_recorded

from dais_verif.base.errors import InputError
from dais_verif.base.verdict import Verdict
from dais_verif.doors.cli.main import _run
from dais_verif.signoff.judge import Judgement
from dais_verif.signoff.policy import BUILT_IN, Policy, in_force, policy_of, read_policy
from dais_verif.signoff.results import SignOffStage, name_keys, result_of

WAIVER = '[[waivers]]\nwhat = "proof"\nreason = "a divider"\nexpires = 2027-01-31\n'


def read(text: str, folder: Path) -> Policy:
    (folder / "policy.toml").write_text(text)
    return read_policy(folder / "policy.toml").policy


def test_the_built_in_policy_is_what_its_text_says(capfd: pytest.CaptureFixture[str]) -> None:
    given = read_policy(None)
    assert given.policy == Policy()
    assert _run(["signoff", "--show-policy"]) == 0
    assert capfd.readouterr().out == given.text == BUILT_IN


def test_every_key_is_shown() -> None:
    tree = Policy().tree()
    for key, value in tree.items():
        assert key in BUILT_IN
        for inner in value if isinstance(value, dict) else ():
            assert inner in BUILT_IN, inner


def test_paths_are_seen_from_the_policy(tmp_path: Path) -> None:
    policy = read('inputs = ["x.npy"]\n[rtl]\nfiles = ["a.v", "/b.v"]\nports = "p.toml"\n', tmp_path)
    assert policy.rtl.files == (str(tmp_path / "a.v"), "/b.v")
    assert (policy.rtl.ports, policy.inputs) == (str(tmp_path / "p.toml"), (str(tmp_path / "x.npy"),))


def test_patterns_mean_what_is_there(tmp_path: Path) -> None:
    for name in ("b.v", "a.v", "a.txt"):
        (tmp_path / name).write_text("")
    assert read('[rtl]\nfiles = ["*.v"]\n', tmp_path).rtl.files == (str(tmp_path / "a.v"), str(tmp_path / "b.v"))


def test_it_comes_back_from_a_certificate(tmp_path: Path) -> None:
    policy = read(WAIVER + '[rtl]\nfiles = ["a.v"]\nclock = "clk"\nlatency = "auto"\n', tmp_path)
    assert policy_of(policy.tree(), "certificate") == policy
    assert policy.rtl.pins == {"clock": "clk", "latency": "auto"}
    with pytest.raises(InputError, match=r"certificate: .*`speed`"):
        policy_of({**policy.tree(), "speed": 1}, "certificate")


def test_fewer_distinct_vectors_than_vectors_may_be_demanded(tmp_path: Path) -> None:
    assert read("vectors = 10\ndistinct = 9", tmp_path).distinct == 9


def test_a_waiver_holds_to_its_last_day(tmp_path: Path) -> None:
    waivers = read(WAIVER, tmp_path).waivers
    good, late = in_force(waivers, date(2027, 1, 31))
    assert (list(good), late) == (["proof"], [])
    good, late = in_force(waivers, date(2027, 2, 1))
    assert good == {}
    as_recorded(late)


def test_no_waiver_covers_a_design_that_is_known_to_be_wrong(tmp_path: Path) -> None:
    stage = SignOffStage("proof", "proof", lambda *_: None, lambda *_: Judgement(Verdict.PASS, ""), waiver="proof")
    waivers, _ = in_force(read(WAIVER, tmp_path).waivers, date(2027, 1, 1))
    problem = ("a problem",)
    for verdict in Verdict:
        assert not result_of(stage, Judgement(verdict, "", problem, known=True), waivers).waived, verdict
    waived = {one for one in Verdict if result_of(stage, Judgement(one, "", problem), waivers).waived}
    assert Verdict.UNKNOWN in waived and not waived & {Verdict.RTL_MISMATCH, Verdict.PROGRAMS_DIFFER}
    assert not result_of(stage, Judgement(Verdict.UNKNOWN, "", problem), {}).waived


BAD = {
    "key": ("speed = 3", "unknown field `speed`"),
    "key of a table": ('[rtl]\nfile = "a.v"', "[rtl]: Object contains unknown field `file`; known are files, top"),
    "anti-vacuity": ("vacuity = false", "unknown field `vacuity`"),
    "type": ('vectors = "many"', "vectors: Expected `int`, got `str`;"),
    "negative": ("vectors = -1", "vectors is -1"),
    "distinct": ("vectors = 10\ndistinct = 1000", "vectors, 10"),
    "simulator": ('simulators = ["vcs"]', "'vcs'"),
    "twice": ('simulators = ["icarus", "icarus"]', "names a simulator twice"),
    "both languages": ('simulators = ["ghdl", "icarus"]', "VHDL"),
    "proof": ('proof = "maybe"', 'proof: unknown value \'maybe\', must be one of "off", "optional", "required";'),
    "proof or not": ("proof = true", 'proof: Expected `str`, got `bool`; must be one of "off", "optional"'),
    "latency": (
        '[rtl]\nlatency = "two"',
        "[rtl] latency: unknown value 'two', must be one of an integer, \"auto\"",
    ),
    "bits": ("exhaustive_bits = 60", "24"),
    "percent": ("coverage = 101.0", "a percentage from 0 to 100"),
    "seconds": ("proof_timeout = inf", "0; `dais-verif signoff --show-policy`"),
    "seeds": ("seeds = [1, 1]", "seeds holds a seed twice"),
    "stage": ('stages = ["lunch"]', 'stages[0]: unknown value \'lunch\', must be one of "axis", "bitstream"'),
    "board": ('stages = ["board"]', "board needs [board] target"),
    "mutants": ("[mutation]\nmutants = 0", "[mutation] mutants is 0, must be 1 to 1,000,000"),
    "score": ("[mutation]\nfloor = 101.0", "[mutation] floor is 101.0, must be a percentage from 0 to 100"),
    "mutants of VHDL": ('simulators = ["ghdl"]\nstages = ["mutation"]', "Verilog"),
    "axis": ('stages = ["axis"]\n[rtl]\nfiles = ["a.v"]', "dais-verif"),
    "pins": ('[rtl]\nclock = "clk"', "files; `dais-verif signoff --show-policy`"),
    "pipeline": ('[rtl]\npipeline = 2\nfiles = ["a.v"]', "dais-verif"),
    "waiver of nothing": (WAIVER.replace('"proof"', '"simulation"'), "waived: outside, check, proof"),
    "waiver of a seeded fault": (WAIVER.replace('"proof"', '"known-bad RTL, proof"'), "waivers[0]"),
    "waiver without a reason": (WAIVER.replace("a divider", " "), "waivers[0]"),
    "waiver without reason": (WAIVER.replace('reason = "a divider"\n', ""), "missing required field `reason`"),
    "waiver for ever": (WAIVER.replace("expires = 2027-01-31\n", ""), "missing required field `expires`"),
    "waiver until never": (WAIVER.replace("2027-01-31", '"never"'), "Expected `date`"),
    "two waivers": (WAIVER * 2, "`dais-verif signoff --show-policy`"),
    "files that are none": ('[rtl]\nfiles = ["src/*.v"]', "nothing matches 'src/*.v'"),
    "not valid TOML": ("vectors: 3", "valid TOML"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_it_cannot_mean_is_refused_with_the_key(name: str, tmp_path: Path) -> None:
    text, says = BAD[name]
    with pytest.raises(InputError) as caught:
        read(text, tmp_path)
    assert says in str(caught.value)
    as_recorded(caught.value)
    assert str(caught.value).startswith(f"policy '{tmp_path}/policy.toml'")


@pytest.mark.parametrize(
    ("problem", "says"),
    [
        ("give the right one with --latency", "give the right one with [rtl] latency (or --latency)"),
        ("--valid-out needs --valid-in: x. See: dais-verif sim --help", "[rtl] valid_out (or --valid-out) needs "),
        ("raise --timeout, or set --rtl", "raise the policy's proof_timeout, or set [rtl] files (or --rtl)"),
        ("call `sim --latency 3`, or --latency-b", "call `sim --latency 3`, or --latency-b"),
        ("1 bit is wrong", "1 bit is wrong"),
    ],
)
def test_what_a_verb_told_names_the_keys_of_a_policy(problem: str, says: str) -> None:
    assert name_keys(problem).startswith(says)
    assert "See:" not in name_keys(problem)
