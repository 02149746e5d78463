"""HTML pages, without a browser: they show all of a record, only as text, and nothing doubtful looks like a pass."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import fields, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from support.pages import (
    EVIL,
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
from support.said import as_recorded, raises
from support.strategies import programs
from support.tier import examples

from dais_verif.base.errors import RecordError
from dais_verif.base.stopwatch import Stage
from dais_verif.base.verdict import Verdict
from dais_verif.record.campaigns import RegressionRecord
from dais_verif.record.program import ProgramInfo, RtlFacts
from dais_verif.record.proof import ProvedRtl, Status
from dais_verif.record.simulation import Blame, Mismatch, OutputEvidence, SimulationRecord, SimulatorResult, Value
from dais_verif.report.html import Source, render, write_report
from dais_verif.report.html.program_view import FAMILIES, view_data
from dais_verif.report.html.sources import Document
from dais_verif.report.html.verdicts import overall
from dais_verif.report.verdict_words import word_of
from dais_verif.spec.program import Program
from dais_verif.spec.program.listing import in_words
from dais_verif.spec.program.opcodes import OPCODES, Term, opcode_of_sum
from dais_verif.spec.program.ranges import analyse

VOID = {"meta", "link", "input", "br", "circle", "rect"}
#: Elements that do not separate words.
INLINE = {"strong", "a", "code", "mark", "span"}
DOCUMENTS: dict[str, Document] = {
    "pass": passed_run(),
    "mismatch": mismatch_run(),
    "board": board_run(),
    "proof": passed_proof(),
    "failed proof": failed_proof(),
    "signoff": signoff(),
    "regression": regression(),
}


class Page(HTMLParser):
    """The elements of a page; raises if they are not closed in order, or if a link within the page has no target."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.parts: list[str] = []
        self.feed(text)
        assert self.open == []
        ids = [values["id"] for _, values in self.seen if "id" in values]
        assert len(ids) == len(set(ids))
        within = {str(v["href"])[1:] for t, v in self.seen if t == "a" and str(v["href"]).startswith("#")}
        self.ops = {name for name in within if re.fullmatch(r"op-\d+", name)}
        assert within - self.ops <= set(ids)
        #: The text that a reader sees.
        self.text = " ".join("".join(self.parts).split())
        (self.heading,) = re.findall(r"<h1>.*</span> ([\w ]+)</h1>", text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        self.parts += [] if tag in INLINE else [" "]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        self.parts += [] if tag in INLINE else [" "]
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] not in (["script"], ["style"]):
            self.parts.append(data)


def page_of(*documents: Document, program: Program | None = PROGRAM) -> Page:
    shown = None if any(isinstance(document, RegressionRecord) for document in documents) else program
    return Page(render([Source(document) for document in documents], shown))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_page_is_well_formed(name: str) -> None:
    page = page_of(DOCUMENTS[name])
    assert page.heading == word_of(DOCUMENTS[name], DOCUMENTS[name].verdict)
    assert DOCUMENTS[name].message in page.text
    assert [tag for tag, _ in page.seen].count("h1") == 1
    assert {"main", "nav", "header", "footer"} <= {tag for tag, _ in page.seen}
    headers = [values for tag, values in page.seen if tag == "th"]
    assert headers and all(values.get("scope") in ("col", "row") for values in headers)


@pytest.mark.parametrize("name", ["pass", "failed proof", "signoff", "regression"])
@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_is_shown_as_it_is(name: str, verdict: Verdict) -> None:
    document = replace(DOCUMENTS[name], verdict=verdict)
    page = page_of(document)
    if verdict is Verdict.PASS and DOCUMENTS[name].verdict is not Verdict.PASS:
        assert page.heading == "UNKNOWN"
        assert all(part in page.text for part in ("record", "PASS"))
    else:
        assert page.heading == word_of(document, verdict)
    assert overall([Source(document)]).word == page.heading
    (header,) = (values["class"] for tag, values in page.seen if tag == "header")
    assert (header == "verdict good") == (page.heading == "PASS")


