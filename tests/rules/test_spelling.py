"""Errors name arguments as in the Python API, and the command line names each by its option."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from string import Formatter
from typing import Any

import click
import pytest
from support.door import save
from support.programs import every_opcode
from support.said import as_recorded
from support.sources import PACKAGE, files, nodes, tree

import dais_verif
from dais_verif.base import errors
from dais_verif.base.errors import Argument, DaisError, InputError, RequestError, ToolError
from dais_verif.doors.cli.common import option_of
from dais_verif.doors.cli.main import cli, main
from dais_verif.doors.cli.verb import TwoForms

EVERY = every_opcode()
ERRORS = {*errors.__all__, "EventError"}

#: An option. Text in backquotes, or in parentheses after the name of a program, is a command, not an argument.
OPTION = re.compile(r"(?<![\w-])--[a-z]")
COMMAND = re.compile(r"`[^`]*`|\([^()]*\b(?:dais-verif|emit|pip|apt-get) [^()]*\)|\(Debian: [^()]*")


#: Packages that only the command line uses.
OF_COMMANDS = {"cli", "html"}


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for path in files():
        if OF_COMMANDS.isdisjoint(path.relative_to(PACKAGE).parts):
            yield path.relative_to(PACKAGE), tree(path)


def written(call: ast.Call) -> str:
    """Return the literal text in the arguments of ``call``, without commands."""
    parts = [node.value for node in ast.walk(call) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return COMMAND.sub("", "".join(parts))


def test_no_error_names_an_option() -> None:
    found = [
        f"{path}:{node.lineno}"
        for path, module in trees()
        for node in nodes(module)
        if isinstance(node, ast.Call)
        and (name := node.func.value if isinstance(node.func, ast.Attribute) else node.func)
        and isinstance(name, ast.Name)
        and name.id in ERRORS
        and OPTION.search(written(node))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("raise InputError(f'{x} is not there; give it with --data')", True),
        ("raise InputError.of('{x}; --data', x=x)", True),
        ("raise InputError('`dais-verif emit --wrap axis` wrote none')", False),
        ("raise InputError('write it again (dais-verif emit --wrap)')", False),
    ],
)
def test_an_option_would_be_found(code: str, expected: bool) -> None:
    (call,) = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call))
    assert bool(OPTION.search(written(call))) is expected


def named() -> dict[str, str]:
    """Return the arguments that errors name, each with one place that names it."""
    found: dict[str, str] = {}
    for path, module in trees():
        for node in nodes(module):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "of":
                if not (isinstance(node.func.value, ast.Name) and node.func.value.id in ERRORS):
                    continue
                values = {word.arg for word in node.keywords}
                for part in ast.walk(node.args[0]):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        used = {name for _, name, _, _ in Formatter().parse(part.value) if name}
                        found |= dict.fromkeys(used - values, f"{path}:{node.lineno}")
    return found


def arguments() -> set[str]:
    """Return the names of the arguments of our public functions, and of the fields of all requests."""
    public = [getattr(dais_verif, name) for name in dais_verif.__all__]
    names = {name for one in public if inspect.isroutine(one) for name in inspect.signature(one).parameters}
    requests = [
        node
        for path, module in trees()
        for node in module.body
        if path.parts[0] == "verbs" and isinstance(node, ast.ClassDef)
    ]
    lines = [line for request in requests for line in request.body]
    return names | {
        line.target.id for line in lines if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)
    }


def test_what_is_named_is_an_argument_and_an_option() -> None:
    commands = [command for name in cli.list_commands(None) if (command := cli.get_command(None, name))]  # type: ignore[arg-type]
    commands += [
        inner for command in commands if isinstance(command, click.Group) for inner in command.commands.values()
    ]
    commands += [command.other for command in commands if isinstance(command, TwoForms)]
    options = {word for command in commands for one in command.params for word in (*one.opts, *one.secondary_opts)}
    options |= {one.human_readable_name for command in commands for one in command.params}
    places = named()
    assert len(places) > 40
    # ``sandbox`` is a setting of the whole process.
    assert places.keys() - arguments() <= {"sandbox"}
    assert {name: place for name, place in places.items() if option_of(name) not in options} == {}


def test_of() -> None:
    inner = ToolError.of("no tool; leave {sandbox} out")
    error = InputError.of(
        "{path!r}: {why} ({name}, {inner}); {max_depth} {value:g}",
        path="a {top} b",
        why="{}",
        name=Argument("user_bits"),
        inner=inner,
        value=2.5,
    )
    for one in (error, pickle.loads(pickle.dumps(error))):
        as_recorded(str(one))
        expected = "'a {top} b': {} (--user-bits, no tool; leave --sandbox out); --max-depth 2.5"
        assert one.spelled(option_of) == expected
    assert InputError("{top} is text").spelled(option_of) == "{top} is text"


Ask = Callable[[Path], Any]

#: A call of a function, the same on a command line, and the message with arguments in braces.
ASKED: dict[str, tuple[Ask, list[str], str]] = {
    "data without RTL": (
        lambda path: dais_verif.simulate(path, data=["x.mem"]),
        ["sim", "PROGRAM", "--data", "x.mem"],
        "{data} {rtl}",
    ),
    "values of parameters without RTL": (
        lambda path: dais_verif.simulate(path, parameters={"W": 4}),
        ["sim", "PROGRAM", "--param", "W=4"],
        "{parameters} {rtl}",
    ),
    "a pin without a clock": (
        lambda path: dais_verif.prove(path, rtl=[path.parent / "model.v"], valid_in="go"),
        ["prove", "PROGRAM", "--rtl", "model.v", "--valid-in", "go"],
        "{valid_in} {clock}",
    ),
    "seeds two ways": (
        lambda path: dais_verif.regress([path], seeds=[1], fresh_seed=True),
        ["regress", "PROGRAM", "--seed", "1", "--fresh-seed"],
        "{seeds} {seed_from} {fresh_seed}",
    ),
    "a part of nothing": (
        lambda path: dais_verif.regress([path], shard=(3, 2)),
        ["regress", "PROGRAM", "--shard", "3/2"],
        "{shard}",
    ),
    "a wrapper's option without one": (
        lambda path: dais_verif.emit(path, user_bits=3),
        ["emit", "PROGRAM", "--user-bits", "3"],
        "{user_bits} {wrap}",
    ),
    "a port of a pipeline without one": (
        lambda path: dais_verif.emit(path, valid=True),
        ["emit", "PROGRAM", "--valid"],
        "{valid} {stages} {max_depth}",
    ),
    "a top that cannot be": (
        lambda path: dais_verif.emit(path, top="module"),
        [],  # click itself refuses it
        "{top}",
    ),
    "another layout": (
        lambda path: dais_verif.check(EVERY, layout="v1"),
        [],
        "{layout} v1",
    ),
}


def in_full(names: str, spell: Callable[[str], str]) -> list[str]:
    return re.sub(r"\{(\w+)\}", lambda found: spell(found[1]), names).split()


@pytest.mark.parametrize("name", ASKED)
def test_functions_and_commands_say_the_same(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask, words, names = ASKED[name]
    path = save(EVERY, tmp_path)
    (tmp_path / "model.v").write_text("module model; endmodule\n")
    with pytest.raises(DaisError) as caught:
        ask(path)
    said = str(caught.value)
    assert all(one in said for one in in_full(names, str)) and not OPTION.search(said), said
    as_recorded(said)
    if words:
        places = {"PROGRAM": str(path), "model.v": str(tmp_path / "model.v")}
        with pytest.raises(SystemExit) as ended:
            main([places.get(word, word) for word in words])
        assert ended.value.code == 2
        said = capsys.readouterr().err
        assert all(one in said for one in in_full(names, option_of)), said
        as_recorded(said)


def test_options_are_those_of_commands() -> None:
    assert option_of("max_depth") == "--max-depth"
    assert isinstance(cli, click.Group) and issubclass(RequestError, InputError)
