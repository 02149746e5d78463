"""The site's page of packages names each dependency with its reason, and packages.py knows the same ones."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from support.site import site

from dais_verif.base.packages import BASE, EXTRAS, PACKAGES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/developers/internals.md").read_text(encoding="utf-8")


def name_of(requirement: str) -> str:
    found = re.match(r"[\w-]+", requirement)
    assert found, requirement
    return found[0]


def project() -> tuple[set[str], set[str]]:
    """Return the names of the required packages, and of the packages that extras add."""
    tree = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [name_of(line) for lines in tree["optional-dependencies"].values() for line in lines]
    return set(map(name_of, tree["dependencies"])), set(extras) - {"dais-verif"}


def test_the_page_names_each_dependency_and_its_reason() -> None:
    rows = re.findall(r"^\| ([\w-]+).*? \| (.*) \|$", site().packages().replace("&#95;", "_"), re.MULTILINE)
    reasons = {name: reason for name, reason in rows if reason}
    own_packages, extras = project()
    assert {name for name, _ in rows} - {"package", "dais-verif"} == own_packages | extras
    assert own_packages | extras <= set(reasons), "one line of pyproject.toml says why"


def test_what_is_said_to_be_missing_knows_the_same_packages() -> None:
    """The tables behind the messages list the packages of each extra, including those of the extras in it."""
    tree = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(BASE) == set(map(name_of, tree["dependencies"]))
    asked = tree["optional-dependencies"]

    def packages(extra: str) -> set[str]:
        names = set(map(name_of, asked[extra]))
        within = [one for line in asked[extra] for one in re.findall(r"dais-verif\[([\w,]+)\]", line)]
        others = [packages(one) for names_of in within for one in names_of.split(",")]
        return set().union(names - {"dais-verif"}, *others)

    assert {extra: set(known) for extra, known in EXTRAS.items()} == {extra: packages(extra) for extra in EXTRAS}
    assert packages("all") == set(PACKAGES) - set(BASE)
    assert packages("all") <= packages("test")


def test_modules_of_the_page_are_there() -> None:
    own = PAGE.partition("## Pieces that we write ourselves\n")[2].partition("\n## ")[0]
    assert len(re.findall(r"^\| .+ \| .+ \| .+ \|$", own, re.MULTILINE)) > 5
    for line in re.findall(r"^\| (.*?) \| ", own, re.MULTILINE)[2:]:
        for name in re.findall(r"`([\w/]+)/?`", line):
            place = ROOT / "dais_verif" / name
            assert place.is_dir() or place.with_suffix(".py").is_file(), name
