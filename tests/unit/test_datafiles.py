"""Data files that RTL reads in the folder of a run: which files these are, and that the run only gets copies."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.said import raises

from dais_verif.base.errors import InputError
from dais_verif.base.toolchain.rtl_files import DataFile, copy_into, data_files, mentioned, never_read


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create src/ and another working directory; return their parent."""
    (tmp_path / "src").mkdir()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return tmp_path


def source(folder: Path, *names: str) -> Path:
    path = folder / "src" / "model.v"
    path.write_text("".join(f'initial $readmemh("{name}", rom);\n' for name in names))
    return path


def file(folder: Path, place: str, text: str = "0\n") -> Path:
    path = folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_names_are_strings_that_end_as_such_files_do(folder: Path) -> None:
    (folder / "src" / "a.v").write_text(
        '#(.MEM("a b.mem"), .STYLE("block"), .X("in/b.HEX")) // "c.dat"\n$dumpfile("w.vcd"); x("");'
    )
    assert mentioned([folder / "src" / "a.v"]) == ["a b.mem", "in/b.HEX"]


def test_names_in_comments_are_none(folder: Path) -> None:
    texts = {
        "a.v": '// x "a.mem" \n/* "b.mem"\n*/ x("//.mem", "c.mem"); /* "d.mem"',
        "a.vhd": '-- "a.mem"\nx("--.mem");',
    }
    found = {}
    for name, text in texts.items():
        (folder / "src" / name).write_text(text)
        found[name] = mentioned([folder / "src" / name])
    assert found == {"a.v": ["//.mem", "c.mem"], "a.vhd": ["--.mem"]}


@pytest.mark.parametrize("place", ["src/a.mem", "src/memfiles/a.mem", "elsewhere/a.mem"])
def test_where_they_are_looked_for(folder: Path, place: str) -> None:
    path = file(folder, place)
    assert data_files([source(folder, "a.mem")]) == (DataFile("a.mem", path),)


@pytest.mark.parametrize("place", ["a.mem", "src/deep/er/a.mem", "src/b.mem"])
def test_where_they_are_not(folder: Path, place: str) -> None:
    file(folder, place)
    assert data_files([source(folder, "a.mem")]) == ()


def test_a_name_with_folders(folder: Path) -> None:
    path = file(folder, "src/tables/a.mem")
    files = data_files([source(folder, "tables/a.mem", "../a.mem")])
    assert files == (DataFile("tables/a.mem", path),)
    copy_into(folder / "run", files)
    assert (folder / "run" / "tables" / "a.mem").read_text() == "0\n"


def test_an_absolute_path_stays_where_it_is(folder: Path) -> None:
    path = file(folder, "any/a.mem")
    files = data_files([source(folder, str(path))])
    assert files == (DataFile(str(path), path),)
    copy_into(folder / "run", files)
    assert not (folder / "run").exists()


def test_what_is_given_goes_before_what_is_found(folder: Path) -> None:
    file(folder, "src/a.mem", "found")
    given = file(folder, "given/a.mem", "given")
    assert data_files([source(folder, "a.mem")], [given]) == (DataFile("a.mem", given),)
    # All files of a given folder are taken, mentioned or not.
    more = file(folder, "given/b")
    assert data_files([source(folder)], [given.parent]) == (DataFile("a.mem", given), DataFile("b", more))


def test_two_that_may_be_meant(folder: Path) -> None:
    one = file(folder, "src/a.mem")
    file(folder, "src/old/a.mem")
    assert data_files([source(folder, "a.mem")]) == (DataFile("a.mem", one),)  # equal content, so either will do
    file(folder, "src/old/a.mem", "1\n")
    with raises(InputError):
        data_files([source(folder, "a.mem")])


def test_one_that_does_not_exist(folder: Path) -> None:
    with raises(InputError):
        data_files([], [Path("x.mem")])


def test_a_run_that_writes_does_not_write_into_the_users_file(folder: Path) -> None:
    path = file(folder, "src/a.mem")
    copy_into(folder / "run", data_files([source(folder, "a.mem")]))
    (folder / "run" / "a.mem").write_text("changed")
    assert path.read_text() == "0\n"


MODULE = 'module t #(parameter W = 8, parameter MEM = "any.mem"); initial $readmemh(MEM, r); endmodule'
ENTITY = 'entity t is generic (MEM : string := "any.mem"); end; '


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (f'{MODULE} t #(.MEM("x.mem")) u();', {"any.mem"}),
        (f'{MODULE} t #(8, "x.mem") u(); t #(8, "y.mem") v();', {"any.mem"}),
        (f'{ENTITY} u : entity work.t generic map (mem => "x.mem") port map ();', {"any.mem"}),
        # No instance; an instance that sets nothing, another parameter, or the default; another use of the name.
        (MODULE, set()),
        (f'{MODULE} t u(); t #(.MEM("x.mem")) v();', set()),
        (f'{MODULE} t #(.MEN("x.mem")) u();', set()),
        (f"{MODULE} t #(8) u();", set()),
        (f'{MODULE} t #(8, "any.mem") u();', set()),
        (f'{MODULE} t #(.MEM("x.mem")) u(); initial $readmemh("any.mem", r);', set()),
    ],
)
def test_defaults_that_nobody_uses_are_never_read(text: str, names: set[str], folder: Path) -> None:
    (folder / "src" / "a.v").write_text(text)
    assert never_read([folder / "src" / "a.v"]) == names