@pytest.mark.parametrize("document", [passed_run(), signoff(), regression()], ids=lambda d: type(d).__name__)
@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.NOT_RUN])
def test_a_run_that_goes_on_is_no_pass(document: Any, verdict: Verdict) -> None:
    page = page_of(replace(document, state="running", verdict=verdict))
    assert page.heading == "INTERRUPTED"
    assert "run" in page.text


def claims_pass(document: Any, **changed: Any) -> Document:
    result: Document = replace(document, verdict=Verdict.PASS, **changed)
    return result


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (claims_pass(passed_run(), simulators=[]), "no bit"),
        (claims_pass(passed_run(), simulators=[SimulatorResult("icarus", "11", 5, 0)]), "no bit"),
        (claims_pass(passed_run(), simulators=[SimulatorResult("icarus", "11", 5, 9, 1)]), "icarus"),
        (claims_pass(passed_run(), simulators=[SimulatorResult("x", "1", 5, 9, 0, 1)]), "x "),
        (claims_pass(passed_run(), simulators=[SimulatorResult("x", "1", 5, 9, failure="!")]), "x "),
        (claims_pass(mismatch_run()), "mismatch"),
        (claims_pass(passed_proof(), outputs=[]), "output"),
        (claims_pass(failed_proof()), "1 of"),
        (claims_pass(signoff()), ": prove"),
        (claims_pass(signoff(), stages=[]), "stage"),
        (claims_pass(regression()), "1 of 36 jobs"),
        (claims_pass(regression(), jobs=regression().jobs[:3]), "3 of 36 jobs"),
        (claims_pass(regression(), jobs=[], planned=0), "0 of 0 jobs"),
    ],
    ids=range(13),
)
def test_a_pass_that_its_own_record_contradicts_is_none(document: Document, reason: str) -> None:
    page = page_of(document)
    assert page.heading == "UNKNOWN"
    assert reason in page.text


def test_what_limits_a_verdict_stands_beside_it() -> None:
    clean = replace(passed_run(), warnings=[], waivers=[])
    assert "With limits" not in page_of(clean).text
    assert "1 waiver; 1 warning." in page_of(passed_run()).text
    assumed = replace(clean, unchecked=True, program=replace(clean.program, layout_assumed=True))
    limits = page_of(assumed).text.partition("With limits: ")[2].partition(".")[0]
    assert "overflow" in limits and "layout" in limits
    as_recorded(limits)
    as_recorded(page_of(failed_proof()).text.partition("With limits: ")[2].partition(".")[0])


# several records


def test_proof_and_simulation_of_one_design_are_one_evidence() -> None:
    page = page_of(passed_run(), passed_proof())
    assert page.heading == "PASS"
    count = PROGRAM.n_out
    assert f"{count} proved" in page.text and "designs" not in page.text
    assert "exhausted</span>" not in render([Source(passed_run()), Source(passed_proof())])


def test_evidence_of_one_design_says_nothing_of_another() -> None:
    other = replace(passed_proof(), rtl=replace(passed_proof().rtl, sha256=["ef" * 32]))
    page = page_of(passed_run(), other)
    assert "2 designs that are not known to be identical" in page.text
    assert f"1 exhausted, {PROGRAM.n_out - 1} sampled" in page.text
    unknown = replace(passed_proof(), rtl=ProvedRtl(top="model", emitted=True))
    assert "2 designs" in page_of(passed_run(), unknown).text


def test_the_worst_verdict_is_that_of_the_page() -> None:
    assert page_of(passed_run(), failed_proof()).heading == "RTL_MISMATCH"
    assert page_of(mismatch_run(), passed_proof()).heading == "RTL_MISMATCH"
    unknown = replace(passed_proof(), verdict=Verdict.UNKNOWN, message="late")
    page = page_of(passed_run(), unknown)
    assert page.heading == "UNKNOWN" and "proof: late" in page.text


