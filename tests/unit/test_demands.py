"""What a policy demands, in words and compared with another policy: whatever is weaker in one of them is found."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import msgspec
import pytest

from dais_verif.base.errors import PolicyError
from dais_verif.signoff.bitstreams.table import Bitstream
from dais_verif.signoff.certificate import CertifiedFile
from dais_verif.signoff.demands import demanded, less_than
from dais_verif.signoff.policy import Axis, Board, Mutation, NetlistTable, Policy, Rtl, Waived, read_policy
from dais_verif.signoff.signed_design import sha256_of

_ALL = ("netlist", "axis", "board", "bitstream", "timing", "mutation")
_STRONG = Policy(
    vectors=10000,
    distinct=5000,
    seeds=(0, 1),
    exhaustive_bits=16,
    overflow="proved",
    front_end="both",
    synthesis="refused",
    coverage=50.0,
    stages=_ALL,
    board=Board("serial:///dev/x", 1000),
    bitstream=Bitstream(device="ice40-hx8k-ct256"),
)
_WAIVER = Waived("proof", "so", date(2099, 1, 1))

#: For each field of a policy, a policy that demands less.
_WEAKER: dict[str, object] = {
    "simulators": ("icarus",),
    "vectors": 2,
    "distinct": 4,
    "seeds": (7,),
    "exhaustive_bits": 15,
    "overflow": "checked",
    "proof": "optional",
    "front_end": "available",
    "synthesis": "proved",
    "coverage": 49.9,
    "stages": _ALL[:-1],
    "allowed": ("$random",),
    "netlist": NetlistTable(vectors=9),
    "axis": Axis(vectors=9),
    "board": Board("sim://uart", 1000),
    "bitstream": Bitstream(device="ice40-hx8k-ct256", margin=9.0),
    "mutation": Mutation(floor=90.0),
    "waivers": (_WAIVER,),
}
#: A field that demands nothing of the design: seconds for a solver.
_FREE = {"proof_timeout"}
#: Fields with files, whose content counts.
_FILES = {"inputs", "diff", "rtl"}
_KEYS = Rtl(files=("x.v",), top="t", clock="c", latency=3, reset="r", enable="e", valid_in="i", valid_out="o")
#: For each key of ``[rtl]`` without files, another value.
_OTHER: dict[str, object] = {
    "top": "model",
    "clock": "d",
    "latency": 4,
    "reset": None,
    "enable": "f",
    "valid_in": None,
    "valid_out": "p",
}


def test_every_field_has_a_rule() -> None:
    assert {*_WEAKER} | _FREE | _FILES == {*Policy.__struct_fields__}


@pytest.mark.parametrize("field", _WEAKER)
def test_what_demands_less_is_found(field: str) -> None:
    weaker = msgspec.structs.replace(_STRONG, **{field: _WEAKER[field]})
    assert [field.rstrip("s") in finding.what for finding in less_than(weaker, _STRONG, ())] == [True]
    assert list(less_than(_STRONG, _STRONG, ())) == []
    assert list(less_than(_STRONG, weaker, ())) == [] or field == "board"  # another target is no board less


def test_more_unknown_mutants_and_another_board_are_less() -> None:
    for one in (Mutation(most_unknown=9.0), Mutation(mutants=9), Mutation(vectors=9)):
        assert len(list(less_than(msgspec.structs.replace(_STRONG, mutation=one), _STRONG, ()))) == 1
    other = msgspec.structs.replace(_STRONG, board=Board("serial:///dev/y", 1))
    assert len(list(less_than(other, _STRONG, ()))) == 2


def test_files_of_vectors_count_by_content(tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_text("1")
    least = Policy(inputs=(str(tmp_path / "x.npy"),))
    assert [finding.what for finding in less_than(Policy(), least, ())] == ["policy's files"]
    file = tmp_path / "x.npy"
    assert list(less_than(Policy(), least, [certified("input", file)])) == []
    assert len(list(less_than(Policy(), least, [certified("data", file)]))) == 1


def certified(role: str, path: Path) -> CertifiedFile:
    return CertifiedFile(role, str(path), path.name, sha256_of(path), "")


def keys_of(policy: Policy, least: Policy, *files: CertifiedFile) -> list[str]:
    return [finding.what.removeprefix("policy's ") for finding in less_than(policy, least, files)]


def test_each_key_of_rtl_counts(tmp_path: Path) -> None:
    for name, text in (("x.v", '`include "i.vh"\n$readmemh("t.hex", m);'), ("i.vh", "//"), ("t.hex", "0"), ("y.v", "")):
        (tmp_path / name).write_text(text)
    assert {*_OTHER, "files", "data", "ports", "pipeline"} == {*Rtl.__struct_fields__}
    rtl = msgspec.structs.replace(_KEYS, files=(str(tmp_path / "x.v"),))
    files = [certified(*pair) for pair in (("rtl", tmp_path / "x.v"), ("include", tmp_path / "i.vh"))]
    files.append(certified("data", tmp_path / "t.hex"))
    assert keys_of(Policy(rtl=rtl), Policy(rtl=rtl), *files) == []
    for key, value in _OTHER.items():
        other = Policy(rtl=msgspec.structs.replace(rtl, **{key: value}))
        assert keys_of(other, Policy(rtl=rtl), *files) == [f"[rtl] {key}"]
        assert keys_of(other, Policy(), *files) == []
    for missing in range(3):
        assert keys_of(Policy(rtl=rtl), Policy(rtl=rtl), *files[:missing], *files[missing + 1 :]) == ["files"]
    assert keys_of(Policy(rtl=rtl), Policy(rtl=rtl), *files, certified("rtl", tmp_path / "y.v")) == ["[rtl] files"]
    ports = msgspec.structs.replace(rtl, ports=str(tmp_path / "y.v"))
    assert keys_of(Policy(rtl=rtl), Policy(rtl=ports), *files) == ["files"]
    found = msgspec.structs.replace(rtl, latency="auto")
    assert keys_of(Policy(rtl=rtl), Policy(rtl=found), *files) == []
    emitted = Policy(rtl=Rtl(pipeline=4))
    assert keys_of(emitted, emitted) == []
    assert keys_of(Policy(), emitted) == ["[rtl] pipeline"]
    assert "[rtl] files" in keys_of(Policy(rtl=rtl), emitted, *files)


def test_a_pipeline_of_axis_and_a_longer_waiver_are_other_demands() -> None:
    one, other = (Policy(stages=("axis",), axis=Axis(pipeline=number)) for number in (3, 1))
    assert keys_of(other, one) == keys_of(one, other) == ["[axis] pipeline"]
    longer = Policy(waivers=(msgspec.structs.replace(_WAIVER, expires=date(2099, 1, 2)),))
    assert keys_of(longer, Policy(waivers=(_WAIVER,))) == ["waivers"]
    assert keys_of(Policy(waivers=(_WAIVER,)), longer) == []


def test_a_table_without_its_stage_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    for stage, key in {"mutation": "floor = 99.0", "axis": "pipeline = 1", "netlist": "vectors = 9"}.items():
        path.write_text(f"[{stage}]\n{key}\n")
        with pytest.raises(PolicyError, match=stage):
            read_policy(path)
        path.write_text(f'stages = ["{stage}"]\n[{stage}]\n{key}\n')
        assert read_policy(path).policy.stages == (stage,)


def test_the_line_says_what_was_only_simulated() -> None:
    weak = Policy(vectors=2, proof="off", exhaustive_bits=0, stages=("board",), board=Board("sim://uart", 1))
    said = demanded(weak)
    assert "\n" not in said
    for words in ("2 vectors", "no output exhausted", "proof off", "sim://uart simulated, no board, 1 vector"):
        assert words in said
    assert "proof waived" in demanded(Policy(waivers=(_WAIVER,)))
