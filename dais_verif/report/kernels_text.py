"""Kernels and their libraries, as text."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dais_verif.base.text import counted, printable_lines
from dais_verif.record.kernel_picture import KernelPicture
from dais_verif.record.kernels import KernelBuild, KernelInfo, KernelListing, KernelRun
from dais_verif.report.kernel_picture_text import print_picture

__all__ = ["print_build", "print_kernel", "print_kernels", "print_printed", "print_shown"]

_LETTERS = {"i": "signed", "u": "unsigned", "f": "binary32"}


def print_kernels(listing: KernelListing, out: Console) -> None:
    """Print the kernels, one per line, and the libraries that are skipped."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("kernel", "library", "what it computes"):
        table.add_column(name)
    for kernel in listing.kernels:
        table.add_row(*map(Text, (kernel.name, kernel.library, kernel.about or "")))
    out.print(table)
    for one in listing.left_out:
        out.print(f"left out: library {one.library} ({one.where}): {one.why}", markup=False)


def print_shown(found: KernelInfo | KernelPicture, out: Console, page: Path | None = None) -> None:
    """Print the parameters of a kernel, or pictures of an instance, which are also written to ``page``."""
    if isinstance(found, KernelInfo):
        return print_kernel(found, out)
    print_picture(found, out)
    if page is not None:
        from dais_verif.report.html.kernels.page import write_kernel_page

        write_kernel_page(found, page)


def print_kernel(kernel: KernelInfo, out: Console) -> None:
    """Print the parameters of a kernel."""
    rows = [("kernel", kernel.name), ("library", f"{kernel.library} ({kernel.where})")]
    if kernel.about:
        rows.append(("computes", kernel.about))
    if kernel.inputs is not None:
        optional = f", the last {kernel.optional_inputs} may be left out" if kernel.optional_inputs else ""
        names = f": {', '.join(kernel.input_names)}" if kernel.input_names else ""
        rows += [("inputs", f"{kernel.inputs}{names}{optional}"), ("outputs", str(kernel.outputs))]
    else:
        rows.append(("takes", "inputs that its library checks on request"))
    for at, (name, letter) in enumerate((kernel.structure or {}).items()):
        words = "".join(f", {value} {word}" for word, value in (kernel.words or {}).get(name, {}).items())
        default = f"{(kernel.defaults or {}).get(name, 0):g}"
        text = f"{name}: {_LETTERS[letter]}, 32 bits, {default} by default{words}"
        rows.append(("parameters" if not at else "", text))
    for title, text in rows:
        out.print(f"{title:<12}{text}", markup=False)


def print_printed(run: KernelRun, out: Console) -> None:
    """Print the text that members print, and, if requested, the simulators whose text differs."""
    for number, text in enumerate(run.printed or []):
        _print_text(f"printed    by members of sample {number}", text, out)
    for one in run.printed_by or []:
        for number, text in enumerate(one.texts or []):
            _print_text(f"printed    in {one.name}, sample {number}", text, out)


def _print_text(title: str, text: str, out: Console) -> None:
    for line in (title, *printable_lines(text).split("\n")[: -1 if text.endswith("\n") else None]):
        out.print(line, markup=False, highlight=False, soft_wrap=True)


def print_build(build: KernelBuild, out: Console) -> None:
    """Print what was written, and the cost of the hardware."""
    rows = [
        ("kernel", build.kernel),
        ("written", f"{build.output}: {', '.join(build.files)}"),
        *_costs(build),
    ]
    for title, text in rows:
        out.print(f"{title:<12}{text}", markup=False)


def _costs(build: KernelBuild) -> list[tuple[str, str]]:
    facts = build.facts
    if build.form == "memory":
        who = "member" if facts["parallel"] == 1 else f"group of {facts['parallel']} members"
        members = counted(build.members, "member")
        time = f"{counted(facts['cycles'], 'cycle')} per {who}, {facts['latency']} from start to done for {members}"
        return [("time", time), ("memory", f"{counted(facts['words'], 'word')}, {counted(facts['bits'], 'bit')}")]
    first = f"first output {counted(facts['latency'], 'cycle')} after the first beat"
    last = f"the last one {facts['flush']} after the last beat"
    lines, registers = (counted(facts[name], "bit") for name in ("line_bits", "window_bits"))
    return [
        ("time", f"{counted(facts['beats'], 'beat')} per image, one per cycle; {first}, {last}"),
        (
            "memory",
            f"{lines} of lines, {registers} of registers",
        ),
    ]
