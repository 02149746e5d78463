"""What a policy demands, in words and compared with another policy: whatever is weaker in one of them is found."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import msgspec
import pytest

from dais_verif.signoff.bitstreams.table import Bitstream
from dais_verif.signoff.demands import demanded, less_than
from dais_verif.signoff.mutation_table import Mutation
from dais_verif.signoff.policy import Axis, Board, NetlistTable, Policy, Waived
from dais_verif.signoff.subject import sha256_of

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
#: Fields that demand nothing of the design: seconds for a solver, and where the RTL is.
_FREE = {"proof_timeout", "rtl"}
#: Fields with files, whose content counts.
_FILES = {"inputs", "diff"}


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
    assert list(less_than(Policy(), least, {sha256_of(tmp_path / "x.npy")})) == []


def test_the_line_says_what_was_only_simulated() -> None:
    weak = Policy(vectors=2, proof="off", exhaustive_bits=0, stages=("board",), board=Board("sim://uart", 1))
    said = demanded(weak)
    assert "\n" not in said
    for words in ("2 vectors", "no output exhausted", "proof off", "sim://uart simulated, no board, 1 vector"):
        assert words in said
    assert "proof waived" in demanded(Policy(waivers=(_WAIVER,)))
