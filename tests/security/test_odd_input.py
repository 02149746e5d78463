"""Almost valid files give a one-line error, and never in an internal error (exit code 70)."""

from __future__ import annotations

import contextlib
import copy
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from support.pages import (
    PROGRAM,
    board_run,
    coverage_run,
    failed_proof,
    mismatch_run,
    passed_proof,
    passed_run,
    regression,
    signoff,
)
from support.said import raises

from dais_verif.base.errors import DaisError, InputError, RecordError
from dais_verif.doors.cli.main import _run
from dais_verif.hardware.emitter.delays import read_delay_model
from dais_verif.hardware.ports.ports_file import read_ports_file
from dais_verif.record.read import parse_record
from dais_verif.signoff.policy import policy_of, read_policy
from dais_verif.signoff.signatures import read_signature, sign
from dais_verif.spec.program import write_binary
from dais_verif.stimulus import read_batch
from dais_verif.verbs.manifest import read_manifest

#: Values that replace other ones.
ODD: list[Any] = [None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, 10**400, 0.5, -0.0, float("inf"), float("nan")]
ODD += ["", "x", "\0", "../..", "/dev/null", "a" * 5000, "\n", "2099-99-99", "PASS", "ß", "%s{}", "9" * 5000]
ODD += [[], {}, [[]], [None], {"a": 1}, [1, 2, 3], {"": ""}]


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value in ``tree`` except its root."""
    children = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in children:
        yield (*path, key)
        yield from places(value, (*path, key))


def changed(tree: Any, rng: random.Random) -> Any:
    """Return ``tree`` with one to three values that are odd, missing, doubled or renamed."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        path = rng.choice([*places(tree)] or [()])
        if not path:
            return tree
        inside = tree
        for key in path[:-1]:
            inside = inside[key]
        key, kind = path[-1], rng.random()
        if kind < 0.1:
            del inside[key]
        elif kind < 0.2 and isinstance(inside, list):
            inside.append(inside[key])
        elif kind < 0.2:
            inside[rng.choice(("zz", "", "a" * 300))] = inside[key]
        else:
            inside[key] = copy.deepcopy(rng.choice(ODD))
    return tree


# records


def records() -> list[dict[str, Any]]:
    made = (passed_run, mismatch_run, board_run, regression, signoff, passed_proof, failed_proof, coverage_run)
    return [json.loads(make().to_json()) for make in made]


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("rtl", "data"), 5),
        (("rtl", "sha256"), [[]]),
        (("rtl", "files"), 1),
        (("rtl", "top"), {}),
        (("coverage", "ops", 0), [1]),
        (("coverage", "outputs", 0), [1, 2, 3, 4]),
        (("coverage", "outputs", 0), [1, -(10**400), 0]),
        pytest.param(("coverage", "groups", 0, "hit"), 10**400, id="huge"),
    ],
)
def test_a_record_with_other_shapes_is_refused(where: tuple[Any, ...], value: object) -> None:
    tree = json.loads(mismatch_run().to_json())
    tree["coverage"] = asdict(coverage_run().coverage)
    inside = tree
    for key in where[:-1]:
        inside = inside[key]
    assert parse_record(json.dumps(tree).encode(), "r.json")
    inside[where[-1]] = value
    with raises(RecordError, match=r"r\.json.*valid record") as caught:
        parse_record(json.dumps(tree).encode(), "r.json")
    assert where[0] in str(caught.value)


def pages_of(rows: int, seed: int, folder: Path) -> Counter[int]:
    (folder / "net").mkdir()
    (folder / "net" / "prog.bin").write_bytes(write_binary(PROGRAM, "v1"))
    rng, seeds, codes = random.Random(seed), records(), Counter[int]()
    for tree in seeds:
        (folder / "r.json").write_text(json.dumps(tree))
        assert _run(["report", "r.json"]) == 0
    for _ in range(rows):
        text = json.dumps(changed(rng.choice(seeds), rng))
        (folder / "r.json").write_text(text)
        code = _run(["report", "r.json"])
        assert code in (0, 2), text
        codes[code] += 1
    return codes


def test_odd_records_are_shown_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    codes = pages_of(150, 1, tmp_path)
    assert min(codes[0], codes[2]) > 10


@pytest.mark.slow
def test_thousands_of_odd_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pages_of(8000, 2, tmp_path)


# TOML


def toml(value: Any) -> str:
    if value is None:
        return '""'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(key)} = {toml(inner)}' for key, inner in value.items())}}}"
    return str(value)


