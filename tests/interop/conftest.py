"""da4ml in the release that the tests here speak of; without it they are skipped, but never in CI."""

from __future__ import annotations

import os
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from interop.peer import VERSION

# bench/ is no part of the package; it is imported from the root of the repository, as ``python -m bench.golden`` does.
sys.path.append(str(Path(__file__).parents[2]))


@pytest.fixture(scope="session")
def da4ml() -> None:
    try:
        found = version("da4ml")
    except PackageNotFoundError:
        found = "none"
    if found != VERSION:
        message = f"da4ml {VERSION} is needed, {found} is installed; pip install da4ml=={VERSION}"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
