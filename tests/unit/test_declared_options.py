"""An option is declared once, as a field of a request: a new one costs its declaration and its use."""

from __future__ import annotations

import importlib.util
import inspect
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import click
import pytest
from click.testing import CliRunner

import dais_verif
from dais_verif.base.errors import RequestError
from dais_verif.doors.cli.declared import requested
from dais_verif.doors.cli.verb import GroupedCommand
from dais_verif.verbs.options import (
    Declared,
    Request,
    declared,
    from_keywords,
    keywords_of,
    option,
    options,
    require_usable,
    words_for,
)

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, kw_only=True)
class Inner:
    many: tuple[Path, ...] = option((), "Files.", group="Vectors", name="file")


@dataclass(frozen=True, kw_only=True)
class Toy(Request):
    verb: ClassVar[str] = "toy"

    program: str
    turns: int = option(3, "How often.", group="Vectors", least=0, most=9)
    way: str | None = option(None, "Which way.", group="Vectors", name="to", keyword="ways", choices=("up", "down"))
    fast: bool = option(True, "Whether fast.", group="Limits", rare=True)
    quick: bool = option(False, "Whether quick.", group="Limits")
    limit: float | None = option(None, "Seconds.", group="Limits", positive=True)
    inner: Inner = options(Inner)
    seen: int | None = option(
        None, "All or some.", group="Vectors", parse=lambda text: -1 if text == "all" else int(text), told=False
    )


@pytest.fixture
def toy() -> tuple[click.Command, list[Toy]]:
    made: list[Toy] = []

    @click.command(cls=GroupedCommand)
    @click.argument("program")
    @requested(Toy)
    def toy(request: Toy) -> None:
        """Play."""
        made.append(request)

    return toy, made


WORDS = ["--turns", "5", "--to", "up", "--no-fast", "--quick", "--limit", "2.5", "--file", "a", "--file", "b"]


def test_the_command_line_python_and_words_have_it(toy: tuple[click.Command, list[Toy]]) -> None:
    command, made = toy
    assert CliRunner().invoke(command, ["p", *WORDS, "--seen", "all"]).exit_code == 0
    (request,) = made
    assert (request.turns, request.way, request.fast, request.seen) == (5, "up", False, -1)
    assert request.inner == Inner(many=(Path("a"), Path("b")))
    assert request.words() == ["toy", "p", *WORDS]
    keywords = {"turns": 5, "ways": "up", "fast": False, "quick": True, "limit": 2.5, "file": ["a", "b"], "seen": -1}
    assert replace(request, command=None) == from_keywords(Toy, {"program": "p", **keywords})
    assert Toy(program="p").words() == ["toy", "p"]
    # The same in a manifest, whose keys are the keywords of Python.
    assert keywords_of(Toy, [*WORDS, "--seen=all"]) == keywords
    assert words_for(Toy, keywords) == WORDS


def test_the_help_has_its_group_and_default(toy: tuple[click.Command, list[Toy]]) -> None:
    short, whole = (CliRunner().invoke(toy[0], [word]).output for word in ("--help", "--help-all"))
    assert "--fast / --no-fast" in whole and "--fast" not in short
    vectors = whole.partition("Vectors:")[2].partition("Limits:")[0]
    assert "--turns" in vectors and "default: 3" in vectors and "[up|down]" in vectors


@pytest.mark.parametrize(
    ("wrong", "name"),
    [({"turns": 10}, "turns"), ({"turns": True}, "turns"), ({"way": "left"}, "ways"), ({"limit": 0.0}, "limit")],
)
def test_its_range_and_choices_are_checked(wrong: dict[str, Any], name: str) -> None:
    with pytest.raises(RequestError, match=name):
        Toy(program="p", **wrong)


@pytest.mark.parametrize("words", [["--no-such", "3"], ["--turns"], ["--turns", "x"], ["--turns", "10"], ["--quick=1"]])
def test_words_that_are_no_options_are_refused(words: list[str]) -> None:
    with pytest.raises(RequestError):
        keywords_of(Toy, words)


def a_value(one: Declared) -> Any:
    """Return a value of an option, as Python gives it, that is not the default."""
    if one.option.choices:
        value: Any = next(choice for choice in one.option.choices if choice != one.value)
    else:
        numbers = {"int": max(one.option.least or 0, 7), "float": 0.5, "bool": not one.value}
        named = {
            "parameters": {"W": "8"},
            "latency": 3,
            "shard": (2, 5),
            "verify_time": datetime(2027, 1, 31, tzinfo=UTC),
        }
        value = named.get(one.keyword, numbers.get(one.type, 4 if one.type == "tuple[int, ...]" else "a"))
    many = one.type.endswith(", ...]") and not isinstance(value, dict)
    return [value] if many else value


def test_every_option_is_the_same_in_words_and_in_python() -> None:
    """What a command line, Python, and a manifest say of an option is read as one value."""
    counted = sum(not function.listed() for function in functions().values())  # which loads all requests
    for request in [one for one in Request.__subclasses__() if one.__module__.startswith("dais_verif.")]:
        for one in declared(request):
            value = a_value(one)
            require_usable(one, value)
            words = words_for(request, {one.keyword: value})
            assert (words == []) == (not one.option.told), (request, one.keyword)
            if words:
                again = keywords_of(request, words)
                assert words_for(request, again) == words, (request, one.keyword)
                counted += 1
    assert counted > 200


def test_keywords_are_current() -> None:
    spec = importlib.util.spec_from_file_location("keywords_tool", ROOT / "tools/keywords.py")
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    text = Path(tool.PLACE).read_text(encoding="utf-8")
    assert "".join(tool.keywords().split()).replace(",}", "}") == "".join(text.split()).replace(",}", "}"), (
        "make keywords"
    )


def functions() -> dict[str, Any]:
    found = {name: getattr(dais_verif, name) for name in dais_verif.__all__}
    return {name: one for name, one in found.items() if inspect.isfunction(one) and hasattr(one, "listed")}


def test_a_signature_has_all_keywords_and_another_one_is_refused() -> None:
    assert len(functions()) >= 18
    for name, function in functions().items():
        found = inspect.signature(function).parameters
        names = [one.keyword for one in function.listed()]
        assert set(names) <= found.keys() and len(names) == len(set(names)), name
        assert list(found)[-1] == "progress"
        with pytest.raises(TypeError, match="did you mean 'progress'"):
            function(progresses=3)
    found = inspect.signature(dais_verif.simulate).parameters
    assert found["layout"].annotation == "str | None" and found["exhaustive_bits"].default == 24
    assert inspect.signature(dais_verif.simulate).replace().parameters == found


def test_no_request_has_an_option_twice() -> None:
    for request in Request.__subclasses__():
        names = [one.keyword for one in declared(request)]
        assert len(names) == len(set(names)), request
