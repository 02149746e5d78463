"""The tables of constructs are right: accepted ones compute the right value, refused ones give their message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from prove.kind_examples import EXAMPLES, called_to_show
from prove.kind_refusals import CALLED, NEVER_CALLED, NEVER_SEEN, REFUSALS, WITH
from prove.kinds_seen import kinds_seen
from prove.reading import elaborated, term_of
from support.adder_rtl import SUMS, combinational
from support.people_write import DESIGNS
from support.said import raises

from dais_verif.base.errors import InputError, UnsupportedVerilog
from dais_verif.prover.slang.kinds import CALLS, ENDING, FILLING, SYMBOLS, TABLES, How
from dais_verif.prover.terms import leaves
from dais_verif.prover.terms.evaluate import evaluate

#: Constructs that are accepted only in clocked blocks or with files; other tests cover them.
_ELSEWHERE = {"AlwaysFF", "AlwaysLatch", *FILLING}


def name_of(kind: Any) -> str:
    return str(getattr(kind, "name", kind))


def sums(text: str, folder: Path) -> bool:
    """Return whether the design computes the sum of both inputs, for all input values."""
    term = term_of(elaborated(text, folder, "slang"), "model_out")
    given = {t: np.arange(256).astype(object) for t in leaves(term) if t.op == "var"}
    given |= {t: np.full(256, 0xEE & ((1 << t.width) - 1), object) for t in leaves(term) if t.op == "undefined"}
    return [int(value) for value in np.broadcast_to(evaluate([term], given)[0], 256)] == SUMS


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in DESIGNS])
def test_what_is_read_computes_what_it_should(name: str, tmp_path: Path) -> None:
    body, (old, new) = EXAMPLES[name]
    assert sums(combinational(body), tmp_path)
    assert old in body
    assert not sums(combinational(body.replace(old, new)), tmp_path)


def test_an_example_has_every_kind_that_is_read(tmp_path: Path) -> None:
    seen = {name_of(kind) for body, _ in EXAMPLES.values() for kind in kinds_seen(combinational(body), tmp_path, "dut")}
    for table in TABLES:
        assert {name_of(kind) for kind in table.of(How.READ)} - seen <= _ELSEWHERE, table.title
        if table not in (CALLS, SYMBOLS):
            assert {name_of(kind) for kind in table.of(How.LEFT_OUT)} <= seen, table.title


@pytest.mark.parametrize("name", sorted(CALLS.of(How.LEFT_OUT)))
def test_calls_that_are_left_out(name: str, tmp_path: Path) -> None:
    call = f"if (sum == 0) {called_to_show(name)}" if name in ENDING else called_to_show(name)
    text = combinational(f"always_comb begin OUT = sum; {call} end")
    assert name in kinds_seen(text, tmp_path, "dut")
    assert sums(text, tmp_path)


@pytest.mark.parametrize("name", FILLING)
def test_calls_that_fill_memories(name: str, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("\n".join(f"{n:x}" if name == "$readmemh" else f"{n:b}" for n in range(32)))
    body = f'logic [4:0] t [0:31]; initial {name}("t.txt", t); assign OUT = t[sum];'
    (tmp_path / "x").mkdir()
    netlist = elaborated(combinational(body), tmp_path / "x", "slang", **{"t.txt": tmp_path / "t.txt"})
    assert netlist.outputs == ("model_out",)
    with raises(UnsupportedVerilog, match="proof"):
        sums(combinational(f'logic [4:0] t [0:31]; always_comb {name}("t.txt", t); assign OUT = t[sum];'), tmp_path)


def _refused() -> list[tuple[str, str]]:
    return [(table.title, name_of(kind)) for table in TABLES if table is not CALLS for kind in table.of(How.REFUSED)]


def test_every_kind_that_is_refused_can_be_seen_to_be() -> None:
    known = {(title, kind) for table in (REFUSALS, NEVER_SEEN) for title, kinds in table.items() for kind in kinds}
    assert known == set(_refused())
    assert not {(t, k) for t, kinds in REFUSALS.items() for k in kinds if k in NEVER_SEEN.get(t, ())}


@pytest.mark.parametrize(
    ("title", "kind"), sorted((title, kind) for title, kinds in REFUSALS.items() for kind in kinds)
)
def test_what_is_refused_is_refused_by_its_message(title: str, kind: str, tmp_path: Path) -> None:
    (table,) = (table for table in TABLES if table.title == title)
    (decision,) = (decision for key, decision in table.decisions.items() if name_of(key) == kind)
    with pytest.raises(InputError) as caught:
        sums(combinational(REFUSALS[title][kind]), tmp_path)
    assert decision.text in str(caught.value)


def test_every_call_that_is_refused_can_be_seen_to_be() -> None:
    assert set(CALLED) | NEVER_CALLED == CALLS.of(How.REFUSED)
    assert not set(CALLED) & NEVER_CALLED


@pytest.mark.parametrize("name", sorted(CALLED))
def test_calls_that_are_refused(name: str, tmp_path: Path) -> None:
    text = combinational(WITH.format(f"always_comb begin OUT = sum; {CALLED[name]} end"))
    with pytest.raises(InputError) as caught:
        sums(text, tmp_path)
    assert f"{name} {CALLS.decisions[name].text}" in str(caught.value)


@pytest.mark.parametrize("name", sorted(NEVER_CALLED))
def test_calls_that_pyslang_refuses(name: str, tmp_path: Path) -> None:
    call = f"{name}(IN)" if name.startswith("$") else f"m.{name}(IN)"
    with pytest.raises(InputError, match=" error: "):
        sums(combinational(WITH.format(f"always_comb begin OUT = {call}; end")), tmp_path)
