"""Report pages of machines that were simulated or proved show the findings of a machine, not of a program."""

from __future__ import annotations

import re
from pathlib import Path

from support.said import as_recorded
from support.stream_machines import mac

import dais_verif
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.emitter.machines import emit_machine
from dais_verif.report.html import Source, write_report
from dais_verif.spec.machine.text import machine_text


def test_a_page_of_a_refuted_machine(tmp_path: Path) -> None:
    """The page names the claims, the correspondence and the sequence, and has no table of a program's outputs."""
    machine, rtl, page = tmp_path / "m.mach", tmp_path / "bad.v", tmp_path / "p.html"
    machine.write_text(machine_text(mac()))
    rtl.write_text(emit_machine(mac(), "model").replace(" + ", " - ", 1))
    record = dais_verif.prove(machine, rtl=[rtl], top="model")
    assert record.verdict is Verdict.RTL_MISMATCH
    write_report([Source(record)], None, page)
    text = page.read_text()
    for said in ("block mac, op ", "<code>total</code>: total[0]"):
        assert said in text, said
    shown = re.findall(r"(?<=>)[^<>]+(?=<)", text)
    as_recorded("\n".join(line for line in shown if "total[0]" in line or "power-up" in line))
    assert 'id="outputs"' not in text
