"""Verbs of two forms: a flag selects the other form, which has options of its own."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import click
from click.shell_completion import CompletionItem

from dais_verif.doors.cli.grouped import GroupedCommand
from dais_verif.doors.cli.verb import FORMS

__all__ = ["TwoForms"]


class TwoForms(GroupedCommand):
    """A command that ``flag`` turns into ``other``, the command of the module with that name.

    The help also lists the options of the other form.
    """

    def __init__(self, *arguments: Any, flag: str, other: str, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.flag, self._other = flag, other

    @cached_property
    def other(self) -> click.Command:
        """The command of the other form, which is imported when it is needed."""
        command: click.Command = getattr(importlib.import_module(f"dais_verif.doors.cli.{self._other}"), self._other)
        return command

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return the context of the form that ``args`` select. An option of the other form is an error that says so."""
        if parent is not None:
            parent.meta[FORMS] = lambda: (self, self.other)  # the other form is imported if the defaults ask
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
