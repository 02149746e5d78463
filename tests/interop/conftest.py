"""Require the releases of da4ml and alkaid that these tests describe; without them, tests are skipped or fail in CI."""

from __future__ import annotations

import os
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from interop.peer import ALKAID_VERSION, VERSION

# bench/ is not a part of the package; it is imported from the repository's root, as ``python -m bench.golden`` does.
sys.path.append(str(Path(__file__).parents[2]))


@pytest.fixture(scope="session")
def da4ml() -> None:
    require("da4ml", VERSION)


@pytest.fixture(scope="session")
def alkaid() -> None:
    require("alkaid", ALKAID_VERSION)


def require(package: str, wanted: str) -> None:
    try:
        found = version(package)
    except PackageNotFoundError:
        found = "none"
    if found != wanted:
        message = f"{package} {wanted} is needed, {found} is installed; pip install {package}=={wanted}"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
