"""``dais-verif cache``: show or remove builds and proofs that earlier runs keep on this machine for later ones."""

from __future__ import annotations

import click

from dais_verif.doors.cli.common import console, json_option
from dais_verif.doors.cli.verb import Verb
from dais_verif.report.console import print_cache, removed_line
from dais_verif.verbs.cache import cache_contents, clear_cache

__all__ = ["cache"]


@click.group(invoke_without_command=True)
@click.pass_context
@json_option
def cache(context: click.Context, as_json: bool) -> int:
    """Show the cached builds of simulations and proofs, or remove them.

    \b
    dais-verif cache             list them, last used first
    dais-verif cache clear       remove all; running simulations are not affected

    DAIS_VERIF_CACHE names the folder, DAIS_VERIF_CACHE_MB limits the builds in it (2000 megabytes; 0: keep none);
    the least recently used ones are removed first. A build is used only if RTL, simulator, compiler and options are
    the same. RTL that includes other files is built each time. A sign-off does not use the cache.
    """
    if context.invoked_subcommand is not None:
        return 0
    contents = cache_contents()
    if as_json:
        click.echo(contents.to_json())
    else:
        print_cache(contents, console())
    return 0


@cache.command(cls=Verb)
def clear() -> int:
    """Remove all builds, proofs, compiled runtimes, and leftovers of killed runs."""
    console().print(removed_line(clear_cache()), markup=False)
    return 0
