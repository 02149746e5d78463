"""The cache of builds: an entry is complete or absent, and what cannot be kept is built again."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builds import FACTS, KEY, NAMES, built, key_called, keys, put
from support.door import command
from support.said import as_recorded, raises

from dais_verif.base.errors import InputError
from dais_verif.base.toolchain import build_cache


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("DAIS_VERIF_CACHE_MB", raising=False)
    return tmp_path / "cache" / "builds"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a run."""
    folder = tmp_path / "run"
    folder.mkdir()
    return folder


class TestKey:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            (["ab", "c"], ["a", "bc"]),
            (["a"], ["a", ""]),
            ([], [""]),
            (["a", "b"], ["b", "a"]),
            (["a", "b"], ["ab"]),
            # One part that consists of two parts with their lengths.
            ([b"a", b"b"], [b"a" + (1).to_bytes(8, "little") + b"b"]),
            ([b"", b""], [bytes(8)]),
        ],
    )
    def test_of_parts_that_run_together(self, one: list[str | bytes], other: list[str | bytes]) -> None:
        assert build_cache.key_of(one) != build_cache.key_of(other)

    @given(st.lists(st.binary(max_size=9), max_size=4), st.lists(st.binary(max_size=9), max_size=4))
    def test_is_the_same_for_the_same_parts_alone(self, one: list[bytes], other: list[bytes]) -> None:
        assert (build_cache.key_of(one) == build_cache.key_of(other)) == (one == other)

    def test_is_a_file_name_whatever_the_parts_are(self) -> None:
        key = build_cache.key_of(["/a path/ä", os.fsdecode(b"\xff"), b"\0\xff", ""])
        assert key.isalnum() and len(key) == 32