def test_wrong_outranks_proved_and_the_contradiction_is_said() -> None:
    page = page_of(mismatch_run(), passed_proof())
    assert "output 0 is wrong according to simulation, but proof says otherwise" in page.text
    assert f"1 wrong, {PROGRAM.n_out - 1} proved" in page.text
    assert "Contradiction" not in page_of(mismatch_run(), failed_proof()).text


def test_outputs_that_were_compared_equal_stay_so_beside_a_wrong_one() -> None:
    graded = [OutputEvidence(j, "wrong" if j in (0, 2) else "sampled", 1000) for j in range(PROGRAM.n_out)]
    document = replace(mismatch_run(), outputs=graded)
    assert f"2 wrong, {PROGRAM.n_out - 2} sampled" in page_of(document).text
    assert "Outputs, wrong ones first" in page_of(document).text
    table = render([Source(document)], PROGRAM).partition('id="outputs-table"')[2].partition("</table>")[0]
    assert re.findall(r'data-grade="(\w+)"', table)[:3] == ["wrong", "wrong", "sampled"]
    for verdict in (Verdict.UNKNOWN, Verdict.PROGRAM_INVALID, Verdict.INVALID_INPUT):  # no output is judged then
        assert f"{PROGRAM.n_out} none" in page_of(replace(document, verdict=verdict)).text


def test_outputs_that_one_simulator_compared_are_known_where_the_other_failed() -> None:
    failed = SimulatorResult("icarus", failure="cannot build")
    document = replace(passed_run(), verdict=Verdict.TOOL_FAILURE, simulators=[failed, passed_run().simulators[1]])
    page = page_of(replace(document, evidence=None))
    assert page.heading == "TOOL_FAILURE" and f"1 exhausted, {PROGRAM.n_out - 1} sampled" in page.text


def test_outputs_that_a_refuted_proof_lists_as_proved_are() -> None:
    document = replace(failed_proof(), proved_outputs=[3, 4])
    assert f"1 wrong, 2 proved, {PROGRAM.n_out - 3} none" in page_of(document).text
    refuted = [structs.replace(passed_proof().outputs[number], status=Status.REFUTED) for number in (1, 2)]
    assert f"1 wrong, 2 refuted, 2 proved, {PROGRAM.n_out - 5} none" in page_of(replace(document, outputs=refuted)).text
    late = replace(document, counterexample=None, message="the outputs are right 5 edges after their inputs, not 4")
    assert f"{PROGRAM.n_out} none" in page_of(replace(late, proved_outputs=[])).text


def test_a_stage_that_the_policy_does_without_is_no_contradiction() -> None:
    passed = replace(signoff(), verdict=Verdict.PASS, message="all stages passed")
    left = replace(passed.stages[3], ran=True, optional=True, verdict=Verdict.UNKNOWN)
    page = page_of(replace(passed, stages=[*passed.stages[:3], left]))
    assert page.heading == "SIGNED OFF" and "undecided" in page.text


def test_a_refuted_proof_proves_nothing_and_an_open_one_what_rests_on_proved_ops() -> None:
    assert "proved</span>" not in render([Source(failed_proof())], PROGRAM)
    proof = passed_proof()
    late = structs.replace(proof.outputs[1], status=Status.UNKNOWN)
    part = replace(proof, verdict=Verdict.UNKNOWN, outputs=[proof.outputs[0], late, *proof.outputs[2:]])
    assert f"{PROGRAM.n_out - 1} proved, 1 none" in page_of(part).text
    shaky = replace(part, ops=[structs.replace(proof.ops[0], status=Status.UNKNOWN), *proof.ops[1:]])
    assert f"{PROGRAM.n_out} none" in page_of(shaky).text