PORTS = [
    {"inputs": {"port": "a", "types": ["s3.2", "u1.0", "s2.2"]}, "outputs": {"port": "b"}},
    {
        "inputs": {"ports": ["a", "b", "c"]},
        "outputs": {"ports": ["y"]},
        "clock": {"port": "clk", "latency": 2, "reset": "rst", "enable": "en", "valid_in": "vi", "valid_out": "vo"},
        "tie": {"x": 1},
    },
]
POLICIES = [
    {
        "vectors": 100,
        "seeds": [0, 1],
        "simulators": ["icarus"],
        "overflow": "proved",
        "rtl": {"files": ["m.v"], "top": "model", "data": ["x.mem"], "ports": "p.toml", "clock": "clk"},
        "coverage": 90.0,
        "netlist": {"target": "ice40", "vectors": 10},
        "board": {"target": "sim://uart"},
        "inputs": ["x.npy"],
    }
]
MANIFESTS = [
    {
        "programs": "p.bin",
        "simulators": ["icarus"],
        "seeds": [0],
        "vectors": 3,
        "timeout": 9.0,
        "variants": {
            "a": {"stages": 2},
            "b": {"rtl": "{folder}/m.v", "top": "model", "clock": "clk", "latency": "auto", "programs": ["*.bin"]},
        },
    }
]
DELAYS = [{"carry": 0.05, "lut": 0.1, "add": 1}]
TABLES: dict[str, tuple[Callable[[Path], object], list[Any]]] = {
    "ports": (read_ports_file, PORTS),
    "policy": (read_policy, POLICIES),
    "manifest": (read_manifest, MANIFESTS),
    "delays": (read_delay_model, DELAYS),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", TABLES)
def test_odd_tables_are_read_or_refused(kind: str, tmp_path: Path) -> None:
    read, seeds = TABLES[kind]
    rng, path, seen = random.Random(kind), tmp_path / "x.toml", Counter[str]()
    for _ in range(400):
        tree = changed(rng.choice(seeds), rng)
        path.write_text("".join(f"{json.dumps(key)} = {toml(value)}\n" for key, value in tree.items()))
        try:
            read(path)
            seen["read"] += 1
        except (DaisError, OSError):  # a name that is too long is an OSError, which the command line reports
            seen["refused"] += 1
    assert min(seen["read"], seen["refused"]) > 20


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("text", ["a = " + "[" * 3000 + "]" * 3000, "a = " + "{a = " * 3000 + "1" + "}" * 3000])
def test_tables_three_thousand_levels_deep_are_refused(kind: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(InputError, match="valid TOML"):
        TABLES[kind][0](tmp_path / "x.toml")


@pytest.mark.parametrize("kind", ["policy", "manifest", "ports"])
def test_nul_in_a_name_is_refused(kind: str, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text('programs = "a\\u0000b.bin"\n')
    with pytest.raises(InputError, match="NUL"):
        TABLES[kind][0](tmp_path / "x.toml")


# sign-off


@pytest.mark.parametrize("byte", [0x80, 0xC3, 0xFF])
def test_a_signature_with_bytes_beyond_ascii_is_none(byte: int) -> None:
    key = Ed25519PrivateKey.generate()
    signature = bytearray(sign(b"message", key))
    signature[60] = byte
    with pytest.raises(InputError):
        read_signature(bytes(signature), b"message")


@pytest.mark.parametrize("tree", [{"overflow": "\ud800"}, {"proof": "\udfff"}])
def test_a_policy_with_half_a_character_is_none(tree: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        policy_of(tree, "the policy")


# vectors


def arrays(folder: Path) -> list[tuple[str, bytes]]:
    rows = np.arange(12, dtype=np.float64).reshape(4, 3)
    np.save(folder / "a.npy", rows)
    np.savez(folder / "b.npz", x=rows)
    found = [(name, (folder / name).read_bytes()) for name in ("a.npy", "b.npz")]
    return [*found, ("c.csv", b"a,b,c\n1,2,3\n-4.5,5e3,6\n"), ("d.json", b"[[1, 2, 3], [4.5, 5, 6]]")]


@pytest.mark.few(2)
@pytest.mark.parametrize("number", range(4))
def test_damaged_vectors_are_read_or_refused(number: int, tmp_path: Path) -> None:
    name, data = arrays(tmp_path)[number]
    rng, path = random.Random(number), tmp_path / f"x{name}"
    for _ in range(250):
        damaged = bytearray(data)
        for _ in range(rng.choice((1, 2, 8))):
            at = rng.randrange(min(len(damaged), 200))
            damaged[at] = rng.choice((0, 9, 10, 34, 44, 45, 57, 91, 255, rng.randrange(256)))
        path.write_bytes(damaged[: rng.choice((len(data), len(data), rng.randrange(len(data))))])
        with contextlib.suppress(DaisError):
            read_batch(path, 3)
