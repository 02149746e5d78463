"""The example of docs/networks.md runs, prints what the page says, and computes what ONNX computes."""

from __future__ import annotations

import re
from pathlib import Path

import onnx
import pytest
from support.onnx_networks import compare

from dais_verif.compile.networks import read
from dais_verif.compile.networks.operators import OPERATORS, QONNX_DOMAINS, operator_of
from dais_verif.compile.networks.rounding import ROUNDINGS

PAGE = (Path(__file__).parents[2] / "docs/networks.md").read_text(encoding="utf-8")


def test_the_example_prints_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, printed = re.findall(r"^```(?:python|text)\n(.*?)^```", PAGE, re.M | re.S)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "networks.md", "exec"), {})
    assert capsys.readouterr().out == printed
    network = read(tmp_path / "small.onnx")
    compare(onnx.load(tmp_path / "small.onnx"), network, [name for node in network.nodes for name in node.outputs], 50)


def test_the_page_names_each_operator_and_rounding() -> None:
    listed = PAGE.partition("## Supported nodes")[2].partition("## Semantics")[0]
    assert [name for name in (*OPERATORS, "Constant", "Quant") if not re.search(rf"\b{name}\b", listed)] == []
    assert [name for name in ROUNDINGS if name != "HALF_EVEN" and name not in listed] == []
    assert operator_of("Quant", QONNX_DOMAINS[0]) and not operator_of("Quant", "") and not operator_of("Relu", "else")