def test_coverage_alone_is_no_verdict_on_rtl() -> None:
    page = page_of(coverage_run())
    assert page.heading == "PASS", "as the verb says it"
    assert "77.7 % of bins hit With limits: no RTL was examined" in page.text and "77.7 % of the bins" in page.text
    assert "no RTL was examined" not in page_of(coverage_run(), passed_run()).text
    assert page_of(coverage_run(), coverage_run()).heading == "PASS"
    order = [str(values.get("id")) for tag, values in page.seen if tag == "section"]
    assert order[:2] == ["coverage", "compared"] and order.count("coverage") == 1
    assert "What was compared" not in page.text and "nothing is known" not in page.text
    failed = replace(coverage_run(), verdict=Verdict.NOT_SIGNED_OFF, message="the floor is 80 %")
    assert page_of(failed).heading == "NOT_SIGNED_OFF"
    assert page_of(replace(passed_run(), coverage=None), failed).heading == "NOT_SIGNED_OFF"


def test_coverage_beside_a_run_is_said_to_be_of_its_own() -> None:
    page = page_of(replace(passed_run(), coverage=None), coverage_run())
    assert page.heading == "PASS" and "all 8000 output bits" in page.text
    assert "77.7 %" in page.text and "Counted by a separate coverage run, seed 7" in page.text
    page = page_of(coverage_run(), passed_run())
    assert "83.3 %" in page.text and "77.7 % of the bins" not in page.text and "run of its own" not in page.text


def test_what_cannot_be_one_page_is_refused() -> None:
    small = Program.build([(-1, 0, -1, 0, (1, 3, 0))], [(0, 0, 0)], inp_shift=[0])
    for sources, program, problem in (
        ([], None, "record"),
        ([passed_run(), passed_run(small)], None, ""),
        ([passed_run()], small, ""),
        ([regression(), passed_run()], None, ""),
        ([replace(passed_run(), coverage=replace(passed_run(small).coverage, ops=[]))], PROGRAM, ""),
    ):
        with raises(RecordError, match=problem):
            render([Source(document) for document in sources], program)


# what a page shows


def texts_in(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in texts_in(part)]
    if isinstance(value, list | tuple):
        return [text for part in value for text in texts_in(part)]
    if hasattr(value, "__dataclass_fields__"):
        return [text for field in fields(value) for text in texts_in(getattr(value, field.name))]
    return []


