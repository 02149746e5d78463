"""Functions that users call accept a path as text or as ``Path``, with the same result."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from support.pages import passed_run

from dais_verif.hardware.ports.ports_file import read_ports_file
from dais_verif.record.read import read_record
from dais_verif.report.html import render, source_of, write_report
from dais_verif.report.html.sources import read_source
from dais_verif.stimulus import read_batch


def test_a_record_and_its_page(tmp_path: Path) -> None:
    record = passed_run()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "result.json").write_text(record.to_json())
    for path in (tmp_path / "run", tmp_path / "run" / "result.json"):
        assert read_record(str(path)) == read_record(path) == record
        assert read_source(str(path)) == read_source(path)
    assert source_of(record.to_json().encode(), "x.json") == source_of(record.to_json().encode(), Path("x.json"))
    write_report([record], None, str(tmp_path / "text.html"))
    write_report([record], None, tmp_path / "path.html")
    page = (tmp_path / "text.html").read_text()
    assert page == (tmp_path / "path.html").read_text() and record.message in page
    sources = [read_source(tmp_path / "run")]
    assert render(sources, folder=str(tmp_path)) == render(sources, folder=tmp_path)


def test_vectors_and_ports(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", [[1.0, 2.5]])
    assert str(read_batch(str(tmp_path / "x.npy"), 2)) == str(read_batch(tmp_path / "x.npy", 2))
    (tmp_path / "ports.toml").write_text('[clock]\nport = "clk"')
    assert read_ports_file(str(tmp_path / "ports.toml")) == read_ports_file(tmp_path / "ports.toml")
