"""Mutants of registers: a missing or extra stage, enables, resets, edges, valid bits, and stale bits.

Some changes show only after a reset, in a stall or a bubble, or after many edges; some have no effect at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from prove.soundness.mutants import KINDS, Edit, Rule, code_lines, each, pairs

__all__ = ["ALL_KINDS", "REGISTER_KINDS"]

#: A nonblocking assignment as a statement of its own: the register and its source.
_LOAD = r"(?<![(<>=!] )((\w+) <= ([^;?]+);)"


def _load(new: str) -> Callable[[re.Match[str]], str]:
    """Return a function that replaces ``{x} <= {y};`` by ``new``, in which ``{n}`` is a unique number."""
    return lambda m: new.format(x=m[2], y=m[3], n=m.start(1))


def _lowest_only(m: re.Match[str]) -> str | None:
    """Return the statement that loads bit 0 alone, or None for valid bits, which have one bit."""
    return None if m[2].startswith("v") else f"{m[2]}[0] <= {m[3]};"


def _with_pin(pin: str, rule: Rule) -> Rule:
    """Return ``rule``, restricted to texts that contain ``pin``."""
    return lambda text: rule(text) if re.search(rf"\b{pin}\b", text) else iter(())


def _stage_less(text: str) -> Iterator[Edit]:
    """Let a register load the source of its own source."""
    before = {m[2]: m[3] for _, line in code_lines(text) for m in re.finditer(_LOAD, line)}
    for place, line in code_lines(text):
        for m in re.finditer(_LOAD, line):
            if m[3] in before and before[m[3]] != m[3]:
                yield place + m.start(3), place + m.end(3), before[m[3]]


def _misses_the_enable(text: str) -> Iterator[Edit]:
    """Move a statement out of a block that begins with the enable, into a block without the enable."""
    head = ""
    for place, line in code_lines(text):
        if "always" in line or "begin" in line or re.match(r"\s*end\b", line):
            head = line.strip()
        elif re.fullmatch(r"always(_ff)? @\(posedge clk\) if \(en\) begin", head):
            for m in re.finditer(_LOAD, line):
                alone = f"end always @(posedge clk) begin {m[1]} end {head}"
                yield place + m.start(1), place + m.end(1), alone


def _gated(text: str) -> Iterator[Edit]:
    """Let a register wait for a pin or a valid bit."""
    names = dict.fromkeys(re.findall(r"\b(en|in_valid|rst|rst_n|valid_s\d+|v\d)\b", text))
    for place, line in code_lines(text):
        for m in re.finditer(_LOAD, line):
            for name in names:
                if name not in (m[2], m[3]):
                    yield place + m.start(1), place + m.end(1), f"if ({name}) {m[1]}"


REGISTER_KINDS: dict[str, list[Rule]] = {
    "a stage less": [_stage_less, each(r"\w+_s(\d+)\b(?! *<=)", lambda m: str(int(m[1]) - 1), only="=")],
    "a stage more": [
        each(_LOAD, _load("begin : more_{n} reg signed [63:0] t; {x} <= t; t = {y}; end")),
        each(r"\w+_s(\d+)\b(?! *<=)", lambda m: str(int(m[1]) + 1), only="="),
    ],
    "enable": [
        each(r"if \((en)\)", "1'b1", "!en"),
        _with_pin("in_valid", each(r"if \((en)\)", "en & in_valid", "en | in_valid", "in_valid")),
        _with_pin("rst", each(r"if \((en)\)", "en | rst", "en & !rst")),
        each(r"\b(en) &&? ", "1'b1", "!en"),
    ],
    "misses the enable": [_misses_the_enable],
    "gated": [_gated],
    "reset": [
        each(r"if \((!?rst\w*)\)", "1'b0", lambda m: f"!({m[1]})"),
        _with_pin("en", each(r"if \((!?rst\w*)\)", lambda m: f"{m[1]} && en", lambda m: f"{m[1]} || !en")),
        _with_pin("in_valid", each(r"if \((!?rst\w*)\)", lambda m: f"{m[1]} && in_valid")),
    ],
    "reset value": [
        each(r"\w <= (\d+'[bdh]0+|0);", "1", "-1"),
        each(_LOAD, lambda m: None if re.fullmatch(r"(\d+'[bdh])?0+", m[3]) is None else ";"),
    ],
    "edge": [
        each(r"@\((posedge) clk", "negedge"),
        _with_pin("rst", each(r"@\((posedge clk)\)", "posedge clk or posedge rst")),
        each(r"( or (?:posedge|negedge) rst\w*)", ""),
        each(r" or (posedge|negedge) rst", lambda m: "negedge" if m[1] == "posedge" else "posedge"),
    ],
    "a bit that stays": [
        each(_LOAD, _load("{x} <= ({y} & ~1) | ({x} & 1);"), _lowest_only),
        _with_pin("in_valid", each(_LOAD, _load("{x} <= in_valid ? {y} : ({y} & ~1) | ({x} & 1);"))),
    ],
    "other sources": [pairs(r"\w <= ([^;?]+);"), pairs(r"(?<=\s)(\w+) <= [^;?]+;")],
    "assigned with =": [each(r"\w (<=) [^;?]+;", "=")],
    "start-up": [
        each(_LOAD, _load("begin : up_{n} reg t; {x} <= t ? {y} : 0; t = 1'b1; end")),
        _with_pin("rst", each(_LOAD, _load("begin : up_{n} reg t; {x} <= t ? {y} : 0; t = !rst; end"))),
        _with_pin("rst_n", each(_LOAD, _load("begin : up_{n} reg t; {x} <= t ? {y} : 0; t = rst_n; end"))),
    ],
    "after many edges": [
        _with_pin("rst", each(_LOAD, _load(
            "begin : many_{n} reg [8:0] t; {x} <= t == 300 ? 0 : {y}; t = rst ? 0 : t + 1; end"))),
        _with_pin("rst_n", each(_LOAD, _load(
            "begin : many_{n} reg [3:0] t; {x} <= t > 15 ? 0 : {y}; t = !rst_n ? 0 : t + 1; end"))),
    ],
    "the vector before": [
        each(_LOAD, _load("begin : last_{n} reg [63:0] t; {x} <= (t == 3) ? 0 : {y}; t = {y}; end")),
        each(_LOAD, _load("begin : last_{n} reg [63:0] t; {x} <= (t === 3 && t !== 3) ? 0 : {y}; t = {y}; end")),
    ],
    "valid": [
        each(r"out_valid = ([^;]+);", "in_valid", lambda m: f"~{m[1]}", lambda m: f"{m[1]} & in_valid"),
        _with_pin("en", each(r"out_valid = ([^;]+);", lambda m: f"{m[1]} & en")),
        _with_pin("rst", each(r"out_valid = ([^;]+);", lambda m: f"{m[1]} & !rst")),
        each(r"(?:valid_s\d+|v\d) <= ([^;?]+);", "1'b1", lambda m: f"~{m[1]}", lambda m: f"{m[1]} & ~model_inp[0]"),
    ],
}  # fmt: skip

#: Also the kinds of the combinational logic between registers.
ALL_KINDS: dict[str, list[Rule]] = {**REGISTER_KINDS, **KINDS}
