"""A hook of MkDocs that adds the reference, and files that pages link to, to the documentation's site.

The reference is made from the code and is not in the repository. Pages are written for the repository, where links lead
to files outside docs/; on the site, they lead to copies of these below repository/.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from textwrap import dedent
from typing import Any

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

import dais_verif
from dais_verif.doors.api.signatures import annotation_of
from dais_verif.doors.cli.main import cli
from dais_verif.doors.cli.verb import GROUPS, group_of, help_records
from dais_verif.prover.slang.kinds.page import page as supported_verilog
from dais_verif.subject.matrix import page as verbs_and_kinds
from dais_verif.verbs.sign_off import BUILT_IN

ROOT = Path(__file__).resolve().parents[1]
#: The folder of the site for files of the repository that are not pages.
COPIES = "repository"
_VERBS = "reference/verbs/README.md"
_LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
_CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def reference() -> dict[str, Callable[[], str]]:
    """Return what makes each page of the reference from the code, by the page's path in docs/."""
    makers: dict[str, Callable[[], str]] = {f"verbs/{name}": partial(verb, name) for name in verbs()}
    makers |= {
        "verbs/README": verb_index,
        "python": functions,
        "verbs-and-kinds": verbs_and_kinds,
        "supported-verilog": supported_verilog,
        "policy": policy,
        "packages": packages,
        "peers": peers,
        "map": source_map,
    }
    return {f"reference/{name}.md": make for name, make in makers.items()}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the page of each verb in the menu, below the page that lists the verbs."""

    def listed(item: Any) -> Any:
        if isinstance(item, dict):
            return {title: listed(inner) for title, inner in item.items()}
        if isinstance(item, list):
            return [listed(inner) for inner in item]
        return [{"All": item}, *({name: f"reference/verbs/{name}.md"} for name in verbs())] if item == _VERBS else item

    config.nav = listed(config.nav)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the reference, and a copy of each file of the repository that a page links to."""
    for name, make in reference().items():
        files.append(File.generated(config, name, content=make()))
    waiting = [(f"docs/{file.src_uri}", file.content_string) for file in files.documentation_pages()]
    seen: set[str] = set()
    while waiting:
        targets = {target for target in linked(*waiting.pop()) if not target.startswith("docs/")}
        for target in sorted(targets - seen):
            path, place = ROOT / target, place_of(target)
            if place.endswith(".md") and path.exists():
                text = _listing(target) if path.is_dir() else path.read_text(encoding="utf-8")
                files.append(File.generated(config, place, content=text, inclusion=InclusionLevel.NOT_IN_NAV))
                waiting.append((target, text))
            elif path.exists():
                files.append(File.generated(config, place, abs_src_path=str(path)))
        seen |= targets
    return files


def _listing(folder: str) -> str:
    """Return the page that lists a folder."""
    names = sorted(p.name + "/" * p.is_dir() for p in (ROOT / folder).iterdir() if not p.name.startswith((".", "__")))
    return f"# {folder}/\n\n" + "".join(f"- `{name}`\n" for name in names)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the page with links to files outside docs/ changed to links to their copies."""
    own = page.file.src_uri
    source = own.removeprefix(f"{COPIES}/") if own.startswith(f"{COPIES}/") else f"docs/{own}"

    def turned(match: re.Match[str]) -> str:
        opening, target, anchor, closing = match.groups()
        if re.match(r"[a-z]+:", target):
            return match[0]
        place = place_of(normpath(str(PurePosixPath(source).parent / target)))
        return f"{opening}{relpath(place, str(PurePosixPath(own).parent))}{anchor or ''}{closing}"

    return outside_code(markdown, lambda text: _LINK.sub(turned, text))


def peers() -> str:
    """Return the page of other tools' defects, from the cases that the tests hold against these tools."""
    sys.path.insert(0, str(ROOT / "tests"))
    try:
        from interop.table import page  # of the tests, which are not installed
    finally:
        sys.path.remove(str(ROOT / "tests"))
    return str(page())


def place_of(path: str) -> str:
    """Return the path on the site of a file of the repository."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"{COPIES}/{path}/index.md" if (ROOT / path).is_dir() else f"{COPIES}/{path}"


def linked(page: str, text: str) -> list[str]:
    """Return the files that the text of ``page`` links to, by their paths in the repository."""
    found = [match[2] for match in _LINK.finditer(_CODE.sub("", text)) if not re.match(r"[a-z]+:", match[2])]
    return [normpath(str(PurePosixPath(page).parent / target)) for target in found]


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Return ``text`` with ``change`` applied to all that is not shown as code."""
    found, place = [], 0
    for code in _CODE.finditer(text):
        found += [change(text[place : code.start()]), code[0]]
        place = code.end()
    return "".join([*found, change(text[place:])])


_CONTEXT = click.Context(cli, info_name="dais-verif")


def verbs() -> dict[str, click.Command]:
    """Return the verbs that the help lists."""
    found = {name: cli.get_command(_CONTEXT, name) for name in cli.list_commands(_CONTEXT)}
    return {name: command for name, command in found.items() if command is not None and not command.hidden}


def verb(name: str) -> str:
    """Return the page of a verb, from click's description."""
    command = verbs()[name]
    return "\n".join(_command(command, click.Context(command, parent=_CONTEXT, info_name=name), 1))


