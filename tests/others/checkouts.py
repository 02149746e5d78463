"""Get third-party repositories at a pinned commit, fetched from their public address or found in a folder."""

from __future__ import annotations

import subprocess
from pathlib import Path

from others.cases import Case, Project

__all__ = ["NotThere", "checkout", "lay_out"]


class NotThere(Exception):
    """A repository is not available, or lacks a file."""


def checkout(project: Project, name: str, found: Path | None, folder: Path) -> Path:
    """Return a git folder of ``project``: one below ``found``, or one that is fetched into ``folder``.

    Raises ``NotThere`` if none has the pinned commit.
    """
    owner, _, short = project.repository.partition("/")
    if found is not None:
        for place in (found / f"{owner}+{short}" / "repo", found / owner / short, found / short, found / name):
            if place.is_dir() and _git(place, "cat-file", "-e", project.commit).returncode == 0:
                return place
        raise NotThere(f"{found} holds no {project.repository} with commit {project.commit}")
    place = folder / name
    if not place.is_dir() or _git(place, "cat-file", "-e", project.commit).returncode:
        place.mkdir(parents=True, exist_ok=True)
        address = f"https://github.com/{project.repository}.git"
        for step in (("init", "-q"), ("fetch", "-q", "--depth", "1", address, project.commit)):
            done = _git(place, *step)
            if done.returncode:
                raise NotThere(f"git {step[0]} of {address}: {done.stderr.decode().strip()}")
    return place


def lay_out(case: Case, project: Project, repository: Path, folder: Path) -> list[Path]:
    """Write the files of ``case`` into ``folder``, each by its own name, and return its sources in order.

    Files below the project's folder of includes keep their paths relative to it.
    """
    sources = []
    if case.defines:
        sources.append(folder / "defines.v")
        folder.mkdir(parents=True, exist_ok=True)
        sources[0].write_text("".join(f"`define {name}\n" for name in case.defines))
    for name in (*case.headers, *case.sources):
        below = project.includes is not None and name.startswith(f"{project.includes}/")
        path = folder / (name[len(project.includes or "") + 1 :] if below else Path(name).name)
        shown = _git(repository, "show", f"{project.commit}:{name}")
        if shown.returncode:
            raise NotThere(f"{project.repository}: {shown.stderr.decode().strip()}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(shown.stdout)
        if name in case.sources:
            sources.append(path)
    return sources


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=False)
