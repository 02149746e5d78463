"""A verb of the command line, its options and its help.

Outputs never overwrite inputs, and are checked to be writable before the work begins.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from dais_verif.base.errors import DaisError, FileError
from dais_verif.base.files import require_writable, require_writable_folder
from dais_verif.base.packages import require_package
from dais_verif.doors.cli.defaults import read_defaults
from dais_verif.report.spoken import COLORS, speak
from dais_verif.verbs.overwrite_guard import require_form, require_other_file

__all__ = [
    "GROUPS",
    "FiniteRange",
    "GroupedCommand",
    "Option",
    "OutputPath",
    "TwoForms",
    "Verb",
    "group_of",
    "help_records",
    "is_rare",
]

#: Titles of groups of options, in the order of the help.
GROUPS = (
    *("Program", "Design", "Clocks and pipelines", "Wrapper", "Synthesis", "Vectors", "Simulators", "Fuzzing"),
    *("Diagnosis", "Mutation", "Proof", "Sign-off", "Certificate", "Profile", "Runs", "Limits", "Output", "Other"),
)


#: 30 years in seconds, since integer counters and waits may not accept larger numbers.
_LARGEST = 1e9


class OutputPath(click.Path):
    """The path of a file that a verb writes. ``begins``: the first bytes that an existing file must have.

    ``needs``: the module required to write the file. ``folder``: the path is a folder; None: other options decide.
    """

    def __init__(self, begins: bytes = b"", needs: str = "", folder: bool | None = False) -> None:
        super().__init__(path_type=Path)
        self.begins, self.needs, self.folder = begins, needs, folder

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path. Raises ``ModuleNotFoundError`` if the required module is not installed."""
        if self.needs:
            require_package(self.needs)
        return super().convert(value, param, ctx)


class FiniteRange(click.FloatRange):
    """A range of finite numbers. ``FloatRange`` also accepts NaN, which is neither below nor above a limit."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number. Also fails for NaN, infinities, and numbers beyond the limit."""
        number = float(click.FLOAT.convert(value, param, ctx))
        if not abs(number) <= _LARGEST:
            self.fail(f"{value} is not a finite number up to {_LARGEST:g}.", param, ctx)
        return float(super().convert(number, param, ctx))


