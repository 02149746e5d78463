"""One fault of each kind in a kernel is found by its proof; the correct kernel is proved and passes all simulations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from prove.kernel_faults.campaign import chosen
from prove.kernel_faults.faults import HardwareFault
from prove.kernel_faults.instances import instances
from prove.kernel_faults.judge import Found, Judge
from support.said import as_recorded

from dais_verif.base.verdict import Verdict
from dais_verif.compile.kernels.forms.frame import memory_frame, ranges_frame
from dais_verif.compile.kernels.forms.memory import memory_form
from dais_verif.compile.kernels.unfold import unfold
from dais_verif.verbs.diff import DiffRequest, diff


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge("fir", "memory", cycles=500)


def test_the_right_machine_is_found_nowhere(judge: Judge) -> None:
    assert judge.driven(judge.right) is None
    as_recorded(judge.proved(judge.right))
    assert judge(judge.right, 500)[0] is Found.EQUAL


def test_no_kind_of_fault_escapes(judge: Judge) -> None:
    kinds: dict[tuple[str, str], HardwareFault] = {}
    for fault in chosen("fir", "memory"):
        kinds.setdefault((fault.where, fault.kind), fault)
    assert {where for where, _ in kinds} == {"mapping", "control", "block"} and len(kinds) > 20
    found = {kind: judge(fault.machine, 500)[0] for kind, fault in kinds.items()}
    assert Found.ESCAPED not in found.values()
    assert sum(one in (Found.BOTH, Found.PROOF) for one in found.values()) > len(found) / 2


def test_a_range_that_begins_elsewhere_shows_in_many_ranges_alone(tmp_path: Path) -> None:
    """A machine that always begins with the first member is found only if the members run in many ranges.

    If all members run in one range, this fault has no effect.
    """
    one = instances("memory")["relu"]
    form = memory_form(one)
    kept = tuple(c for c in form.machine.connections if c.target.signal != "first")
    found = []
    for name, text in (("one", memory_frame(one, form.facts)), ("many", ranges_frame(one, form.facts))):
        path = tmp_path / f"{name}.toml"
        path.write_text(text, encoding="utf-8")
        machine = replace(form.machine, connections=kept)
        found.append(diff(DiffRequest(a=machine, b=unfold(one), frame=path, prove=True)).verdict)
    assert found == [Verdict.PASS, Verdict.PROGRAMS_DIFFER]


def test_a_fault_that_driving_shows_and_the_proof_does_not_has_escaped(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = next(one for one in chosen("fir", "memory") if one.where == "block" and judge.driven(one.machine))
    monkeypatch.setattr(judge, "proved", lambda machine: (Verdict.PASS, "by mistake"))
    assert judge(fault.machine, 500)[0] is Found.ESCAPED
