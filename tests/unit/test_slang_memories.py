"""Memory files: addresses, comments, words that do not fit, and files that are not memory files."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.reading import elaborated, term_of
from support.said import raises

from dais_verif.base.errors import InputError
from dais_verif.prover.netlist import Netlist
from dais_verif.prover.terms import Term, const, rebuild, var
from dais_verif.prover.terms.evaluate import evaluate

MODULE = """module dut (input [2:0] i, output [4:0] y);
  reg [4:0] t [1:6];
  initial {call}("words", t);
  assign y = t[i];
endmodule
"""


def read(content: bytes, folder: Path, call: str = "$readmemh") -> Netlist:
    (folder / "words").write_bytes(content)
    netlist = elaborated(MODULE.format(call=call), folder, "slang", words=folder / "words")
    term_of(netlist, "y")
    return netlist


def words(content: bytes, folder: Path, call: str = "$readmemh") -> list[int | None]:
    """Return the words of the memory, with None for each word that is not known."""
    term = term_of(read(content, folder, call), "y")
    return [_value(rebuild(term, {var(3, "i"): const(3, i)})) for i in range(1, 7)]


def _value(term: Term) -> int | None:
    return int(evaluate([term], {})[0][0]) if term.op == "const" else None


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"1 2 3\n4 5\n6", [1, 2, 3, 4, 5, 6]),
        (b"1f 0_a", [31, 10, None, None, None, None]),
        (b"@3 7 // 8 9\n@5 A b", [None, None, 7, None, 10, 11]),
        (b"7 // to the end\n8", [7, 8, None, None, None, None]),
        (b"1 x 3 Z 5 1X", [1, None, 3, None, 5, None]),
        (b"ff 20 3f", [31, 0, 31, None, None, None]),
        (b"@2 1 @2 9", [None, 9, None, None, None, None]),
        (b"", [None] * 6),
    ],
)
def test_words(content: bytes, found: list[int | None], tmp_path: Path) -> None:
    assert words(content, tmp_path) == found


def test_binary_words(tmp_path: Path) -> None:
    assert words(b"101 1_1 0x 111111", tmp_path, "$readmemb") == [5, 3, None, 31, None, None]


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"1 2 3 4 5 6 7", "index 7,"),
        (b"@0 1", "index 0,"),
        (b"@7 1", "index 7,"),
        (b"1 g", "'g'"),
        (b"@zz 1", "'zz'"),
        (b"1 \xff", "words"),
    ],
)
def test_what_is_no_file_of_words(content: bytes, place: str, tmp_path: Path) -> None:
    with raises(InputError) as error:
        read(content, tmp_path)
    assert place in str(error.value)


def test_a_folder_in_the_place_of_a_file(tmp_path: Path) -> None:
    with raises(InputError):
        elaborated(MODULE.format(call="$readmemh"), tmp_path, "slang", words=tmp_path)


def test_a_file_that_nobody_gave(tmp_path: Path) -> None:
    with raises(InputError):
        elaborated(MODULE.format(call="$readmemh"), tmp_path, "slang")
