"""How much of a campaign the tests run: a fixed part by default, all of it where ``DAIS_TESTS`` is ``all``.

``make test-all`` sets the variable. What the fast tests choose depends on names alone, so a commit's answer is always
the same.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar
from zlib import crc32

import pytest

T = TypeVar("T")

ALL = os.environ.get("DAIS_TESTS") == "all"


def examples(count: int) -> int:
    """Return how many random examples to try: ``count``, and a quarter of them in the fast tests."""
    return count if ALL else min(count, max(5, count // 4))


def some(cases: Iterable[T], count: int = 6, name: Callable[[T], object] = repr) -> list[T]:
    """Return all ``cases``; in the fast tests ``count`` of them, chosen by a hash of their names."""
    listed = list(cases)
    if ALL or len(listed) <= count:
        return listed
    chosen = {id(one) for one in sorted(listed, key=lambda one: crc32(str(name(one)).encode()))[:count]}
    return [one for one in listed if id(one) in chosen]


def fast_tests(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """Return which of ``items`` are kept: one simulator of each case, some cases of tests with the marker ``few``.

    Tests with the marker ``slow`` are left alone, because pytest's ``-m`` selects or deselects them.
    """
    kept = {item for item in items if item.get_closest_marker("slow") is not None}
    cases: dict[tuple[str, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item not in kept:
            cases[_function(item), _case(item)].append(item)
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for (function, case), found in cases.items():
        tests[function].append(found[crc32(_built(found[0], case).encode()) % len(found)])
    for found in tests.values():
        few = found[0].get_closest_marker("few")
        kept |= set(some(found, few.args[0], lambda item: item.name) if few else found)
    return kept


def _function(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _case(item: pytest.Item) -> str:
    """Return the name of the case of ``item``, without its simulator."""
    simulator = _parameters(item).get("simulator")
    return item.name.replace(str(getattr(simulator, "__name__", simulator)), "", 1) if simulator else item.name


def _built(item: pytest.Item, case: str) -> str:
    """Return the name of what a simulator is built for: a group of rows, or a case."""
    return str(_parameters(item).get("group", case))


def _parameters(item: pytest.Item) -> dict[str, object]:
    return item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
