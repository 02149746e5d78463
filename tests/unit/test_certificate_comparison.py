"""Comparison of a certificate with a new run: every field is considered, and no claim may exceed the new run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.said import as_recorded

from dais_verif.base.verdict import Verdict
from dais_verif.record.campaigns import MutationSummary, score_of
from dais_verif.signoff.certificate import Certificate, CertifiedStage
from dais_verif.signoff.checking.comparison import FIELDS, of_mutants, of_stages


def test_every_field_of_a_certificate_is_decided_on() -> None:
    assert set(FIELDS) == set(Certificate.__struct_fields__)


def summary(simulated: int, proved: int, equivalent: int, unknown: int, survived: int) -> MutationSummary:
    mutants = simulated + proved + equivalent + unknown + survived
    score = score_of(simulated + proved, mutants - equivalent)
    return MutationSummary(mutants, simulated, proved, equivalent, unknown, survived, 0, 0, score)


NOW = summary(24, 0, 1, 0, 5)
LIMITED = summary(20, 2, 1, 3, 4)


@pytest.mark.parametrize(
    ("then", "now", "what"),
    [
        (summary(29, 0, 1, 0, 0), NOW, ["mutants: killed by simulation", "mutants: survived", "mutants: score"]),
        (summary(24, 0, 6, 0, 0), NOW, ["mutants: equivalent", "mutants: survived", "mutants: score"]),
        (summary(23, 1, 1, 0, 5), NOW, ["mutants: killed by simulation", "mutants: killed by proof"]),
        (replace(NOW, score=99.0), NOW, ["mutants: score"]),
        # The new run leaves three mutants unknown, but the certificate claims eight more kills.
        (
            summary(28, 2, 0, 0, 0),
            LIMITED,
            ["mutants: killed by simulation", "mutants: equivalent", "mutants: survived"],
        ),
        (summary(20, 5, 1, 0, 4), LIMITED, ["mutation score"]),
        (summary(20, 2, 1, 0, 7), LIMITED, ["mutation score"]),
    ],
)
def test_a_better_result_for_mutants_than_that_of_a_new_run(
    then: MutationSummary, now: MutationSummary, what: list[str]
) -> None:
    found = list(of_mutants(then, now))
    assert [one.what for one in found] == what
    assert not any(one.note for one in found)


def test_where_a_time_limit_decided_it_is_said() -> None:
    (found,) = of_mutants(summary(20, 5, 1, 0, 4), LIMITED)
    assert found.claimed == "86.2 %"
    as_recorded(found.found)


def test_a_new_run_may_leave_fewer_mutants_unknown() -> None:
    (found,) = of_mutants(LIMITED, summary(20, 5, 1, 0, 4))
    assert found.note
    assert list(of_mutants(LIMITED, LIMITED)) == []


PASSED = CertifiedStage("proof", Verdict.PASS, True, False, False, False)
UNDECIDED = CertifiedStage("proof", Verdict.UNKNOWN, False, False, False, True)


@pytest.mark.parametrize(
    ("then", "now", "told", "noted"),
    [
        ([PASSED], [UNDECIDED], ("PASS, passed", "UNKNOWN, optional"), False),
        ([UNDECIDED], [PASSED], ("UNKNOWN, optional", "PASS, passed"), True),
        ([PASSED], [], ("PASS, passed", ""), False),
        ([], [PASSED], ("", "PASS, passed"), False),
    ],
)
def test_stages(then: list[CertifiedStage], now: list[CertifiedStage], told: tuple[str, str], noted: bool) -> None:
    (found,) = of_stages(then, now)
    for said, expected in zip((found.claimed, found.found), told, strict=True):
        assert said == expected if expected else "PASS" not in said
        as_recorded(said)
    assert bool(found.note) == noted
