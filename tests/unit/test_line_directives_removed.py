"""Only `` `line `` directives are removed from RTL, and nothing else that looks like one."""

from __future__ import annotations

import pytest

from dais_verif.base.line_directives import without_lines


def test_a_directive_becomes_an_empty_line() -> None:
    text = b'a;\n`line 3 "f.v" 0\n  `line 4 "g.v" // from here\nb; // c\r\n`line 5 "h"\r\nend\n'
    assert without_lines(text) == b"a;\n\n// from here\nb; // c\r\n\r\nend\n"


@pytest.mark.parametrize(
    "text",
    [
        b'/* made by a tool\n`line 12 "gen.v" 0 // */ y = x + 2; /*\n*/\n',
        b'/*\n`line 1 "f" 0\n*/ y = 1;\n',
        b'// x\\\n// /* `line 1 "f" 0\n',
        b'z = "\\\n`line 1 \\"f\\" 0\n";\n',
        b'y = 1; `line 1 "f" 0\n',
        b'`line 1 "f" 0 y = 2;\n',
        b"`line x\n",
        # Comments that do not end, and texts that macros make: nothing is known of what follows.
        b'/* a\n`line 1 "f" 0\n',
        b'`define S(x) `"x`"\n`line 1 "f" 0\n',
    ],
)
def test_all_else_stays(text: bytes) -> None:
    assert without_lines(text) == text


def test_names_that_look_like_comments_begin_none() -> None:
    assert without_lines(b'wire \\/*x ;\n`line 1 "f" 0\ny\n') == b"wire \\/*x ;\n\ny\n"
