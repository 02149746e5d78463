"""`` `line `` directives in RTL name nothing: messages name the given file and its own line, and no other is opened."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from prove.reading import LIMITS

from dais_verif.base.errors import DaisError
from dais_verif.base.line_directives import without_lines
from dais_verif.base.toolchain import tools
from dais_verif.base.toolchain.private_files import read
from dais_verif.hardware.synthesis.elaboration import elaborated
from dais_verif.prover import slang
from dais_verif.simulation.simulators import icarus, verilator

_RIGHT = """\
`line 700 "generated.vpp" 0
module model(input [3:0] model_inp, output reg [3:0] model_out);
always @* begin
  model_out = ~model_inp;
end
`include "more.vh"
endmodule
"""
#: What is wrong, and its line.
_WRONG = {"~model_imp": 4, "~model_inp\n": 4, "#1 ~model_inp": 4}


def test_only_whole_lines_are_directives() -> None:
    text = b'`line 7 "a.vpp" 0\r\n  `line 8 "b" // x\n// `line 9 "c" 0\ninitial $display("`line 1");\n`line 3\n'
    kept = b'\r\n// x\n// `line 9 "c" 0\ninitial $display("`line 1");\n`line 3\n'
    assert without_lines(text) == kept and text.count(b"\n") == kept.count(b"\n")


def test_no_message_names_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "model.v"
    (tmp_path / "more.vh").write_text("")
    for old, line in _WRONG.items():
        source.write_text(_RIGHT.replace("~model_inp;" if "\n" in old else "~model_inp", old))
        said = []
        for number, use in enumerate(
            (
                lambda folder: slang.elaborate([source], "model", {}),
                lambda folder: elaborated([source], "model", [], folder, LIMITS),
                lambda folder: icarus.build([source], "model", folder),
            )
        ):
            try:
                use(tmp_path / f"{line}_{number}")
            except DaisError as error:
                said.append(str(error))
        assert said and all("generated" not in text for text in said)
        assert f"model.v:{line}" in said[0]


def test_right_rtl_is_read_and_built(tmp_path: Path) -> None:
    source, more = tmp_path / "model.v", tmp_path / "more.vh"
    source.write_text(_RIGHT)
    more.write_text('`line 9 "generated.vpp" 0\nwire unused = model_inp[0];\n')
    assert b"generated" not in read(source)
    assert slang.elaborate([source], "model", {}).included == (more,)
    for simulator in (icarus, verilator):
        assert simulator.build([source], "model", tmp_path / simulator.__name__).also_read == (more,)


#: Pieces of texts in which a directive may stand in code, in a comment or in a string.
_PIECES = [
    "a",
    "b;",
    "// c",
    "/* d",
    "*/",
    '"s"',
    '"',
    '"t\\"u"',
    "\\e ",
    "\\/*x ",
    "/**/",
    "`M",
    "`define M x",
    "\\\n",
    "\r\n",
    "\n",
]
_PIECES += ['`line 3 "f.v" 0', '  `line 4 "g.v" 1', '`line 5 "h" 2 // k', '`line 6 "i" 0 // */ y; /*']


def test_tools_read_the_same_code_without_directives(tmp_path: Path) -> None:
    """Verilator's preprocessor, which leaves out comments and directives, is the judge."""
    source, compared = tmp_path / "text.v", 0

    def read(text: bytes) -> bytes | None:
        source.write_bytes(text)
        found = tools.verilator()
        done = subprocess.run([*found.driver[-1:], "-E", "-P", str(source)], env=found.env, capture_output=True)
        return None if done.returncode else b" ".join(done.stdout.split())

    for seed in range(400):
        rng = random.Random(seed)
        pieces = [rng.choice(_PIECES) + rng.choice(["", " ", "\n", "\n"]) for _ in range(rng.randint(3, 14))]
        text = "".join(pieces).encode()
        kept = without_lines(text)
        if kept != text:
            before = read(text)
            assert read(kept) == before, (seed, text)
            compared += before is not None
    assert compared > 20
