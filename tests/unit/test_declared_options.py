"""An option is declared once, as a field of a request: a new one costs its declaration and its use."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import dais_verif
from dais_verif.base.errors import RequestError
from dais_verif.doors.api.keywords import PROVE, SIMULATE, ProveOptions, SimulateOptions
from dais_verif.doors.cli.grouped import GroupedCommand
from dais_verif.doors.cli.options.declared import declared_options
from dais_verif.verbs.options import build, declared, from_keywords, option, options, require_options, words_of

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, kw_only=True)
class Inner:
    many: tuple[Path, ...] = option((), "Files.", group="Vectors", name="file")


@dataclass(frozen=True, kw_only=True)
class Toy:
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

    def __post_init__(self) -> None:
        require_options(self)


@pytest.fixture
def toy() -> tuple[click.Command, list[Toy]]:
    made: list[Toy] = []

    @click.command(cls=GroupedCommand)
    @click.argument("program")
    @declared_options(Toy)
    def toy(program: str, **asked: Any) -> None:
        """Play."""
        made.append(build(Toy, asked, program=program))

    return toy, made


WORDS = ["--turns", "5", "--to", "up", "--no-fast", "--quick", "--limit", "2.5", "--file", "a", "--file", "b"]


def test_the_command_line_python_and_words_have_it(toy: tuple[click.Command, list[Toy]]) -> None:
    command, made = toy
    assert CliRunner().invoke(command, ["p", *WORDS, "--seen", "all"]).exit_code == 0
    (request,) = made
    assert (request.turns, request.way, request.fast, request.seen) == (5, "up", False, -1)
    assert request.inner == Inner(many=(Path("a"), Path("b")))
    assert words_of(request) == WORDS
    keywords = {"turns": 5, "ways": "up", "fast": False, "quick": True, "limit": 2.5, "file": ["a", "b"], "seen": -1}
    assert build(Toy, from_keywords(Toy, keywords), program="p") == request
    assert words_of(Toy(program="p")) == []


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


def test_keywords_are_current() -> None:
    spec = importlib.util.spec_from_file_location("keywords_tool", ROOT / "tools/keywords.py")
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    text = Path(tool.PLACE).read_text(encoding="utf-8")
    assert "".join(tool.keywords().split()).replace(",}", "}") == "".join(text.split()).replace(",}", "}"), (
        "make keywords"
    )


def functions() -> list[tuple[Callable[..., Any], type, Any]]:
    return [(dais_verif.simulate, SimulateOptions, SIMULATE), (dais_verif.prove, ProveOptions, PROVE)]


def test_a_signature_has_all_keywords_and_another_one_is_refused() -> None:
    for function, kind, defaults in functions():
        found = inspect.signature(function).parameters
        assert kind.__annotations__.keys() == defaults.keys() <= found.keys()
        assert {name: found[name].default for name in defaults} == dict(defaults)
        assert found["layout"].annotation == "str | None"
        with pytest.raises(TypeError, match="did you mean 'timeout'"):
            function("p.bin", timeouts=3)


def test_no_request_has_an_option_twice() -> None:
    from dais_verif.verbs.design_options import DesignOptions
    from dais_verif.verbs.proof.request import ProveRequest
    from dais_verif.verbs.simulation_request import SimulationRequest

    for request in (SimulationRequest, ProveRequest):
        names = [one.keyword for kind in (DesignOptions, request) for one in declared(kind)]
        assert len(names) == len(set(names))
