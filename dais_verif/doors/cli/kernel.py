"""``dais-verif kernel``: libraries of kernels, and the arguments of a kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dais_verif.base.verdict import Verdict
from dais_verif.doors.cli.common import ShownWarnings, console, file_path, json_option, output_folder, page_path
from dais_verif.doors.cli.verb import Verb
from dais_verif.report.kernels_text import print_build, print_kernels, print_shown
from dais_verif.verbs.kernels.build import FORMS, build_kernel
from dais_verif.verbs.kernels.libraries import list_kernels, show_any

__all__ = ["kernel"]

_library = click.option("--library", multiple=True, type=file_path, help="A library in a Python file; may be repeated.")


@click.group()
def kernel() -> None:
    """List kernels (a convolution, a softmax, ...), show the arguments of one, and build its hardware.

    Libraries of kernels are installed packages, including dais-verif, and Python files.

    \b
    dais-verif kernel list --library mine.py     all kernels
    dais-verif kernel show conv2d                its inputs and parameters
    dais-verif kernel build conv2d --params conv.toml -o conv     hardware, for `sim conv` and `prove conv`
    """


@kernel.command("list", cls=Verb)
@_library
@json_option
def list_(library: tuple[Path, ...], as_json: bool) -> int:
    """List the kernels of all libraries, one per line.

    \b
    dais-verif kernel list                        of installed packages, including dais-verif
    dais-verif kernel list --library mine.py      and of a Python file
    dais-verif kernel show conv2d                 the arguments of one of them

    A broken library is reported, the others are listed, and the exit code is 2.
    """
    listing = list_kernels(library)
    click.echo(listing.to_json()) if as_json else print_kernels(listing, console())
    return Verdict.INVALID_INPUT.exit_code if listing.left_out else 0


@kernel.command(cls=Verb)
@click.argument("name")
@click.option("--member", help="For a .toml file or a folder: the member to show, such as 3,2.")
@click.option("--html", type=page_path, help="For a .toml file or a folder: also write an HTML page.")
@_library
@json_option
def show(name: str, member: str | None, html: Path | None, library: tuple[Path, ...], as_json: bool) -> None:
    """Show the arguments of a kernel, or what each member of an instance reads, computes and writes.

    \b
    dais-verif kernel show conv2d                       its tensors and options, as needed for a request
    dais-verif kernel show mine/conv2d --library mine.py
    dais-verif kernel show conv.toml                    a request: its members, tile by tile
    dais-verif kernel show conv --member 0,3            a folder of `kernel build`: member [0, 3]
    dais-verif kernel show conv.toml --html conv.html   the same as a picture

    A kernel computes its outputs in members, the points of an index space; each runs the same block on another
    part of the tensors. A request names a kernel and gives shapes, types and options (docs/kernels.md).
    """
    found = show_any(name, library, member, page=html is not None, progress=ShownWarnings())
    click.echo(found.to_json()) if as_json else print_shown(found, console(), html)


@kernel.command(cls=Verb)
@click.argument("name")
@click.option(
    "--params", type=file_path, help="TOML file with the request for kernel NAME; without it, NAME is such a file."
)
@click.option(
    "-o", "--output", required=True, type=output_folder, help="Output folder; that of an earlier build is replaced."
)
@_library
@json_option
@click.option("--form", type=click.Choice(FORMS), default="memory", show_default=True, help="What holds the tensors.")
@click.option(
    "--parallel", type=int, default=1, show_default=True, help="Number of members computed in parallel, with memories."
)
@click.option("--printf", is_flag=True, help="Add outputs that show what members print.")
def build(name: str, library: tuple[Path, ...], as_json: bool, **asked: Any) -> None:
    """Build hardware of a kernel: a folder with Verilog that `sim`, `prove`, `synth` and `signoff` accept.

    \b
    dais-verif kernel build conv.toml -o conv                      a request, which names its kernel
    dais-verif kernel build conv2d --params conv.toml -o conv      the same, with the kernel named here
    dais-verif kernel build fir.toml -o fir                        your own program as a kernel (docs/kernels.md)
    dais-verif kernel build conv.toml --parallel 4 -o conv         four members at a time: faster, larger
    dais-verif kernel build conv.toml --form stream -o conv        tensors are streamed, one pixel at a time
    dais-verif prove conv                                          prove that it computes the kernel, for all inputs

    NAME is a kernel of a library (`kernel list`), library/NAME, or a TOML file. The folder has the machine, its
    Verilog, and instance.json, which describes the instance; `prove` proves the mapping of members, too.
    """
    found = build_kernel(name, libraries=library, **asked)
    click.echo(found.to_json()) if as_json else print_build(found, console())
