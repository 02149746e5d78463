"""The documentation site: every page is in its menu, links lead to targets in it, the reference lists every verb."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import click
import pytest
from support.site import site as site_module

from dais_verif.doors.cli.main import cli

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site() -> ModuleType:
    return site_module()


def test_the_menu_lists_every_page_once(site: ModuleType) -> None:
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    listed = [name for name in re.findall(r": (\S+\.md)$", menu, re.M) if not name.startswith("repository/")]
    pages = [str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")]
    made = [name for name in site.reference() if "/verbs/" not in name]  # the hook lists the verbs
    assert sorted(listed) == sorted([*pages, *made, "reference/verbs/README.md"])


def test_the_menu_gets_an_entry_for_each_verb(site: ModuleType) -> None:
    config = {"nav": [{"Home": "README.md"}, {"Reference": [{"Verbs": "reference/verbs/README.md"}]}]}
    menu = site.on_config(SimpleNamespace(**config)).nav
    verbs = menu[1]["Reference"][0]["Verbs"]
    assert {"sim": "reference/verbs/sim.md"} in verbs and len(verbs) == len(site.verbs()) + 1


def test_links_lead_to_copies_of_what_is_no_page(site: ModuleType) -> None:
    assert site.place_of("docs/proof.md") == "proof.md"
    assert site.place_of("examples/README.md") == "repository/examples/README.md"
    assert site.place_of("examples") == "repository/examples/index.md"
    text = "a [b](../Makefile) `[c](../d)` [e](f.md#g) [h](https://i)\n```\n[j](../k)\n```\n"
    assert site.linked("docs/x.md", text) == ["Makefile", "docs/f.md"]


def test_the_reference_has_every_verb_and_option(site: ModuleType) -> None:
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        if command.hidden:
            continue
        section = site.verb(name)
        assert section.startswith(f"# dais-verif {name}\n")
        verbs = command.commands.values() if isinstance(command, click.Group) else [command]
        options = [param for verb in verbs for param in verb.params if isinstance(param, click.Option)]
        assert [o.opts for o in options if not o.hidden and f"<code>{', '.join(o.opts)}" not in section] == []


def test_the_reference_of_a_function_has_its_options(site: ModuleType) -> None:
    page = site.functions().partition("::: dais_verif.mutate")[2].partition(":::")[0]
    assert "<code>most&#95;unknown</code>" in page and "<code>rtl</code>" in page


def test_the_map_has_every_module(site: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "__init__.py").write_text('"""Outer."""\n')
    (tmp_path / "inner" / "__init__.py").write_text('"""Inner\nthings.\n\nMore."""\n')
    (tmp_path / "inner" / "silent.py").write_text("")
    assert "## inner\n\nInner things.\n\n- `silent`: \n" in site.source_map(tmp_path)


def build(folder: Path, docs: Path) -> subprocess.CompletedProcess[str]:
    """Build the site of ``docs`` in ``folder``."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").replace("docs_dir: docs", f"docs_dir: {docs}")
    config = folder / "mkdocs.yml"
    config.write_text(text.replace("tools/site.py", str(ROOT / "tools/site.py")), encoding="utf-8")
    command = [sys.executable, "-m", "mkdocs", "build", "-f", str(config), "-d", str(folder / "site")]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600, env=quiet)


@pytest.mark.slow
def test_it_is_built_and_a_dead_link_is_an_error(tmp_path: Path) -> None:
    done = build(tmp_path, ROOT / "docs")
    assert (done.returncode, "WARNING" in done.stderr) == (0, False), done.stderr
    assert 'id="dais_verif.prove"' in (tmp_path / "site/reference/python.html").read_text(encoding="utf-8")
    assert 'src="../../javascripts/iframe-worker.js"' in (tmp_path / "site/reference/verbs/sim.html").read_text("utf-8")
    docs = tmp_path / "docs"
    docs.mkdir()
    for page in (ROOT / "docs").rglob("*"):
        if page.is_file():
            target = docs / page.relative_to(ROOT / "docs")
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(page.read_bytes())
    (docs / "trust.md").write_text("# Trust\n\n[nowhere](nowhere.md)\n", encoding="utf-8")
    done = build(tmp_path, docs)
    assert done.returncode != 0 and "nowhere.md" in done.stderr
