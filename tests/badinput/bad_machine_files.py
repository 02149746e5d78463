"""Damaged machine files, field by field, and the names and numbers that the one-line message of each must have."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from support.machines import NIBBLE, connect, counter, signal, tree

__all__ = ["GOOD", "GOOD_TEXT", "JSON_CASES", "TEXT_CASES", "Damaged", "encoded", "put"]

Path = tuple[str | int, ...]


class Damaged(NamedTuple):
    """A file, and the names and numbers that its one-line message must have; ``tests/recorded`` has its wording."""

    data: bytes
    words: tuple[str, ...]


#: Stands for a deleted value.
MISSING = object()
WORDS = [[True, 3, 0]] * 4


def good() -> dict[str, Any]:
    """Return a machine with a block, a register with a reset, a memory, an enable, an alternative and a schedule."""
    index = signal("i", [[False, 2, 0]], exposed=True)
    mem = signal("mem", WORDS, reg=True, rst_to=[1, 2, 3, -4], view=(0, 1), dynamic=(index, 1), schedule=[[0, 3], 8])
    of = counter(rst_if=signal("rst", exposed=True), rst_to=[5])
    d, w, en = signal("d", WORDS[:1], exposed=True), signal("w", WORDS[:1]), signal("en", exposed=True)
    more = [connect(d, mem, en), connect(mem, w), connect(w, signal("z", WORDS[:1], exposed=True), en, d)]
    return tree(of["fsm"]["logic"], [*of["fsm"]["conns"], *more])


GOOD = good()


def encoded(of: Any) -> bytes:
    return json.dumps(of).encode()


def put(path: Path, value: Any) -> dict[str, Any]:
    """Return ``GOOD`` with another ``value`` at ``path``, or without one if it is ``MISSING``."""
    of: Any = copy.deepcopy(GOOD)
    place = of
    for step in path[:-1]:
        place = place[step]
    if value is MISSING:
        del place[path[-1]]
    else:
        place[path[-1]] = copy.deepcopy(value)
    return dict(of)


#: The reference to register n in the first connection, and to the memory in the fourth.
N: Path = ("fsm", "conns", 0, "src")
MEM: Path = ("fsm", "conns", 3, "dst")
OPS: Path = ("fsm", "logic", "inc", 5)
HUGE = 10**400

#: Per field: its path, wrong values by name, and the names and numbers that the message of each must have.
FIELDS: dict[str, tuple[Path, dict[str, Any], tuple[str, ...]]] = {
    "meta": (("meta",), {"missing": MISSING, "null": None, "of a program": "ALIRModel", "number": 4}, ("ALIRFSM",)),
    "spec_version": (
        ("spec_version",),
        {"missing": MISSING, "3": 3, "5": 5, "text": "4", "true": True, "huge": HUGE, "list": [4]},
        ("spec_version is",),
    ),
    "fsm": (("fsm",), {"missing": MISSING, "list": [], "text": "x"}, ("JSON fsm:",)),
    "logic": (("fsm", "logic"), {"missing": MISSING, "list": [], "number": 3}, ("JSON logic:",)),
    "conns": (("fsm", "conns"), {"missing": MISSING, "object": {}, "null": None}, ("JSON conns:",)),
    "signal_order": (
        ("fsm", "signal_order"),
        {"missing": MISSING, "object": {}, "text": "n"},
        ("JSON signal_order:",),
    ),
    "name in signal_order": (
        ("fsm", "signal_order", 0),
        {"unknown": "nobody", "number": 3, "null": None, "list": ["n"]},
        ("JSON signal_order:",),
    ),
    "port not in signal_order": (
        ("fsm", "signal_order", GOOD["fsm"]["signal_order"].index("y")),
        {"missing": MISSING},
        ("'y' is a port",),
    ),
    "connection": (("fsm", "conns", 0), {"null": None, "list": [], "text": "x"}, ("JSON conns[0]:",)),
    "source": (
        N,
        {"missing": MISSING, "null": None, "object": {}, "text": "n"},
        ("conns[0].src:", "11 parts"),
    ),
    "target": (
        ("fsm", "conns", 0, "dst"),
        {"missing": MISSING, "null": None, "empty": []},
        ("conns[0].dst:", "11 parts"),
    ),
    "enable": (
        ("fsm", "conns", 1, "enable_if"),
        {"true": True, "name": "en"},
        ("conns[1].enable_if:", "11 parts"),
    ),
    "alternative": (
        ("fsm", "conns", 5, "alt_src"),
        {"number": 3, "missing": MISSING},
        ("conns[5].alt_src:", "11 parts"),
    ),
    "name": (
        (*N, 0),
        {"null": None, "number": 3, "empty": "", "long": "n" * 10_000, "two lines": "a\nb", "surrogate": "\ud800"},
        ("conns[0].src:",),
    ),
    "exposed": ((*N, 1), {"null": None, "text": "no", "2": 2, "half": 0.5, "list": []}, ("(n) exposed is",)),
    "types": ((*N, 2), {"null": None, "number": 6, "text": "u6"}, ("(n) types:",)),
    "number of types": ((*N, 2), {"none": [], "two": NIBBLE * 2}, ("n",)),
    "type": (
        (*N, 2, 0),
        {"null": None, "of two": [False, 4], "of four": [False, 4, 0, 0], "text": "u4.0"},
        ("(n) type",),
    ),
    "k": ((*N, 2, 0, 0), {"null": None, "2": 2, "text": "s", "-1": -1}, ("(n) type: k is",)),
    "i": (
        (*N, 2, 0, 1),
        {"null": None, "half": 0.5, "huge": HUGE, "NaN": float("nan"), "text": "4"},
        ("(n) type: i is",),
    ),
    "f": ((*N, 2, 0, 2), {"null": None, "huge": -HUGE, "inf": float("inf"), "list": []}, ("(n) type: f is",)),
    "width": ((*N, 2, 0), {"5000": [False, 5000, 0], "-1": [False, -1, 0]}, ("(n): type", "4096")),
    "reset": ((*N, 3), {"true": True, "name": "rst", "empty": []}, ("(n) rst_if:", "11 parts")),
    "reset of two bits": ((*N, 3, 2), {"wide": [[False, 2, 0]]}, ("rst",)),
    "values": ((*N, 4), {"number": 5, "none": [], "two": [5, 5], "text": "5"}, ("(n) rst_to:",)),
    "value": (
        (*N, 4, 0),
        {"null": None, "text": "5", "true": True, "NaN": float("nan"), "inf": float("inf"), "list": []},
        ("(n) rst_to[0] is",),
    ),
    "value of another type": (
        (*N, 4, 0),
        {"16": 16, "-1": -1, "half": 0.5, "huge": HUGE},
        ("(n) rst_to[0] is", "type u4.0"),
    ),
    "register": ((*N, 5), {"null": None, "text": "yes", "2": 2}, ("(n) reg is",)),
    "no register": ((*N, 5), {"false": False}, ("signal n:", "False", "True")),
    "schedule": (
        (*N, 6),
        {"number": 8, "of one": [[0]], "text": "8", "empty": []},
        ("(n) schedule:",),
    ),
    "toggles": ((*N, 6), {"number": [0, 8], "null": [None, 8]}, ("(n) schedule:",)),
    "toggle": ((*N, 6), {"text": [["0"], 8], "huge": [[HUGE], 8], "NaN": [[float("nan")], 8]}, ("(n) schedule is",)),
    "period": ((*N, 6), {"text": [[0], "8"], "huge": [[0], HUGE], "half": [[0], 0.5]}, ("(n) schedule period is",)),
    "order of toggles": (
        (*N, 6),
        {"falling": [[3, 1], 8], "too far": [[0, 9], 8], "none": [[], 8], "negative": [[0], -8]},
        ("(n):", "8]"),
    ),
    "mode": ((*N, 7), {"null": None, "text": "x", "number": 3, "list": ["r"]}, ("(n)", "'', 'r', 'w' or 'rw'")),
    "attributes": ((*N, 8), {"number": 3, "list": [], "object": {}}, ("(n)",)),
    "view": (
        (*N, 9),
        {"null": None, "of one": [0], "of three": [0, 1, 1], "text": "0"},
        ("(n) view:",),
    ),
    "end of view": ((*N, 9, 1), {"null": None, "half": 0.5, "huge": HUGE, "text": "1"}, ("(n) view is",)),
    "view outside": (
        (*N, 9),
        {"beyond": [0, 2], "negative": [-1, 1], "backwards": [1, 0], "far": [0, 1 << 30]},
        ("(n):", "1 element"),
    ),
    "empty view": ((*N, 9), {"[0, 0]": [0, 0]}, ("n[0:0]", "0 elements", "target 1")),
    "dynamic": (
        (*MEM, 10),
        {"number": 3, "of one": [[]], "text": "i", "true": True},
        ("(mem) dynamic:",),
    ),
    "index": ((*MEM, 10, 0), {"null": None, "number": 3, "empty": []}, ("(mem) index:", "11 parts")),
    "stride": ((*MEM, 10, 1), {"null": None, "half": 0.5, "huge": HUGE, "text": "1"}, ("(mem) stride is",)),
    "size of stride": ((*MEM, 10, 1), {"0": 0, "-1": -1}, ("d[0:1] -> mem[",)),
    "block": (
        ("fsm", "logic", "inc"),
        {"null": None, "object": {}, "of three": [1, 2, 3]},
        ("block 'inc': JSON model",),
    ),
    "shape of block": (
        ("fsm", "logic", "inc", 0),
        {"null": None, "huge": [HUGE, 1], "of one": [1]},
        ("block 'inc': JSON shape",),
    ),
    "inputs of block": (("fsm", "logic", "inc", 0, 0), {"2^31": (1 << 31) - 1, "-1": -1, "0": 0}, ("block 'inc':",)),
    "inp_shift": (("fsm", "logic", "inc", 1, 0), {"1": 1}, ("block inc: input 0 has an inp_shift",)),
    "output of block": (("fsm", "logic", "inc", 2, 0), {"3": 3, "-2": -2, "text": "x"}, ("block 'inc':", "out_idx")),
    "op": ((*OPS, 1), {"null": None, "empty": [], "text": "add"}, ("block 'inc': JSON op 1",)),
    "operand": ((*OPS, 1, 0, 0), {"itself": 1, "-1": -1, "huge": HUGE}, ("block 'inc': JSON op 1", "addr[0]")),
    "opcode": ((*OPS, 1, 1), {"99": 99, "null": None, "-3": -3}, ("block 'inc': JSON op 1",)),
    "interval": (
        (*OPS, 1, 3),
        {"NaN": [0, float("nan"), 1], "backwards": [1, 0, 1], "step 3": [0, 3, 3], "null": None},
        ("block 'inc': JSON op 1",),
    ),
    "type of block's input": ((*OPS, 0, 3), {"narrow": [0, 7, 1]}, ("block inc: INTERNAL_inc_inp[0]", "type u4.0")),
    "notes": (("dais",), {"list": [], "text": "x"}, ("JSON dais:",)),
    "signals in notes": (("dais",), {"number": {"signals": 3}}, ("JSON dais.signals:",)),
    "signal in notes": (("dais",), {"text": {"signals": ["n"]}}, ("JSON dais.signals[0]:", "11 parts")),
}


def _fields() -> Iterator[tuple[str, Damaged]]:
    for field, (path, values, words) in FIELDS.items():
        for what, value in values.items():
            if field == "alternative" and value is MISSING:  # without the alternative, the wire has no value
                words = ("connection w[0:1] -> z[0:1]:",)
            yield f"{field}: {what}", Damaged(encoded(put(path, value)), words)


def _nested(depth: int) -> dict[str, Any]:
    use = signal("r", reg=True, rst_to=[1])
    for _ in range(depth):
        use = signal("r", reg=True, rst_to=[1], rst_if=use)
    return put(N, use)


def _twice(name: bytes) -> bytes:
    """Return ``GOOD`` with the key ``name`` a second time in its object."""
    return encoded(GOOD).replace(b'"%s": ' % name, b'"%s": 0, "%s": ' % (name, name), 1)


TEXT = encoded(GOOD)
PACKED = gzip.compress(TEXT, mtime=0)


def _flipped(at: int) -> bytes:
    return PACKED[:at] + bytes([PACKED[at] ^ 0x55]) + PACKED[at + 1 :]


def _structures() -> dict[str, Damaged]:
    again = copy.deepcopy(GOOD)
    again["fsm"]["conns"].append(again["fsm"]["conns"][2])
    order = copy.deepcopy(GOOD)
    order["fsm"]["signal_order"].append("n")
    foreign = copy.deepcopy(GOOD)
    del foreign["fsm"]["logic"]["inc"]
    return {
        "truncated": Damaged(TEXT[:-40], ("JSON:",)),
        "two of them": Damaged(TEXT + TEXT, ("JSON:", "Extra data")),
        "bytes that are no UTF-8": Damaged(TEXT.replace(b'"en"', b'"e\xff"'), ("JSON:",)),
        "nested deeply": Damaged(b'{"meta": "ALIRFSM", "fsm": ' + b"[" * 100_000, ("JSON:",)),
        "number of 5,000 digits": Damaged(TEXT.replace(b"[5]", b"[" + b"9" * 5000 + b"]"), ("JSON:",)),
        "signals within signals": Damaged(encoded(_nested(30)), ("conns[0].src", "16")),
        "key twice": Damaged(_twice(b"conns"), ("'conns'",)),
        "block twice": Damaged(_twice(b"inc"), ("'inc'",)),
        "source twice": Damaged(_twice(b"src"), ("'src'",)),
        "connection twice": Damaged(encoded(again), ("signal y[0]",)),
        "signal twice in signal_order": Damaged(encoded(order), ("JSON signal_order:",)),
        "wires without their block": Damaged(encoded(foreign), ("INTERNAL_inc_",)),
        "gzip truncated": Damaged(PACKED[:-30], ()),
        "gzip damaged": Damaged(_flipped(60), ("Error -3",)),
        "gzip with another checksum": Damaged(_flipped(len(PACKED) - 6), ("Error -3",)),
        "gzip and more": Damaged(PACKED + b"more", ("4 bytes",)),
        "gzip of much": Damaged(gzip.compress(TEXT[:-1] + b" " * (64 << 20) + b"}", mtime=0), ("16 MiB",)),
    }


JSON_CASES = {**dict(_fields()), **_structures()}

GOOD_TEXT = """machine
input en, rst: u1.0
input i: u2.0
output y: u4.0
register n: u4.0 = 5 reset rst
register mem: s4.0[4] = [1, 2, 3, -4] valid 0, 3 period 8
wire w: s4.0