class TestEntry:
    def test_comes_back_as_it_was(self, home: Path, folder: Path) -> None:
        put(KEY, folder)
        assert build_cache.fetch(KEY, NAMES, folder)
        assert (folder / "simulation").read_text() == KEY
        assert (folder / "build.log").read_text() == f"log of {KEY}"
        assert os.access(folder / "simulation", os.X_OK) and not os.access(folder / "build.log", os.X_OK)
        (entry,) = build_cache.entries()
        assert (entry.key, FACTS.items() <= entry.facts.items()) == (KEY, True)
        assert entry.bytes == sum(path.stat().st_size for path in (home / KEY).iterdir())
        assert abs(entry.used - time.time()) < 60

    def test_takes_the_place_of_what_an_earlier_run_left(self, folder: Path) -> None:
        put(KEY, folder)
        built(folder, "earlier")
        assert build_cache.fetch(KEY, NAMES, folder)
        assert (folder / "simulation").read_text() == KEY

    def test_that_is_missing(self, folder: Path) -> None:
        assert not build_cache.fetch(KEY, NAMES, folder)
        assert list(folder.iterdir()) == []

    @pytest.mark.parametrize("name", NAMES)
    def test_that_lacks_a_file(self, home: Path, folder: Path, tmp_path: Path, name: str) -> None:
        put(KEY, tmp_path)
        (home / KEY / name).unlink()
        assert not build_cache.fetch(KEY, NAMES, folder)
        assert list(folder.iterdir()) == []

    def test_that_goes_while_it_is_fetched(
        self, home: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put(KEY, tmp_path)
        link, linked = os.link, []

        def link_and_remove(source: Path, target: Path) -> None:
            link(source, target)
            linked.append(target.name)
            shutil.rmtree(home / KEY)

        monkeypatch.setattr(os, "link", link_and_remove)
        assert not build_cache.fetch(KEY, NAMES, folder)
        assert linked == ["simulation"]
        assert list(folder.iterdir()) == []

    def test_is_copied_where_the_file_system_has_no_links(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def no_link(source: Path, target: Path) -> None:
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(os, "link", no_link)
        put(KEY, folder)
        assert build_cache.fetch(KEY, NAMES, folder)
        assert (folder / "simulation").read_text() == KEY
        assert os.access(folder / "simulation", os.X_OK)

    def test_is_put_once(self, home: Path, folder: Path) -> None:
        put(KEY, folder)
        first = (home / KEY / "simulation").stat().st_ino
        put(KEY, folder)
        assert [path.name for path in home.iterdir()] == [KEY]
        assert (home / KEY / "simulation").stat().st_ino == first

    def test_that_is_broken_is_replaced(self, home: Path, folder: Path) -> None:
        put(KEY, folder)
        (home / KEY / "simulation").unlink()
        assert not build_cache.fetch(KEY, NAMES, folder)
        put(KEY, folder)
        assert build_cache.fetch(KEY, NAMES, folder)

    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("text", ["", "other"])
    def test_that_has_changed_since_is_none(
        self, home: Path, folder: Path, tmp_path: Path, name: str, text: str
    ) -> None:
        put(KEY, tmp_path)
        (home / KEY / name).write_text(text)
        assert not build_cache.fetch(KEY, NAMES, folder)
        assert list(folder.iterdir()) == []

    def test_whose_file_is_missing_is_not_put(self, home: Path, folder: Path) -> None:
        build_cache.put(KEY, NAMES, folder, FACTS)
        assert list(home.iterdir()) == []


class TestLimit:
    def test_is_kept_by_removing_what_was_not_used_for_longest(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("DAIS_VERIF_CACHE_MB", "1")
        now = time.time()
        put("old", folder, size=300_000, used=now - 300)
        put("older", folder, size=300_000, used=now - 400)
        put("oldest but used again", folder, size=300_000, used=now - 500)
        assert build_cache.fetch(key_called("oldest but used again"), NAMES, folder)
        put("new", folder, size=300_000)
        assert sorted(keys()) == ["new", "old", "oldest but used again"]
        put("newest", folder, size=350_000)
        assert sorted(keys()) == ["new", "newest", "oldest but used again"]

    def test_never_removes_what_was_just_put(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DAIS_VERIF_CACHE_MB", "1")
        put("in the future", folder, size=600_000, used=time.time() + 1000)
        put(KEY, folder, size=600_000)
        assert KEY in keys()
        assert build_cache.fetch(KEY, NAMES, folder)

    def test_of_nothing_keeps_nothing(self, home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DAIS_VERIF_CACHE_MB", "0")
        put(KEY, folder)
        assert not home.exists()
        assert keys() == []

    def test_is_two_gigabytes_by_default(self) -> None:
        assert build_cache.limit() == 2_000_000_000

    @pytest.mark.parametrize("text", ["", " ", "-1", "1.5", "1e3", "many", "0x10", "²"])
    def test_must_be_a_number(self, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DAIS_VERIF_CACHE_MB", text)
        with raises(InputError):
            build_cache.limit()


class TestClear:
    def test_removes_all_and_says_how_much_that_was(self, home: Path, folder: Path) -> None:
        for key in ("a", "b"):
            put(key, folder, size=1000)
        (home / f".passing-{0:016x}").mkdir()
        size = sum(entry.bytes for entry in build_cache.entries())
        assert size > 2000
        assert build_cache.clear() == size
        assert list(home.iterdir()) == []
        assert build_cache.clear() == 0

    def test_leaves_a_run_what_it_has(self, folder: Path) -> None:
        put(KEY, folder)
        assert build_cache.fetch(KEY, NAMES, folder)
        build_cache.clear()
        assert (folder / "simulation").read_text() == KEY

    def test_that_is_killed_leaves_no_half_of_an_entry(
        self, home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """If ``clear`` is killed, no entry is left half removed: entries are renamed before their files are removed."""
        put(KEY, folder)
        monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)
        build_cache.clear()
        assert not (home / KEY).exists()

    def test_of_no_cache(self) -> None:
        assert build_cache.clear() == 0


class TestLeftOvers:
    def test_go_after_an_hour(self, home: Path, folder: Path) -> None:
        for name, age in ((f".passing-{0:016x}", 3700), (f".passing-{1:016x}", 3500)):
            (home / name).mkdir(parents=True)
            (home / name / "simulation").touch()
            os.utime(home / name, (time.time() - age,) * 2)
        put(KEY, folder)
        assert sorted(path.name for path in home.iterdir()) == [f".passing-{1:016x}", KEY]

    def test_are_no_entries(self, home: Path, folder: Path) -> None:
        put(KEY, folder)
        (home / KEY).rename(home / ".passing-0")
        assert build_cache.entries() == []
        assert not build_cache.fetch(KEY, NAMES, folder)


class TestNoCache:
    """If the folder of the cache cannot be created, there is no cache, and no error either."""

    @pytest.fixture(autouse=True, params=["", "builds"])
    def blocked(self, tmp_path: Path, request: pytest.FixtureRequest) -> None:
        file = tmp_path / "cache" / request.param
        file.parent.mkdir(exist_ok=True)
        file.touch()

    def test_keeps_nothing(self, folder: Path) -> None:
        put(KEY, folder)
        assert not build_cache.fetch(KEY, NAMES, folder / "built")
        assert build_cache.entries() == []
        assert build_cache.clear() == 0

    def test_has_a_turn_for_everybody(self) -> None:
        entered = []
        with build_cache.turn(KEY, timeout=60):
            entered.append("first")
            begin = time.monotonic()
            with build_cache.turn(KEY, timeout=60):
                entered.append("second")
                assert time.monotonic() - begin < 30, "the second waited for the first"
        assert entered == ["first", "second"]


class TestVerb:
    """``dais-verif cache``, run in a process of its own."""

    def test_shows_and_removes(self, home: Path, folder: Path) -> None:
        put("first", folder, size=1_500_000, used=time.time() - 7300)
        put("second", folder)
        runtime = home.parent / "runtime" / f"{0:024x}"
        runtime.mkdir(parents=True)
        (runtime / "object.o").write_bytes(bytes(2_000_000))

        shown = command("cache")
        assert (shown.returncode, shown.stderr) == (0, "")
        _, *rows = shown.stdout.splitlines()
        assert [row.split()[:4] for row in rows[:2]] == [["icarus", "model", size, "MB"] for size in ("0.0", "1.5")]
        assert "2 h" in rows[1]
        assert [row.split()[1] for row in rows[2:]] == [str(home.parent), "2,", "0.0", "2.0"]
        as_recorded("\n".join(rows[1:]))

        tree: dict[str, Any] = json.loads(command("cache", "--json", DAIS_VERIF_CACHE_MB="5").stdout)
        assert (tree["folder"], tree["limit_bytes"], tree["runtime_bytes"]) == (str(home.parent), 5_000_000, 2_000_000)
        assert [build["key"] for build in tree["builds"]] == [key_called("second"), key_called("first")]
        assert tree["builds_bytes"] == sum(build["bytes"] for build in tree["builds"]) > 1_500_000
        assert FACTS.items() <= tree["builds"][0]["facts"].items()

        cleared = command("cache", "clear")
        assert cleared.returncode == 0
        assert all(size in cleared.stdout for size in ("2 builds", "1.5 MB", "2.0 MB"))
        as_recorded(cleared.stdout.strip())
        assert keys() == []
        assert not runtime.exists()

    def test_of_no_cache(self, tmp_path: Path) -> None:
        shown = command("cache")
        assert (shown.returncode, shown.stderr) == (0, "")
        (builds,) = (line for line in shown.stdout.splitlines() if line.startswith("builds "))
        assert builds.split()[1:3] == ["0,", "0.0"]
        as_recorded(builds)

    def test_of_a_limit_that_is_no_number(self) -> None:
        shown = command("cache", DAIS_VERIF_CACHE_MB="lots")
        assert shown.returncode == 2
        as_recorded(shown.stderr)
        assert shown.stderr.count("\n") == 1
