"""README and docs: reference pages are complete, and every link leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from support.site import site

from dais_verif.base.verdict import Verdict
from dais_verif.doors.cli.main import cli

ROOT = Path(__file__).parents[2]
CONTEXT = click.Context(cli)
VERBS = cli.list_commands(CONTEXT)
#: The pages that are made from the code, when the site is built.
MADE = site().reference()
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "examples/README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def prose(text: str) -> str:
    """Return ``text`` without code blocks, and with ``code`` in place of inline code."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "`code`", re.sub(r"^ {4}.*$", "", text, flags=re.MULTILINE))


def anchors(text: str) -> set[str]:
    """Return the anchors that GitHub generates for the headings of a page."""
    titles = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).lower() for title in titles]
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    text = prose(page.read_text(encoding="utf-8"))
    targets = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|href)="([^"]+)"', text)
    for target in targets:
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.is_relative_to(ROOT), f"{page.name}: {target}"
        made = MADE.get(str(file.relative_to(ROOT / "docs"))) if "reference" in file.parts else None
        assert made or file.exists(), f"{page.name}: {target}"
        if anchor and file.suffix == ".md":
            found = anchors(made() if made else file.read_text(encoding="utf-8"))
            assert anchor in found, f"{page.name}: {target}, there are {sorted(found)}"


def test_links_of_the_reference_lead_somewhere() -> None:
    """Pages that are made from the code link to pages in docs/, and to each other."""
    for name, make in MADE.items():
        for target in [] if "map" in name else re.findall(r"\]\(([^)\s#:]+\.md)", prose(make())):
            file = (ROOT / "docs" / name).parent.joinpath(target).resolve()
            assert file.exists() or str(file.relative_to(ROOT / "docs")) in MADE, f"{name}: {target}"


def test_pages_that_sources_name_are_there() -> None:
    """A page named in a message, a docstring or a comment exists, and so does the section that it names."""
    folders = ("dais_verif", "tools", "bench", "rtl", "tests/unit", "tests/sim", "tests/interop", "tests/process")
    sources = [
        path for folder in folders for end in ("py", "c", "h", "v") for path in (ROOT / folder).rglob(f"*.{end}")
    ]
    named, found = re.compile(r"\bdocs/((?:developers/)?[a-z0-9-]+\.md)(?:#([a-z-]+))?"), 0
    for path in [ROOT / "Makefile", *sources]:
        if path.name == "test_site.py":
            continue
        for name, anchor in named.findall(path.read_text("utf-8")):
            page = ROOT / "docs" / name
            assert page.exists(), f"{path}: docs/{name}"
            assert not anchor or anchor in anchors(page.read_text("utf-8")), f"{path}: docs/{name}#{anchor}"
            found += 1
    assert found > 50


def test_the_index_lists_every_page() -> None:
    linked = re.findall(r"^- \[([\w/-]+\.md)\]\(\1\): ", text_of("docs/README.md"), re.M)
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    assert sorted(linked) == sorted(pages - {"README.md"}), "each once"


def test_two_commands_do_all_the_set_up() -> None:
    commands = re.findall(r"^    (make .*?)(?: +#.*)?$", text_of("README.md"), re.M)
    assert commands == ["make sim PROGRAM=prog.bin", "make test"]
    assert text_of(".ci/run").splitlines()[-1] == "make test"


def test_exit_codes_are_those_of_the_verdicts() -> None:
    rows = re.findall(r"^\| (\d+) \| ([A-Z_, ]+) \|", text_of("docs/troubleshooting.md"), re.M)
    shown = {(int(code), name) for code, names in rows for name in names.split(", ")}
    assert shown == {(verdict.exit_code, verdict.value) for verdict in Verdict}
    assert [int(code) for code, _ in rows] == sorted({verdict.exit_code for verdict in Verdict})
    tables = [page.name for page in PAGES if re.search(r"^\| 70 \|", page.read_text("utf-8"), re.M)]
    assert tables == ["troubleshooting.md"], "one place says it"


def test_every_command_is_listed() -> None:
    listed = set(re.findall(r"`dais-verif ([a-z-]+)", text_of("docs/README.md")))
    shown = {name for name in VERBS if not (command := cli.get_command(CONTEXT, name)) or not command.hidden}
    assert shown <= listed <= set(VERBS) and len(shown) >= 20


def test_every_variable_of_the_environment_is_listed() -> None:
    """The page lists exactly the variables that the package reads, except those passed between its own processes."""
    source = "".join(path.read_text("utf-8") for path in (ROOT / "dais_verif").rglob("*.py"))
    read = set(re.findall(r"[\"']((?:DAIS_VERIF)_[A-Z0-9_]*[A-Z0-9])[\"']", source))
    read |= {f"DAIS_VERIF_{name}" for name in ("NEXTPNR_ICE40", "NEXTPNR_ECP5", "ICEPACK", "ICEUNPACK", "ICETIME")}
    listed = set(re.findall(r"`(DAIS_VERIF_\w+)`", text_of("docs/environment.md")))
    assert listed == read - {"DAIS_VERIF_JOB", "DAIS_VERIF_DRIVER", "DAIS_VERIF_MAKER", "DAIS_VERIF_ANSWER_KEY"}