block inc {
    input x
    a = u4.0 input x
    b = u5.0 a + 1
    c = u4.0 quant(b)
    output y = c
}

inc.x <- n
n <- inc.y when en
y <- n
w <- mem[i]
mem[0:1 + 1*i] <- w when en
"""


def _changed(old: str, new: str) -> bytes:
    assert GOOD_TEXT.count(old) >= 1, old
    return GOOD_TEXT.replace(old, new, 1).encode()


TEXT_CASES = {
    name: Damaged(_changed(old, new), words)
    for name, (old, new, words) in {
        "no type": ("rst: u1.0", "rst:", ("2:15", "expected a type")),
        "no colon": ("rst: u1.0", "rst u1.0", ("2:15", "expected ':'")),
        "signal twice": ("input i:", "input en:", ("3:7", "line 2")),
        "type of 10^9 bits": ("i: u2.0", "i: u1000000000.0", ("3:10", "4096")),
        "type of 5000 bits": ("i: u2.0", "i: u5000.0", ("3:10", "4096")),
        "10^9 elements": ("s4.0[4]", "s4.0[1000000000]", ("6:15", "1048576 elements")),
        "10^20 elements": ("s4.0[4]", "s4.0[100000000000000000000]", ("6:20", "number of elements")),
        "number of 2,000 digits": ("= 5", "= " + "9" * 2000, ("5:20", "2000")),
        "value of another type": ("= 5", "= 16", ("5:20", "type u4.0")),
        "value between steps": ("= 5", "= 5.5", ("5:20", "type u4.0")),
        "too few values": ("[1, 2, 3, -4]", "[1, 2]", ("6:25", "2 values")),
        "too many values": ("-4]", "-4, 5]", ("6:39", "4 elements")),
        "list that never ends": ("-4]", "-4", ("6:", "expected ',' or ']'")),
        "schedule that falls": ("valid 0, 3", "valid 3, 0", ("6:45",)),
        "schedule without period": (" period 8", "", ("6:", "expected 'period'")),
        "negative period": ("period 8", "period -8", ("6:", "expected a number")),
        "reset by nobody": ("reset rst", "reset nobody", ("5:28", "unknown signal 'nobody'")),
        "reset of two bits": ("reset rst", "reset i", ("5:10", "signal n: its reset is i")),
        "wire with a value": ("wire w: s4.0", "wire w: s4.0 = 1", ("7:14", "only a register")),
        "keyword as a name": ("wire w:", "wire when:", ("7:6", "'when'")),
        "name of 1,000 characters": ("wire w:", f"wire {'w' * 1000}:", ("7:6", "255")),
        "block that never ends": ("\n}\n", "\n", ("9:11",)),
        "block twice": ("inc.x <- n", "block inc {\n}\ninc.x <- n", ("17:7", "line 9")),
        "unknown op in a block": ("quant(b)", "quart(b)", ("13:14",)),
        "unknown value in a block": ("a + 1", "z + 1", ("12:14", "unknown value 'z'")),
        "rule for programs in a block": ("a + 1", "a + raw(99999999999999999999)", ("12:",)),
        "file of a block elsewhere": (
            "block inc {",
            'block two = "../x.dais"\nblock inc {',
            ("9:13",),
        ),
        "file of a block that is absolute": (
            "block inc {",
            'block two = "/x.dais"\nblock inc {',
            ("9:13",),
        ),
        "file of a block with NUL": ("block inc {", 'block two = "x\\u0000"\nblock inc {', ("9:13",)),
        "file of a block that is missing": ("block inc {", 'block two = "x.dais"\nblock inc {', ("9:13", "x.dais")),
        "unknown port": ("inc.x", "inc.z", ("17:1", "block inc has no input 'z'")),
        "unknown block": ("inc.x", "dec.x", ("17:1", "unknown block 'dec'")),
        "unknown signal": ("y <- n", "y <- m", ("19:6", "unknown signal 'm'")),
        "element outside": ("y <- n", "y <- n[1]", ("19:6", "elements 1 to 2 of n, which has 1")),
        "stride of 0": ("+ 1*i", "+ 0*i", ("21:1",)),
        "signed index": ("mem[i]", "mem[w]", ("20:1",)),
        "two drivers": ("w <- mem[i]", "w <- mem[i]\nw <- mem[0]", ("21:1",)),
        "no driver": ("w <- mem[i]\n", "", ("7:6", "nothing drives it")),
        "loop": ("inc.x <- n", "inc.x <- inc.y", ("17:1", "inc.out[0:1] -> inc.in[0:1]")),
        "enable of four bits": ("when en", "when n", ("18:1", "its enable is n")),
        "text that never ends": ("wire w:", 'wire "w:', ("7:6", "unexpected character")),
        "escape that is none": ("wire w:", 'wire "\\x":', ("7:6", "JSON")),
        "something behind": ("y <- n", "y <- n n", ("19:8",)),
        "no statement": ("y <- n", "wier z: u1.0", ("19:1", "'wier'", "'wire'?")),
    }.items()
}
TEXT_CASES |= {
    "no UTF-8": Damaged(GOOD_TEXT.encode() + b"; \xff\n", ("22:3", "0xff")),
    "NUL": Damaged(GOOD_TEXT.encode() + b"; \0\n", ("22:3", "0x00")),
}