#: Texts that a page expresses in other words, or that only tools use.
UNSAID = {
    "2026-11-21T10:00:00Z",
    "2026-11-21T11:00:00Z",
    "op",
    "op ",
    "-",
    "complete",
    "",
    "emitted",
    "top",
    "files",
    "sha256",
    "data",
    "0.9.1",
    "icarus",
    "identical",
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_text_of_a_record_is_on_its_page(name: str) -> None:
    document = DOCUMENTS[name]
    page = page_of(document)
    heard = page.text + " ".join(str(value) for _, values in page.seen for value in values.values())
    expected = set(texts_in(document)) - UNSAID
    if name == "regression":  # shown in the line that runs them
        expected -= {"2026-11-21T12:00:00Z", "--seed", *(job.job.id for job in regression().jobs[:-1])}
    if "proof" in name:  # there would be one line per op; methods are counted instead
        expected -= {"PROVED", *(f"op_{op.index}" for op in PROGRAM.ops)}
    missing = {text for text in expected if " ".join(text.split()) not in heard}
    assert missing - {"replay/waves.fst", "op_5", "v1", "12", "0", "sampled", PROGRAM.hash} == set()


def test_numbers_of_a_run_are_on_its_page() -> None:
    text = page_of(mismatch_run()).text
    for words in (
        "Vector 17, output 0, in icarus",
        "248.5",
        "497",
        "unknown",
        "398",
        "2.00 s",
        "values that break a promise wrap",
    ):
        assert words in text
    assert "83.3 %" in text and "1,000 vectors, 12 of them" in text


def test_bits_that_differ_are_marked() -> None:
    assert re.findall("<mark>(.*?)</mark>", render([Source(mismatch_run())])) == ["X", "11111000"]


@pytest.mark.parametrize("name", ["pass", "mismatch", "signoff", "proof"])
def test_without_a_program_nothing_links_to_ops(name: str) -> None:
    page = page_of(DOCUMENTS[name], program=None)
    assert page.ops == set()
    assert "because the program was not available" in page.text


def test_links_to_ops_are_of_ops_that_there_are() -> None:
    page = page_of(mismatch_run(), failed_proof())
    assert page.ops and all(int(name[3:]) < PROGRAM.n_ops for name in page.ops)


def test_empty_things_are_pages_too() -> None:
    empty = Program.build([], [], inp_shift=[])
    nothing = SimulationRecord(
        verdict=Verdict.NOT_RUN,
        message="",
        program=ProgramInfo.of(empty),
        seed=0,
        vectors=0,
        reproduce="",
        rtl=RtlFacts(),
        tools={},
    )
    page = page_of(nothing, program=empty)
    assert page.heading == "NOT_RUN"
    assert "The program has no outputs" in page.text and "Coverage was not measured" in page.text
    broken = Mismatch("icarus", 0, 0, Value(None, None, ""), Value(None, None, ""), [], Blame("cone", "somewhere"))
    instant = replace(nothing, first_mismatch=broken, profile=[Stage("a", 0, 0, 0)])
    assert "somewhere" in page_of(instant, program=empty).text
    assert page_of(RegressionRecord(verdict=Verdict.NOT_RUN, message="", planned=0, reproduce="")).heading == "NOT_RUN"


# what a page must not show


def test_text_is_never_markup(tmp_path: Path) -> None:
    evil = replace(
        mismatch_run(),
        message=EVIL,
        program=replace(passed_run().program, path=EVIL),
        reproduce=EVIL,
        rtl=RtlFacts(top=EVIL, files=[EVIL], sha256=[EVIL], data={EVIL: EVIL}),
        tools={EVIL: EVIL},
        warnings=[EVIL],
        simulators=[SimulatorResult(EVIL, EVIL, 1, 1, failure=EVIL)],
    )
    for document in (evil, replace(signoff(), policy={EVIL: EVIL}), replace(regression(), shard=EVIL, cluster=EVIL)):
        page = page_of(document)
        assert [tag for tag, _ in page.seen].count("script") == (1 if isinstance(document, RegressionRecord) else 2)
        assert not any(name.startswith("on") for _, values in page.seen for name in values)
        assert EVIL in page.text or json.dumps(EVIL) in page.text
    write_report([evil], PROGRAM, tmp_path / "page.html")
    Page((tmp_path / "page.html").read_text("utf-8"))


def test_names_that_are_no_unicode_are_written(tmp_path: Path) -> None:
    write_report([replace(passed_run(), message="a\udcffb")], None, tmp_path / "page.html")
    assert "a\\udcffb" in (tmp_path / "page.html").read_text("utf-8")


def test_a_result_can_be_no_other_scheme(tmp_path: Path) -> None:
    made = regression(1, 1)
    (tmp_path / "javascript:alert(1)").write_text("{}")
    (tmp_path / "a b#c?.json").write_text("{}")
    names = ("javascript:alert(1)", "a b#c?.json", "absent.json")
    jobs = [replace(job, result=name) for job, name in zip(made.jobs, names, strict=True)]
    html = render([Source(replace(made, jobs=jobs), tmp_path / "regression.json")], folder=tmp_path)
    links = {str(values["href"]) for tag, values in Page(html).seen if tag == "a"}
    assert {"./javascript%3Aalert%281%29", "./a%20b%23c%3F.json"} <= links
    assert not any("absent" in link for link in links) and "absent.json" in Page(html).text


@pytest.mark.parametrize("name", DOCUMENTS)
def test_only_its_own_script_and_style_may_run_and_nothing_is_fetched(name: str) -> None:
    html = render([Source(DOCUMENTS[name])], None if name == "regression" else PROGRAM)
    policy = next(v["content"] for t, v in Page(html).seen if v.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None and policy.startswith("default-src 'none'; ") and "unsafe" not in policy
    script, style = (html.split(f"<{tag}>")[1].split(f"</{tag}>")[0] for tag in ("script", "style"))
    for text in (script, style):
        assert f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" in policy
    assert "style=" not in html.replace(style, "").replace(script, "")
    assert not re.search(r"""(src|href)=["']?(https?:|//)""", html)
    assert "fetch(" not in script and "XMLHttpRequest" not in script and "@import" not in style


# the view of the program


def decoded(data: str) -> Any:
    return json.loads(data)


@settings(max_examples=examples(10), deadline=None)
@given(st.one_of(programs(), programs(alir=True)))
def test_operands_can_be_read_off_the_text(made: tuple[Program, Any]) -> None:
    """The page reads operands from the text, as it has no other list of them."""
    for op in made[0].ops:
        assert sorted(map(int, re.findall(r"%(\d+)", in_words(made[0], op)))) == sorted(op.operands)


def test_every_mnemonic_has_a_family() -> None:
    special = [opcode_of_sum([Term(0, 0, True)]), opcode_of_sum([Term(0, 0, False), Term(-1, 0, False)])]
    assert set(FAMILIES) == {spec.mnemonic for spec in [*OPCODES.values(), *special]}


def test_view_data_says_what_the_program_is() -> None:
    html = render([Source(passed_run()), Source(failed_proof())], PROGRAM)
    data = decoded(html.split('id="program-data">')[1].split("</script>")[0])
    intervals = analyse(PROGRAM, declared=True).intervals
    for op in PROGRAM.ops:
        at = op.index
        assert data["kinds"][data["kind"][at]]["name"] == op.spec.mnemonic
        assert tuple(data["types"][data["type"][at]]) == op.type
        assert (int(data["low"][at]), int(data["high"][at])) == intervals[at][:2]
        assert data["level"][at] == max((data["level"][i] + 1 for i in op.operands), default=0)
        assert data["bins"][3 * at : 3 * at + 3] == passed_run().coverage.ops[at]  # type: ignore[union-attr]
    assert data["claims"] == "".join("R" if op.index == 5 else "P" for op in PROGRAM.ops)
    assert data["blamed"] == [5]
    assert [output["op"] for output in data["outputs"]] == [o if o >= 0 else None for o in PROGRAM.out_idx.tolist()]


def test_integers_beyond_doubles_are_text() -> None:
    wide = Program.build([(-1, 0, -1, 0, (1, 200, 5))], [(0, 0, 0)], inp_shift=[0])
    data = view_data(wide, None, None, [], [])
    assert data["low"] == [str(-(1 << 205))] and data["high"] == [str((1 << 205) - 1)]


@pytest.fixture
def chain() -> Callable[[int], Program]:
    def build(n: int) -> Program:
        ops = [(-1, 0, -1, 0, (1, 3, 0)), *((3, at, -1, 0, (1, 3, 0)) for at in range(n - 1))]
        return Program.build(ops, [(n - 1, 0, 0)], inp_shift=[0])

    return build


def test_what_is_too_large_to_be_shown_is_said_to_be(
    chain: Callable[[int], Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dais_verif.report.html.page._MOST_OPS", 100)
    assert "program-data" in render([Source(passed_run(chain(100)))], chain(100))
    page = page_of(passed_run(chain(101)), program=chain(101))
    assert "Programs of more than 100 ops are not shown op by op" in page.text and page.ops == set()


def test_a_page_grows_by_few_bytes_an_op(chain: Callable[[int], Program]) -> None:
    """A page with 50,000 ops stays below 5 MB."""
    small, large = (len(render([Source(passed_run(p))], p)) for p in (chain(1000), chain(5000)))
    assert (large - small) / 4000 < 90
