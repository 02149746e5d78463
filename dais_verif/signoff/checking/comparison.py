"""Compare a certificate with that of a new sign-off: every field, as ``FIELDS`` decides, and all evidence.

Values without a rule of their own must be equal. A claim that exceeds the new run speaks against the certificate, even
if only a time limit made the difference: the new run does not confirm it. If the certificate claims less than the new
run, the difference is only noted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import msgspec

from dais_verif.record.campaigns import MutationSummary
from dais_verif.record.simulation import OutputEvidence
from dais_verif.signoff.certificate import Certificate, CertifiedFile, CertifiedStage
from dais_verif.signoff.evidence import mutated, read_tree
from dais_verif.signoff.extras import NETLIST
from dais_verif.signoff.mutation import MUTATION
from dais_verif.signoff.results import EVIDENCE, FAILED, GRADES
from dais_verif.signoff.verbs import PRINTED, RUN

__all__ = ["FIELDS", "Difference", "Pair", "differences", "of_mutants", "of_stages"]


_MORE = "the new run found as much, or more"
_MADE = "another tool made it here"

#: The tools that make netlists, and the tools that make wrappers, seeded faults and logic that was read back.
_SYNTHESIS, _OTHERS = ("yosys",), ("dais-verif", "icestorm")


class Difference(NamedTuple):
    """``what`` differs: the value that the certificate claims, and the value that a new run found.

    ``note``: why the difference does not speak against the certificate; empty if it does.
    """

    what: str
    claimed: object
    found: object
    note: str = ""


@dataclass(frozen=True)
class Pair:
    """A certificate, the certificate of a new run, and the folders of both sign-offs in the same order."""

    then: Certificate
    now: Certificate
    folders: tuple[Path, Path]

    @cached_property
    def skipped(self) -> frozenset[str]:
        """The folders of stages that failed in a run: only their verdicts are compared, in the field ``stages``."""
        folders = [folder / EVIDENCE for folder in self.folders]
        return frozenset(
            path.parent.relative_to(folder).as_posix() for folder in folders for path in folder.rglob(FAILED)
        )

    def same_makers(self, name: str) -> bool:
        """Return True if the tools that make the file ``name`` were the same in both runs."""
        makers = _SYNTHESIS if name.endswith(NETLIST) else _OTHERS
        return all(self.then.tools.get(maker) == self.now.tools.get(maker) for maker in makers)

    @cached_property
    def made(self) -> dict[str, str]:
        """The hashes in the new run of files that different tools made in the two runs, by those in the certificate."""
        then, now = self.then.evidence, self.now.evidence
        others = (name for name in then if name in now and not name.endswith(".json") and not self.same_makers(name))
        return {then[name]: now[name] for name in others}


_Comparison: TypeAlias = Callable[[Pair], Iterator[Difference]]


def differences(pair: Pair) -> Iterator[Difference]:
    """Yield all differences between the certificate and the certificate of the new run."""
    for comparison in FIELDS.values():
        if not isinstance(comparison, str):
            yield from comparison(pair)


# fields of the certificate


def _equal(name: str) -> _Comparison:
    def compare(pair: Pair) -> Iterator[Difference]:
        then, now = getattr(pair.then, name), getattr(pair.now, name)
        if then != now:
            yield Difference(name, then, now)

    return compare


def _files(pair: Pair) -> Iterator[Difference]:
    then, now = (list(map(_content, one.files)) for one in (pair.then, pair.now))
    if len(then) != len(now):
        yield Difference("number of files", len(then), len(now))
    for was, found, file in zip(then, now, pair.then.files, strict=False):
        if was != found:
            same = (found.role, found.name) == (was.role, was.name)
            told = found.sha256 if same else f"{found.role} {found.name} {found.sha256}"
            yield Difference(f"{file.role} {file.path}", was.sha256, told)


def _content(file: CertifiedFile) -> CertifiedFile:
    """Return ``file`` without its paths, which belong to one computer."""
    return msgspec.structs.replace(file, path="", near="")


def _stages(pair: Pair) -> Iterator[Difference]:
    return of_stages(pair.then.stages, pair.now.stages)


def of_stages(then: list[CertifiedStage], now: list[CertifiedStage]) -> Iterator[Difference]:
    """Yield the stages that differ. If a stage did not pass, the certificate claims nothing about it."""
    known, found = ({stage.name: stage for stage in stages} for stages in (then, now))
    for name in dict.fromkeys((*known, *found)):
        one, other = known.get(name), found.get(name)
        if one != other:
            less = one is not None and other is not None and not one.passed
            yield Difference(f"stage {name}", _told(one), _told(other), _MORE if less else "")


def _told(stage: CertifiedStage | None) -> str:
    if stage is None:
        return "no such stage"
    kinds = ("passed", "must_fail", "waived", "optional")
    return ", ".join([stage.verdict.value, *(kind.replace("_", " ") for kind in kinds if getattr(stage, kind))])


def _outputs(pair: Pair) -> Iterator[Difference]:
    then, now = pair.then.outputs, pair.now.outputs
    if [one.output for one in then] != [one.output for one in now]:
        yield Difference("outputs", [one.output for one in then], [one.output for one in now])
        return
    for was, found in zip(then, now, strict=True):
        if was != found:
            claimed, told = (f"{one.grade}, {one.vectors} vectors" for one in (was, found))
            yield Difference(f"output {was.output}", claimed, told, _MORE if _at_most(was, found) else "")


def _at_most(then: OutputEvidence, now: OutputEvidence) -> bool:
    """Return True if ``then`` claims no more than ``now``."""
    same = replace(now, grade=then.grade, vectors=then.vectors) == then
    return same and GRADES.index(then.grade) <= GRADES.index(now.grade) and then.vectors <= now.vectors


# mutants


def _mutation(pair: Pair) -> Iterator[Difference]:
    if pair.then.mutation is None or pair.now.mutation is None:
        if pair.then.mutation != pair.now.mutation:
            note = _MORE if pair.then.mutation is None else ""
            yield Difference("mutation", pair.then.mutation or "none", pair.now.mutation or "none", note)
        return
    then, now = (mutated(folder / EVIDENCE / MUTATION).summary for folder in pair.folders)
    yield from of_mutants(then, now)


def of_mutants(then: MutationSummary, now: MutationSummary) -> Iterator[Difference]:
    """Yield each number of mutants that cannot be right in both runs; if there is none, the difference of the scores.

    Both numbers can be right if the mutants that are unknown in one of the runs explain the difference.
    """
    wrong = [name for name in asdict(then) if not _possible(name, then, now)]
    for name in wrong:
        told = f"{getattr(now, name)}{_open(now)}"
        yield Difference(f"mutants: {name.replace('_', ' ')}", getattr(then, name), told)
    if then == now or wrong:
        return
    better = _score(then) > _score(now) or then.unknown < now.unknown
    claimed, found = (f"{_score(one):g} %{_open(one)}" for one in (then, now))
    limit = "; a time limit was reached: check again on an idle machine" if better else ""
    yield Difference("mutation score", claimed, f"{found}{limit}", "" if better else _MORE)


#: The fates of a mutant whose fate may be unknown in the other run.
_FATES = ("killed_by_simulation", "killed_by_proof", "equivalent", "survived")


def _possible(name: str, then: MutationSummary, now: MutationSummary) -> bool:
    """Return True if both runs can be right about the field ``name``.

    Only mutants that are unknown in one of the runs may have another fate in the other.
    """
    was, found = getattr(then, name), getattr(now, name)
    unknown = then.unknown + now.unknown
    if name in _FATES:
        return bool(was <= found + now.unknown and found <= was + then.unknown)
    return was == found or (name in ("unknown", "score") and unknown > 0)


def _score(summary: MutationSummary) -> float:
    return -1.0 if summary.score is None else summary.score


def _open(summary: MutationSummary) -> str:
    return f" with {summary.unknown} of {summary.mutants} mutants unknown" if summary.unknown else ""


# evidence


#: Values in evidence that are not compared: they belong to the computer, or a field of the certificate covers them.
_ELSEWHERE = {"simulators.version": "a tool", "summary": "by the field mutation"}

#: Stands for a value that one of the trees lacks.
_NOTHING = "no such value"

#: Copies of a command's output, which are not compared again, since the judges require that they equal the output.
_COPIES = (f"{RUN}/result.json", f"{RUN}/{MUTATION}.json")


def _evidence(pair: Pair) -> Iterator[Difference]:
    """Compare all files that are neither copies of signed-off files nor evidence of a stage that did not pass."""
    certified = {file.sha256 for one in (pair.then, pair.now) for file in one.files}
    then, now = (
        {name: sha256 for name, sha256 in one.evidence.items() if sha256 not in certified and _compared(pair, name)}
        for one in (pair.then, pair.now)
    )
    limited = list(_directed(pair))
    yield from limited
    first = _first_simulation(pair) if limited else ""
    for name in sorted({*then, *now}):
        if first and name.startswith(f"{EVIDENCE}/{first}/"):
            continue
        if name not in then or name not in now:
            claimed, found = ("a file" if name in one else "no such file" for one in (then, now))
            yield Difference(name, claimed, found)
        elif then[name] != now[name]:
            yield from _of_file(pair, name)


def _compared(pair: Pair, name: str) -> bool:
    parts = name.split("/")
    return parts[1] not in pair.skipped and not name.endswith(_COPIES)


def _first_simulation(pair: Pair) -> str:
    seeds = pair.then.policy["seeds"]
    return f"simulation-{seeds[0]}" if seeds else ""


def _directed(pair: Pair) -> Iterator[Difference]:
    """Compare the numbers of vectors that were computed for coverage, which depend on the solver's time limit."""
    places = [folder / EVIDENCE / _first_simulation(pair) / PRINTED for folder in pair.folders]
    if not pair.then.policy.get("coverage") or not all(place.is_file() for place in places):
        return
    parts = [read_tree(place).get("stimulus", []) for place in places]
    then, now = (sum(one["vectors"] for one in part if one["name"] == "directed") for part in parts)
    if then != now:
        yield Difference("vectors computed for coverage", then, now, _MORE if then < now else "")


