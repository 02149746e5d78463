"""The latency and memory that a form states are checked against its control; any other statement is found."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.kernel_instances import S5, WINDOW, instance, instances
from support.said import as_recorded, raises

from dais_verif.base.errors import InputError
from dais_verif.base.verdict import Verdict
from dais_verif.compile.kernels.forms.control import control_of
from dais_verif.compile.kernels.forms.memory import MemoryForm, memory_form
from dais_verif.compile.kernels.forms.raster import raster_of
from dais_verif.compile.kernels.forms.stream import stream_form, stream_machine
from dais_verif.compile.kernels.instance import KernelInstance
from dais_verif.compile.kernels.shipped.pooling import STRUCTURE as POOL
from dais_verif.compile.kernels.structures import Tensor
from dais_verif.golden import form_facts
from dais_verif.golden.form_facts import check_facts
from dais_verif.spec.machine import Connection
from dais_verif.spec.machine.faults import control_faults

INSTANCES = instances()


def pool(stride: int = 2, width: int = 6) -> KernelInstance:
    options = {**WINDOW, "pad_w": 0, "pad_h": 0, "stride_w": stride, "stride_h": 2, "dilation_h": 1}
    given = POOL.pack({**options, "kernel_w": stride, "kernel_h": 2})
    return instance("max_pool", [Tensor.of(S5, width, 4, 1)], (width // stride, 2, 1), given)


STREAMS = {"pool": pool(), "column": pool(1, 1), "relu": instance("relu", [Tensor.of(S5, 4, 3)], (4, 3))}


def facts_of(one: KernelInstance, form: MemoryForm) -> set[str]:
    return {finding.fact for finding in check_facts(one, form).findings}


@pytest.mark.parametrize("parallel", [1, 2, 3])
def test_memory_forms_keep_what_they_state(parallel: int) -> None:
    for one in INSTANCES.values():
        if max(one.mapping.geometry) >= parallel:
            report = check_facts(one, memory_form(one, parallel))
            assert (report.verdict, report.findings) == (Verdict.PASS, ()) and report.runs > 7


@pytest.mark.parametrize("name", STREAMS)
def test_stream_forms_keep_what_they_state(name: str) -> None:
    report = check_facts(STREAMS[name], stream_form(STREAMS[name]))
    assert (report.verdict, report.findings) == (Verdict.PASS, ())


@pytest.mark.parametrize("fact", ["members", "cycles", "latency", "words", "bits"])
@pytest.mark.parametrize("by", [-(1 << 40), -1, 1, 1 << 40])
def test_a_fact_of_a_memory_form_that_is_wrong_by_one_is_found(fact: str, by: int) -> None:
    form = memory_form(INSTANCES["conv2d"], 2)
    wrong = form._replace(facts=replace(form.facts, **{fact: getattr(form.facts, fact) + by}))
    assert fact in facts_of(INSTANCES["conv2d"], wrong)


def test_the_finding_says_what_is_there() -> None:
    form = memory_form(INSTANCES["mul"])
    report = check_facts(INSTANCES["mul"], form._replace(facts=replace(form.facts, latency=11)))
    assert report.verdict is Verdict.RTL_MISMATCH
    assert [str(finding) for finding in report.findings] == ["latency: 11 is stated, but it is 10"]
    two = memory_form(INSTANCES["mul"], 2)
    mixed = MemoryForm(two.machine, replace(form.facts, words=two.facts.words, bits=two.facts.bits))
    (finding,) = check_facts(INSTANCES["mul"], mixed).findings
    as_recorded(str(finding))
    assert finding.fact == "latency"


def test_a_machine_of_other_facts_is_found() -> None:
    """A machine with two members at a time and the facts of one with one at a time differs in latency and memory."""
    one = INSTANCES["conv2d"]
    mixed = MemoryForm(memory_form(one, 2).machine, memory_form(one).facts)
    assert facts_of(one, mixed) == {"latency", "words", "bits"}


def test_faults_of_control_that_change_when_it_is_done_are_found() -> None:
    one = INSTANCES["mul"]
    form = memory_form(one)
    wanted = (
        "busy by rst[0:1]: never",
        "last[0:1] if taken[0:1]: never",
        "one cycle late: begin0",
    )
    faults = {str(fault): fault.machine for fault in control_faults(form.machine)}
    shown = {
        text: facts_of(one, form._replace(machine=faults[text])) for text in faults if any(w in text for w in wanted)
    }
    assert len(shown) == 3 and all(facts == {"latency"} for facts in shown.values())


def test_control_that_looks_at_data_is_refused() -> None:
    """Control that depends on data is refused: its facts may be right for the data of one run, but not for all data."""
    form = memory_form(INSTANCES["mul"])
    whole = form.machine.whole
    connections = (*form.machine.connections,)
    done = next(n for n, c in enumerate(connections) if c.target.signal == "done")
    looking = Connection(connections[done].source, whole("done"), whole("in0_write"))
    wrong = replace(form.machine, connections=(*connections[:done], looking, *connections[done + 1 :]))
    with raises(InputError):
        check_facts(INSTANCES["mul"], form._replace(machine=wrong))


@pytest.mark.parametrize("fact", ["interval", "beats", "latency", "flush", "line_bits", "window_bits"])
def test_a_fact_of_a_stream_form_that_is_wrong_by_one_is_found(fact: str) -> None:
    form = stream_form(STREAMS["pool"])
    wrong = replace(form, **{fact: getattr(form, fact) + 1})
    assert fact in {finding.fact for finding in check_facts(STREAMS["pool"], wrong).findings}


@pytest.mark.parametrize("axis", ["x", "y"])
def test_a_stream_that_gives_outputs_elsewhere_is_found(axis: str) -> None:
    one = STREAMS["pool"]
    raster = raster_of(one)
    was = getattr(raster, axis)
    wrong = replace(raster, **{axis: replace(was, count=was.count - 1)})
    machine = stream_machine(one, raster, control_of(wrong))
    report = check_facts(one, replace(stream_form(one), machine=machine))
    as_recorded(str(report.findings[0]))
    assert report.verdict is Verdict.RTL_MISMATCH


def test_a_register_that_a_reset_leaves_is_found() -> None:
    """A register that a reset does not clear is found, although no frame shows this fault.

    Frames are defined by cycles, while the fault makes outputs valid at the wrong time after a reset.
    """
    options = {**WINDOW, "pad_w": 1, "pad_h": 1, "stride_w": 1, "stride_h": 1, "dilation_h": 1}
    given = POOL.pack({**options, "kernel_w": 3, "kernel_h": 3})
    one = instance("max_pool", [Tensor.of(S5, 4, 4, 1)], (4, 4, 1), given)
    form = stream_form(one)
    pending = replace(form.machine.signals["pending"], reset=None)
    faulty = replace(form.machine, signals={**form.machine.signals, "pending": pending})
    assert not check_facts(one, form).findings
    (finding,) = check_facts(one, replace(form, machine=faulty)).findings
    as_recorded(str(finding))


def test_what_takes_too_long_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(form_facts, "_CYCLES", 100)
    report = check_facts(INSTANCES["conv2d"], memory_form(INSTANCES["conv2d"]))
    assert report.left_out and report.verdict is Verdict.NOT_RUN
