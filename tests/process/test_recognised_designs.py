"""``--rtl`` recognises what it gets: netlists, bitstreams and wrapped cores; what is ambiguous is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.places import CORPUS

from dais_verif import prove, simulate
from dais_verif.base.errors import DaisError
from dais_verif.doors.cli import main
from dais_verif.verbs.design_options import DesignOptions
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.recognition import recognised

_PROGRAM = CORPUS / "p01_addsub_tiny" / "prog.v1.bin"
_BITS = b"\xff\x00\x00\xff\x7e\xaa\x99\x7e"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("designs")
    (folder / "net").mkdir()
    (folder / "net" / "synth.json").write_text('{"target": "ice40"}')
    (folder / "net" / "netlist.v").write_text("module model; endmodule\n")
    (folder / "built").mkdir()
    (folder / "built" / "build.json").write_text('{"device": "ice40-hx8k-ct256"}')
    (folder / "built" / "model.bin").write_bytes(_BITS)
    (folder / "built" / "pins.pcf").write_text("set_io a A1\n")
    assert main._run(["emit", str(_PROGRAM), "--wrap", "axis", "-o", str(folder / "wrapped")]) == 0
    (folder / "plain.v").write_text("module model; endmodule\n")
    shutil.copytree(folder / "net", folder / "both")
    shutil.copy(folder / "wrapped" / "dais.json", folder / "both")
    return folder


def asked(folder: Path, *names: str) -> DesignRequest:
    return DesignRequest(rtl=tuple(folder / name for name in names))


_WAYS = ("rtl", "netlist", "bitstream", "wrapped")


@pytest.mark.parametrize("way", _WAYS)
def test_four_arguments_accept_the_same_paths(way: str, made: Path) -> None:
    def found(name: str, **more: object) -> DesignRequest:
        design = asked(made, name) if way == "rtl" else DesignRequest()
        paths = {} if way == "rtl" else {way: made / name}
        return recognised(design, DesignOptions(**paths, **more))  # type: ignore[arg-type]

    netlist, bits, wrapped = found("net"), found("built"), found("wrapped")
    assert netlist.netlist == (made / "net" / "netlist.v", "ice40") and not netlist.rtl
    assert bits.bitstream == (made / "built" / "model.bin", made / "built" / "pins.pcf", "ice40-hx8k-ct256", None)
    assert wrapped.wrapped is not None and wrapped.wrapped.folder == made / "wrapped"
    file = found("built/model.bin", pins=made / "built" / "pins.pcf")
    assert file.bitstream == (made / "built" / "model.bin", made / "built" / "pins.pcf", None, None)


def test_files_of_rtl_stay_rtl(made: Path) -> None:
    plain = asked(made, "plain.v", "net/netlist.v")  # a netlist with the vendor's models
    assert recognised(plain, DesignOptions()) == plain
    named = recognised(asked(made, "plain.v"), DesignOptions(target="xilinx"))
    assert named.netlist == (made / "plain.v", "xilinx")


@pytest.mark.parametrize(
    ("names", "more", "says"),
    [
        (("both",), {}, "both"),
        (("net", "wrapped"), {}, "net"),
        (("net/netlist.v",), {}, "{target}"),
        (("plain.v", "net"), {}, "net"),
        (("plain.v", "net/netlist.v"), {"target": "ice40"}, "netlist.v"),
        (("built/model.bin",), {}, "{pins}"),
        (("plain.v",), {"device": "ice40-hx8k-ct256"}, "{device}"),
        ((), {"target": "ice40"}, "{target}"),
        (("wrapped",), {"target": "ice40"}, "{target}"),
        (("net",), {"target": "xilinx"}, "xilinx"),
        (("net",), {"pins": Path("p.pcf")}, "{pins}"),
    ],
)
def test_what_is_ambiguous_or_contradictory_is_refused(
    names: tuple[str, ...], more: dict[str, object], says: str, made: Path
) -> None:
    with pytest.raises(DaisError) as caught:
        recognised(asked(made, *names), DesignOptions(**more))  # type: ignore[arg-type]
    assert says in caught.value.spelled("{{{}}}".format) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["prove"], "wrapped"),
        (["mutate"], "built"),
        (["mutate"], "wrapped"),
        (["shrink", "-o", "small"], "net"),
        (["signoff"], "net"),
        (["signoff"], "built"),
    ],
)
def test_a_verb_refuses_what_it_does_not_take(
    words: list[str], name: str, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main._run([words[0], str(_PROGRAM), *words[1:], "--rtl", str(made / name)]) == 2


def test_the_line_to_copy_has_rtl(made: Path) -> None:
    for name in ("net", "built", "wrapped"):
        words = recognised(asked(made, name), DesignOptions()).words()
        assert "--rtl" in words and not {"--netlist", "--bitstream", "--wrapped"} & set(words)


def test_python_recognises_the_same(made: Path) -> None:
    with pytest.raises(DaisError):
        simulate(_PROGRAM, rtl=[made / "net", made / "wrapped"])
    with pytest.raises(DaisError):
        prove(_PROGRAM, rtl=made / "wrapped")