def verb_index() -> str:
    """Return the page that lists the verbs."""
    lines = [
        "# Verbs\n",
        "`VERB --help-all` says the same as these pages. [What each verb takes](../verbs-and-kinds.md).\n",
    ]
    for name, command in verbs().items():
        lines.append(f"- [{name}]({name}.md): {_prose(command.get_short_help_str(limit=200)).strip()}")
    return "\n".join([*lines, ""])


def policy() -> str:
    """Return the page of a sign-off's policy: all keys, with their defaults."""
    return f"# Policy of a sign-off\n\n`dais-verif signoff --show-policy` prints this file.\n\n```toml\n{BUILT_IN}```\n"


def packages() -> str:
    """Return the page of the packages that are installed, with the reasons that pyproject.toml states."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = project.partition("\ndynamic = ")[2].partition("\n[project.scripts]")[0]
    lines = ["# Packages\n", "What `pip` installs, and why, as `pyproject.toml` has it.\n"]
    for title, names in re.findall(r"^([\w-]+) = \[\n((?:  \".*\n)+)\]", project, re.MULTILINE):
        lines += [f"## {title}\n", "| package | for |", "|---|---|"]
        for package, reason in re.findall(r'^  "(.*)",(?: *# (.*))?$', names, re.MULTILINE):
            lines.append(f"| {_cell(package)} | {_cell(reason)} |")
        lines.append("")
    return "\n".join(lines)


def _command(command: click.Command, context: click.Context, level: int) -> list[str]:
    """Return a command's section: usage, prose, a table per group of options; then the sections of its subcommands."""
    path = context.command_path
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    parts = [f"{'#' * level} {path}\n", f"    {usage}\n", _prose(command.help or "")]
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            one = command.get_command(context, name)
            assert one is not None
            parts += _command(one, click.Context(one, parent=context, info_name=name), level + 1)
        return parts
    rows: dict[str, list[str]] = {}
    for option, record in help_records(command, context):
        rows.setdefault(group_of(option), []).append(f"| <code>{_cell(record[0])}</code> | {_cell(record[1])} |")
    for title in GROUPS:
        if title in rows:
            parts += [f"| {title} | |\n|---|---|", *rows[title], ""]
    return parts


def _cell(text: str) -> str:
    return re.sub(r"[|\[\]<*_`]", lambda match: f"&#{ord(match[0])};", re.sub(r"\s+", " ", text))


def _prose(text: str) -> str:
    """Return the help of a command: text that must not be wrapped becomes code, other text prose."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", text.replace("\f", "")):
        if paragraph.lstrip().startswith("\b"):
            lines = dedent(paragraph.replace("\b", "").strip("\n")).splitlines()
            parts.append("".join(f"    {line}\n" for line in lines))
        else:
            parts.append(re.sub(r"\s+", " ", paragraph).strip().replace("<", "&lt;").replace("*", "\\*") + "\n")
    return "\n".join(parts)


def functions() -> str:
    """Return the page of the Python API, which mkdocstrings fills with the docstrings."""
    names = [name for name in dais_verif.__all__ if not name.startswith("_")]
    parts = ["# Python API\n", "All that `import dais_verif` offers.\n"]
    parts += [f"::: dais_verif.{name}\n{_keywords(name)}" for name in names]
    parts.append("## dais_verif.cocotb\n")
    parts.append("For benches of your own ([python.md](../python.md#benches-of-your-own-in-cocotb)).\n")
    return "\n".join([*parts, *(f"::: dais_verif.cocotb.{name}\n" for name in _public(ROOT / "dais_verif" / "cocotb"))])


def _keywords(name: str) -> str:
    """Return the table of the options of a function, which its request declares."""
    listed = getattr(getattr(dais_verif, name), "listed", None)
    if listed is None:
        return ""
    rows = [
        f"| <code>{_cell(one.keyword)}</code> | <code>{_cell(annotation_of(one))}</code> | {_cell(one.option.help)} |\n"
        for one in listed()
        if not one.option.hidden
    ]
    return f"\n| option | type | |\n|---|---|---|\n{''.join(rows)}"


def _public(package: Path) -> list[str]:
    """Return the names in ``__all__`` of ``package``, which is not imported: its packages may not be installed."""
    for node in ast.parse((package / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    raise ValueError(f"{package} has no __all__")


_MAP = """# Map of the package

Data flows binary → program → {golden model, Verilog} → testbench → verdict, and the folders follow this flow. `program`
imports no other folder, and most others use it; `golden`, `emitter` and `prover` never import each other; `flows`
combines them, one use case per file; `record` defines the results and `report` shows them; `cli` is a thin client of
`flows`. `tests/rules/test_architecture.py` states what each folder may import.
"""


def source_map(package: Path = ROOT / "dais_verif") -> str:
    """Return the page of all packages and their modules, each with the first paragraph of its docstring."""
    return _MAP + "".join(_map_sections(package, ""))


def _map_sections(folder: Path, name: str) -> Iterator[str]:
    yield f"\n## {name or folder.name}\n\n{_summary(folder / '__init__.py')}\n\n"
    for path in sorted(path for path in folder.glob("*.py") if path.name != "__init__.py"):
        yield f"- `{path.stem}`: {_summary(path)}\n"
    for inner in sorted(path.parent for path in folder.glob("*/__init__.py")):
        yield from _map_sections(inner, f"{name}/{inner.name}".lstrip("/"))


def _summary(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split())