def _of_file(pair: Pair, name: str) -> Iterator[Difference]:
    """Compare a file of both runs: JSON value by value, other files as a whole."""
    if not name.endswith(".json"):
        # Another tool makes a different file; the new run judged it in the same way as the certified file was judged.
        note = "" if pair.same_makers(name) else _MADE
        yield Difference(name, pair.then.evidence[name], pair.now.evidence[name], note)
        return
    trees = [read_tree(folder / name) for folder in pair.folders]
    for place, then, now in _values(trees[0], trees[1], ""):
        if not isinstance(then, str) or pair.made.get(then) != now:
            yield Difference(f"{place} in {name}", then, now)


def _values(then: Any, now: Any, place: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield the place, such as ``rtl.top``, and the two values of each innermost value that differs."""
    if place in _ELSEWHERE or then == now:
        return
    if isinstance(then, dict) and isinstance(now, dict):
        for key in sorted({*then, *now}):
            below = f"{place}.{key}" if place else key
            yield from _values(then.get(key, _NOTHING), now.get(key, _NOTHING), below)
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for one, other in zip(then, now, strict=True):
            yield from _values(one, other, place)
    else:
        yield place, then, now


#: Every field of a certificate: how it is compared, or why it is not.
FIELDS: dict[str, _Comparison | str] = {
    "schema": _equal("schema"),
    "statement": _equal("statement"),
    "issued": "the time of one run",
    "program": _equal("program"),
    "layout": _equal("layout"),
    "emitted": _equal("emitted"),
    "top": _equal("top"),
    "files": _files,
    "policy": "the new run has the same policy, with the current paths of the files",
    "tools": "of one computer; `--same-tools` requires them",
    "stages": _stages,
    "outputs": _outputs,
    "waivers": _equal("waivers"),
    "evidence": _evidence,
    "logs": "for people, with times and paths of one computer",
    "signer": "the new run is not signed",
    "itself": "the hash of all other fields",
    "mutation": _mutation,
}
