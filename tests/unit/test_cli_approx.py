"""``approx``: configurations are shown and converted, by the command and by the functions that it calls."""

from __future__ import annotations

import inspect
import json
import re
import shlex
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import pytest
from support.places import HPVM
from support.said import as_recorded

import dais_verif
from dais_verif.doors.cli import main
from dais_verif.doors.cli.approx import approx as command
from dais_verif.record.approximation import ConfigurationsRecord

ROOT = Path(__file__).parents[2]
LENET, RESNET = HPVM / "lenet_mnist.txt", HPVM / "resnet18_cifar10.txt"
BARE = b"+++++\nc 1.50 1 90 0 7\n1  gpu conv 124 add 12\n\n-----\n"
OTHER = b"+++++\nd 2 1 90 0\n1 gpu mul 11\n3 gpu add 11\n-----\n"


def asked(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> tuple[str, str]:
    assert main._run(list(map(str, words))) == code
    found = capsys.readouterr()
    return found.out, found.err


def test_a_table_for_people(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    out, err = asked(capsys, "approx", "show", LENET)
    lines = [line.rstrip() for line in out.splitlines()]
    assert lines[0].split() == ["name", "speed-up", "energy", "accuracy", "loss", "curve", "half", "node:knob"]
    rows = {line.split()[0]: " ".join(line.split()) for line in lines[1:] if line.startswith("conf")}
    assert len(rows) == 51
    assert rows["conf17"] == "conf17 2.22x 2.45 98.62 0.08 yes 14/15 1:264 2:262"
    assert sum("yes" in row for row in rows.values()) == 3
    assert "knob 264  skips 1 filter element of 3 from 1 on, half precision" in lines
    as_recorded(lines[-2:])
    as_recorded(err.splitlines())


def test_a_narrow_terminal_cuts_no_number(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def told(columns: int) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(columns))
        return asked(capsys, "approx", "show", RESNET, "--pareto")[0].split()

    assert sorted(told(40)) == sorted(told(80)) == sorted(told(200))


def test_only_the_curve(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = asked(capsys, "approx", "show", RESNET, "--pareto")
    names = [line.split()[0] for line in out.splitlines() if line.startswith("conf")]
    assert names == json.loads((HPVM / "pareto.json").read_text())["pareto"][RESNET.name]
    as_recorded(out.rstrip())


def test_one_of_them_node_by_node(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = asked(capsys, "approx", "show", LENET, "--config", "conf3")
    lines = [line.rstrip() for line in out.splitlines()]
    assert [line.split()[0] for line in lines if line.startswith("conf")] == ["conf3"]
    assert lines[3] == "node 1    gpu  conv perf_fp16 152, add fp16 1, tanh fp16 12, pool_max fp16 12"
    as_recorded(lines[-1])
    assert sum(line.startswith("node ") for line in lines) == 5
    assert dais_verif.show_configurations(LENET, config="conf3").configurations[0].name == "conf3"


def test_json_is_the_record_of_the_function(capsys: pytest.CaptureFixture[str]) -> None:
    for words, record in (
        (["--pareto"], dais_verif.show_configurations(LENET, pareto=True)),
        ([], dais_verif.show_configurations(str(LENET))),
    ):
        out, _ = asked(capsys, "approx", "show", LENET, "--json", *words)
        said = ConfigurationsRecord.from_json(out)
        again = ConfigurationsRecord.from_json(record.to_json())
        assert again == record
        assert said == type(said)(**{**vars(record), "reproduce": said.reproduce})
    one = record.configurations[2]
    assert (one.name, one.line, one.on_curve, one.n_half, one.n_ops) == ("conf3", 19, True, 14, 15)
    assert [(node, op.knob, op.skips) for node, op in one.skipping] == [(1, 152, "columns"), (2, 262, "filter")]
    assert record.total == 51 and record.baseline == 282.5141369999999 and record.output is None


def test_it_is_as_the_schema_has_it(capsys: pytest.CaptureFixture[str]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(asked(capsys, "schema", "configurations")[0])
    tree = json.loads(asked(capsys, "approx", "show", LENET, "--json")[0])
    jsonschema.validate(tree, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**tree, "curve": 3}, schema)


def test_a_page_with_a_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "confs.html"
    asked(capsys, "approx", "show", LENET, "--html", page)
    text = page.read_text()
    assert text.count("<circle") == 51 and text.count('class="kept"') == 3
    path = re.search(r'class="trend" d="([^"]*)"', text)
    assert path is not None and path[1].split().count("M52.0") == 1 and path[1].count("L") == 2
    assert "<title>conf17: 2.217x at a loss of 0.08</title>" in text
    page.write_text("mine")
    _, err = asked(capsys, "approx", "show", LENET, "--html", page, code=2)
    as_recorded(err)
    assert page.read_text() == "mine"


def test_a_plot_of_anything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The plot works for a single point, for equal points, and for numbers near the limits of float64."""
    huge = "+++++\n{} {} 1 {} {}\n1 gpu conv 11\n-----\n"
    for rows in ([("a", "1", "0", "0")], [("a", "1e308", "1e308", "-1e308"), ("b", "1e-308", "-1.7e308", "1.7e308")]):
        (tmp_path / "c.txt").write_text("".join(huge.format(*row) for row in rows))
        asked(capsys, "approx", "show", tmp_path / "c.txt", "--html", tmp_path / "c.html")
        found = re.findall(r'<circle cx="([^"]*)" cy="([^"]*)"', (tmp_path / "c.html").read_text())
        assert len(found) == len(rows)
        assert all(52 <= float(x) <= 624 and 16 <= float(y) <= 240 for x, y in found), found


def test_what_files_hold_is_printed_safely(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.txt").write_text("+++++\n<img/src=x>[red] 1 1 0 0\n1 gpu conv 11\n-----\n")
    out, _ = asked(capsys, "approx", "show", tmp_path / "c.txt", "--html", tmp_path / "c.html")
    assert "<img/src=x>[red]" in out and "<img" not in (tmp_path / "c.html").read_text()


def test_the_form_of_the_tuner(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bare.txt").write_bytes(BARE)
    out, err = asked(capsys, "approx", "convert", tmp_path / "bare.txt", "-o", tmp_path / "out.txt")
    as_recorded(err)
    assert out == ""
    made = b"0.0\n+++++\nc 1.50 1 90 0 7\n1 gpu conv perf 124 add fp16 12\n-----\n"
    assert (tmp_path / "out.txt").read_bytes() == made
    record = dais_verif.convert_configurations(tmp_path / "out.txt", tmp_path / "again.txt")
    assert (tmp_path / "again.txt").read_bytes() == made
    as_recorded(record.message)
    assert record.changes == []
    assert record.output == str(tmp_path / "again.txt")


@pytest.mark.parametrize("name", ["example", "honk_best", "lenet_mnist", "vgg16_cifar10"])
def test_what_is_in_that_form_stays_byte_for_byte(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = HPVM / f"{name}.txt"
    out, _ = asked(capsys, "approx", "convert", path, "-o", tmp_path / "out.txt", "--json")
    assert json.loads(out)["changes"] == []
    assert (tmp_path / "out.txt").read_bytes() == path.read_bytes()


def test_a_table_of_knobs_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = (HPVM / "global_knobs.txt").read_text() + "perf,170\t1,5,4\t1.25\ttensorConvolution\tx\tdev\tconv\n"
    (tmp_path / "knobs.txt").write_text(table)
    (tmp_path / "c.txt").write_text("0.0\n+++++\nc 1 1 0 0\n1 gpu conv perf 170\n-----\n")
    _, err = asked(capsys, "approx", "show", tmp_path / "c.txt", code=2)
    as_recorded(err)
    words = ["approx", "show", tmp_path / "c.txt", "--knobs", tmp_path / "knobs.txt"]
    assert "skips 1 column of 5 from 4 on" in asked(capsys, *words)[0]


def test_what_no_network_has_is_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for data, words in (
        (b"+++++\nc 1 1 90 0\n1 gpu conv 11\n-----\n" + OTHER, "line 6: 'd'"),
        (OTHER, "line 3: "),
    ):
        (tmp_path / "c.txt").write_bytes(data)
        said = asked(capsys, "approx", "show", tmp_path / "c.txt")[1]
        assert words in said
        as_recorded(said)


#: Arguments after ``approx``, and words of the one-line error.
WRONG = {
    "nowhere": ("show nowhere.txt", "cannot read configurations 'nowhere.txt'"),
    "folder": ("show .", "cannot read configurations '.'"),
    "damaged": ("show bad.txt", "'bad.txt', line 4, token 'convolve': unknown operation"),
    "strict": ("show odd.txt --strict", "'odd.txt', line 4, token '11': fp16"),
    "knobs": ("show odd.txt --knobs odd.txt", "'odd.txt', line 1: parameters (column 2) is missing"),
    "no-knobs": ("show odd.txt --knobs nowhere.txt", "knobs 'nowhere.txt'"),
    "onto-itself": ("convert odd.txt -o odd.txt", "--output 'odd.txt'"),
    "onto-knobs": ("convert odd.txt --knobs bad.txt -o bad.txt", "--knobs 'bad.txt'"),
    "no-output": ("convert odd.txt", "Missing option '-o'"),
    "no-folder": ("convert good.txt -o nowhere/out.txt", "'nowhere/out.txt'"),
    "no-config": ("show odd.txt --strict --config d", "token '11'"),
    "no-such-config": ("show good.txt --config d", "'good.txt'"),
    "config-and-curve": ("show good.txt --config c --pareto", "--config names"),
    "no-verb": ("tell odd.txt", "No such command 'tell'"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_what_is_wrong_is_one_line(
    name: str, as_json: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words, says = WRONG[name]
    monkeypatch.chdir(tmp_path)
    odd = b"0.0\n+++++\nc 1 1 90 0\n1 gpu conv fp16 11\n-----\n"
    Path("odd.txt").write_bytes(odd)
    Path("good.txt").write_bytes(odd.replace(b"11", b"12"))
    Path("bad.txt").write_bytes((HPVM / "bad" / "unknown_op.txt").read_bytes())
    out, err = asked(capsys, "approx", *words.split(), *(["--json"] if as_json else []), code=2)
    assert err.count("\n") == 1 and err.startswith("dais-verif: INVALID_INPUT: ") and says in err
    as_recorded(err)
    assert (json.loads(out)["message"] in err) if as_json else out == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.txt", "good.txt", "odd.txt"]
    assert Path("odd.txt").read_bytes() == odd


def test_the_line_to_copy_asks_for_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    knobs = HPVM / "global_knobs.txt"
    shown = dais_verif.show_configurations(LENET, pareto=True, knobs=knobs)
    made = dais_verif.convert_configurations(LENET, tmp_path / "an out.txt", knobs=knobs)
    for record in (shown, made):
        _, *words = shlex.split(record.reproduce)
        out, _ = asked(capsys, *words, "--json")
        again = ConfigurationsRecord.from_json(out)
        assert (again.message, again.configurations, again.output) == (
            record.message,
            record.configurations,
            record.output,
        )


@pytest.mark.parametrize(
    ("function", "request_type", "verb"),
    [
        (dais_verif.show_configurations, dais_verif.ShowConfigurationsRequest, "show"),
        (dais_verif.convert_configurations, dais_verif.ConvertConfigurationsRequest, "convert"),
    ],
)
def test_function_request_and_verb_have_the_same_arguments(
    function: Callable[..., Any], request_type: type, verb: str
) -> None:
    named = set(inspect.signature(function).parameters) - {"progress"}
    assert named == {field.name for field in fields(request_type)} - {"command"}
    options = command.get_command(click.Context(command), verb)
    assert options is not None and named == {option.name for option in options.params} - {"as_json", "html"}


def test_functions_refuse_other_types() -> None:
    for wrong in ({"configurations": 3}, {"configurations": None}, {"pareto": "yes"}, {"knobs": b"k"}):
        with pytest.raises(dais_verif.RequestError):
            dais_verif.show_configurations(**{"configurations": LENET, **wrong})  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_page_shows_what_is_printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The outputs shown in ``docs/approximation.md`` are those that its commands print."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    page = (ROOT / "docs" / "approximation.md").read_text(encoding="utf-8")
    found = re.findall(r"^    \$ dais-verif (.*)\n((?:(?:    .*)?\n)*)", page, re.MULTILINE)
    assert len(found) == 2
    for words, shown in found:
        main._run(shlex.split(words))
        printed = capsys.readouterr()
        text = printed.out or printed.err
        expected = [line[4:] for line in shown.rstrip().splitlines()]
        assert [line.rstrip() for line in text.rstrip().splitlines()] == expected