class Option(click.Option):
    """An option in a ``group`` of the help. ``rare``: few people need it: only ``--help-all`` shows it."""

    def __init__(self, *arguments: Any, group: str = "Other", rare: bool = False, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.group, self.rare = group, rare


def is_rare(option: click.Option) -> bool:
    """Return whether only ``--help-all`` shows ``option``."""
    return isinstance(option, Option) and option.rare and not option.required


def group_of(option: click.Option) -> str:
    """Return the title above ``option``."""
    return option.group if isinstance(option, Option) else "Other"


def help_records(command: click.Command, ctx: click.Context) -> Iterator[tuple[click.Option, tuple[str, str]]]:
    """Return the options in the help of ``command``, each with its spelling and text."""
    return command.help_records(ctx) if isinstance(command, Verb) else _help_records(command.get_params(ctx), ctx)


def _help_records(
    params: Iterable[click.Parameter], ctx: click.Context
) -> Iterator[tuple[click.Option, tuple[str, str]]]:
    for option in params:
        if isinstance(option, click.Option) and (text := option.get_help_record(ctx)) is not None:
            said = ctx.meta.get(_FROM_FILE, {}).get(option.name)
            yield option, text if said is None else (text[0], f"{text[1]}  [{said}]")


def _shows_all(ctx: click.Context) -> bool:
    """Return whether the help is to show all options."""
    return bool(ctx.meta.get(_ALL))


def _help_all(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        ctx.meta[_ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


#: The entry of a context that its help is to show all options.
_ALL = "dais_verif.help_all"
#: The entry of a context with the forms of its verb.
_FORMS = "dais_verif.forms"
#: The entry of a context with the defaults from a file: for each option, the file and the value.
_FROM_FILE = "dais_verif.defaults"


def _says(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    speak(**{str(param.name): value})


_SPOKEN: dict[str, Any] = {"expose_value": False, "callback": _says, "group": "Output", "rare": True}
_OF_EVERY_VERB = (
    Option(["-q", "--quiet"], is_flag=True, help="No progress, no notices.", **_SPOKEN),
    Option(["-v", "--verbose"], is_flag=True, help="Print each step, with its time.", **_SPOKEN),
    Option(
        ["--color"],
        type=click.Choice(COLORS),
        default="auto",
        show_default=True,
        help="Colours in the output.",
        **_SPOKEN,
    ),
    click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_help_all,
        help="Show all options and exit.",
    ),
)


def _default_words(command: click.Command, ctx: click.Context, args: Sequence[str]) -> list[str]:
    """Return the defaults from a file as arguments, for the options that ``args`` do not have."""
    names: list[str] = []
    place = ctx
    while place.parent is not None:
        names.insert(0, str(place.info_name))
        place = place.parent
    if not names:  # a command line of another process, which is complete
        return []
    defaults = read_defaults()
    if not defaults.table:
        return []
    defaults.require_known(place.command.list_commands(place) if isinstance(place.command, click.Group) else [])
    forms = ctx.meta.get(_FORMS, lambda: (command,))()
    found = defaults.options_of(names, ctx, [one for form in forms for one in (*form.params, *_OF_EVERY_VERB)])
    given = args[: args.index("--")] if "--" in args else args
    own = {one.removeprefix("--"): param for param in command.get_params(ctx) for one in param.opts}
    words: list[str] = []
    for key, value in found.items():
        option = own.get(key)
        if isinstance(option, click.Option) and not any(_spells(option, word) for word in given):
            words += defaults.words_of(option, value)
            ctx.meta.setdefault(_FROM_FILE, {})[option.name] = f"{defaults.file}: {value}"
    return words


def _spells(option: click.Option, word: str) -> bool:
    """Return whether ``word`` of a command line gives ``option``."""
    names = (*option.opts, *option.secondary_opts)
    return word.partition("=")[0] in names or any(
        not name.startswith("--") and word.startswith(name) and not word.startswith("--") for name in names
    )


class Verb(click.Command):
    """A command that never overwrites its inputs."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, the last of which shows the help with all options."""
        return [*super().get_params(ctx), *_OF_EVERY_VERB]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line, with the defaults of the project in front of it."""
        speak()
        asks_for_help = not {"-h", "--help", "--help-all"}.isdisjoint(args)
        try:
            words = _default_words(self, ctx, args)
        except DaisError:
            if not asks_for_help:
                raise
            words = []
        if isinstance(ctx.obj, list) and words:  # the command line, which records keep
            ctx.obj[len(ctx.obj) - len(args) :] = [*words, *args]
        return super().parse_args(ctx, [*words, *args])

    def help_records(self, ctx: click.Context) -> Iterator[tuple[click.Option, tuple[str, str]]]:
        """Yield each option of the help, with its spelling and text."""
        return _help_records(self.get_params(ctx), ctx)

    def invoke(self, ctx: click.Context) -> Any:
        """Call the command. First raises ``InputError`` if an output is also an input, or is not writable."""
        for param in ctx.command.params:
            if isinstance(param.type, OutputPath):
                for output in _paths(ctx, param):
                    _require_no_loss(ctx, param, param.type, output)
                    _require_writable(param, param.type, output)
        return super().invoke(ctx)


class GroupedCommand(Verb):
    """A command whose help shows its options below the titles of ``GROUPS``."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, each below the title of its group; rare ones only for ``--help-all``."""
        found: dict[str, list[tuple[str, str]]] = {title: [] for title in GROUPS}
        for option, text in self.help_records(ctx):
            if _shows_all(ctx) or not is_rare(option):
                found[group_of(option)].append(text)
        for title, texts in found.items():
            if texts:
                with formatter.section(title):
                    formatter.write_dl(texts)


class TwoForms(GroupedCommand):
    """A command that ``flag`` turns into ``other``, such as ``signoff:verify``: a module and the command in it.

    The help also lists the options of the other form.
    """

    def __init__(self, *arguments: Any, flag: str, other: str, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.flag, self._other = flag, other

    @cached_property
    def other(self) -> click.Command:
        """The command of the other form, which is imported when it is needed."""
        command: click.Command = pkgutil.resolve_name(f"dais_verif.doors.cli.{self._other}")
        return command

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return the context of the form that ``args`` select. An option of the other form is an error that says so."""
        if parent is not None:
            parent.meta[_FORMS] = lambda: (self, self.other)  # the other form is imported if the defaults ask
        is_other = self.flag in (args[: args.index("--")] if "--" in args else args)
        try:
            if is_other:
                return self.other.make_context(info_name, args, parent, **extra)
            return super().make_context(info_name, args, parent, **extra)
        except click.NoSuchOption as error:
            others = _options(self if is_other else self.other)
            if error.option_name not in others:
                near = get_close_matches(error.option_name, {*others, *(error.possibilities or ())}, n=1)
                raise click.NoSuchOption(error.option_name, possibilities=near, ctx=error.ctx) from None
            why = f"is not for {self.flag}" if is_other else f"needs {self.flag}"
            raise click.UsageError(f"{error.option_name} {why}.", error.ctx) from None

    def help_records(self, ctx: click.Context) -> Iterator[tuple[click.Option, tuple[str, str]]]:
        """Yield the options of both forms."""
        yield from super().help_records(ctx)
        known = {name for param in self.params for name in param.opts}
        for option in self.other.params:
            if isinstance(option, click.Option) and known.isdisjoint(option.opts):
                text = option.get_help_record(ctx)
                if text is not None:
                    yield option, text if self.flag in option.opts else (text[0], f"With {self.flag}: {text[1]}")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the completions of both forms."""
        found = [*super().shell_complete(ctx, incomplete), *self.other.shell_complete(ctx, incomplete)]
        return list({one.value: one for one in found}.values())


def _options(command: click.Command) -> set[str]:
    return {name for param in command.params for name in (*param.opts, *param.secondary_opts)}


def _require_no_loss(ctx: click.Context, param: click.Parameter, kind: OutputPath, output: Path) -> None:
    if output.is_file():
        read = [(other, path) for other in ctx.command.params if not _writes(other) for path in _paths(ctx, other)]
        require_other_file(output, _name(param), [(_name(other), path) for other, path in read], FileError)
        require_form(_name(param), output, kind.begins)


def _require_writable(param: click.Parameter, kind: OutputPath, output: Path) -> None:
    option = min(param.opts, key=len) if isinstance(param, click.Option) else _name(param)
    if kind.folder is not None:
        (require_writable_folder if kind.folder else require_writable)(output, option)


def _writes(param: click.Parameter) -> bool:
    return isinstance(param.type, OutputPath)


def _paths(ctx: click.Context, param: click.Parameter) -> Iterator[Path]:
    value = ctx.params.get(param.name or "")
    for one in value if isinstance(value, tuple) else (value,):
        if isinstance(one, Path):
            yield one
        elif isinstance(one, str) and isinstance(param, click.Argument) and "\0" not in one:
            yield Path(one)


def _name(param: click.Parameter) -> str:
    return max(param.opts, key=len) if isinstance(param, click.Option) else (param.name or "").upper()
