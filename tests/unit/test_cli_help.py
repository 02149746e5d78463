"""Help of a verb with many options lists every option once, below a title and with a text."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from dais_verif.doors.cli.main import _VERBS, cli
from dais_verif.doors.cli.verb import GROUPS, GroupedCommand, TwoForms, group_of

#: Up to this number, options need no titles.
FEW = 12
#: The largest number of options in the short help.
MOST = 20
EVERYWHERE = ("--quiet", "--verbose", "--color")
#: What has no default.
REQUIRED = {
    *("approx apply --output", "approx convert --output", "approx measure --data", "approx tune --budget"),
    *("approx tune --data", "approx tune --output", "build --device", "build --output", "hil --target"),
    *("kernel build --output", "run --inputs", "shrink --output", "synth --target"),
}


def command_of(verb: str) -> click.Command:
    name = verb.replace("-", "_")
    found = getattr(importlib.import_module(f"dais_verif.doors.cli.{name}"), name)
    assert isinstance(found, click.Command)
    return found


def options_of(verb: str) -> list[str]:
    return [one.opts[-1] for one in command_of(verb).params if isinstance(one, click.Option)]


def titles_of(verb: str) -> dict[str, str]:
    """Return the options of all forms of ``verb``, and the title of each."""
    command = command_of(verb)
    forms = [command, command.other] if isinstance(command, TwoForms) else [command]
    return {
        one.opts[-1]: group_of(one)
        for form in reversed(forms)
        for one in form.params
        if isinstance(one, click.Option) and not one.hidden
    }


def test_every_option_of_a_grouped_verb_has_a_known_title() -> None:
    for verb in _VERBS:
        if isinstance(command_of(verb), GroupedCommand):
            assert set(titles_of(verb).values()) <= {*GROUPS} - {"Other"}, verb


@pytest.mark.parametrize("verb", _VERBS)
def test_verbs_with_many_options_have_them_in_groups(verb: str) -> None:
    command = command_of(verb)
    assert isinstance(command, GroupedCommand) or len(options_of(verb)) <= FEW


@pytest.mark.parametrize("verb", [verb for verb in _VERBS if isinstance(command_of(verb), GroupedCommand)])
def test_groups_hold_every_option_once(verb: str) -> None:
    text = CliRunner().invoke(cli, [verb, "--help-all"]).output
    sections = dict(re.findall(r"^([A-Z][\w -]*):\n((?:  .*\n|\n)+)", text, re.MULTILINE))
    below = {title: re.findall(r"^  (?:-\w, )?(--[\w-]+)", body, re.MULTILINE) for title, body in sections.items()}
    assert "Options" not in below and below.pop("Other") == ["--help", "--help-all"]
    below = {title: [name for name in names if name not in EVERYWHERE] for title, names in below.items()}
    assert re.search(r"^  (?:PROGRAM|A)$", text, re.MULTILINE) is None, "an argument is no option"
    assert {name: title for title, names in below.items() for name in names} == titles_of(verb)
    assert sum(map(len, below.values())) == len(titles_of(verb))
    assert list(below) == [title for title in GROUPS if title in below]


@pytest.mark.parametrize("verb", _VERBS)
def test_the_short_help_shows_few_options_and_the_other_all(verb: str) -> None:
    for name, command in commands(command_of(verb), verb):
        short, whole = (CliRunner().invoke(cli, [*name.split(), word]) for word in ("--help", "--help-all"))
        if isinstance(command, click.Group):
            continue
        lists = [
            re.split(r"^[A-Z][\w -]*:$", text.output, maxsplit=1, flags=re.MULTILINE)[-1] for text in (short, whole)
        ]
        shown, every = (re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, re.MULTILINE) for text in lists)
        assert (short.exit_code, whole.exit_code) == (0, 0), name
        assert len(shown) <= MOST and set(shown) <= set(every), name
        assert all(one.opts[-1] in shown for one in command.params if isinstance(one, click.Option) and one.required)


def commands(command: click.Command, name: str = "") -> Iterator[tuple[str, click.Command]]:
    yield name, command
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        yield from commands(inner, f"{name} {inner.name}")


def options() -> Iterator[tuple[str, click.Option]]:
    for verb in _VERBS:
        for name, command in commands(command_of(verb), verb):
            yield from ((f"{name} {one.opts[-1]}", one) for one in command.params if isinstance(one, click.Option))


def test_these_options_must_be_given() -> None:
    assert sorted(name for name, option in options() if option.required) == sorted(REQUIRED)


def test_a_seed_of_zero_and_every_default_are_accepted() -> None:
    for name, option in options():
        if isinstance(option.type, click.IntRange) and option.opts[-1] == "--seed":
            assert option.type.convert("0", option, None) == 0, name
        if isinstance(option.default, int | float) and not option.is_flag and not option.multiple:
            assert option.type.convert(option.default, option, None) == option.default, name


def test_every_command_of_approx_is_there() -> None:
    approx = importlib.import_module("dais_verif.doors.cli.approx").approx
    assert sorted(approx.commands) == ["apply", "convert", "measure", "show", "tune"]
