"""The pictures of docs/images can be taken of real runs; ``make screenshots`` writes them there."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from bench.networks import network
from dais_verif.spec.program import write_binary

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]

#: A regression in which one design is wrong.
MANIFEST = """programs = ["examples"]
simulators = ["icarus"]
vectors = 200
seeds = [0, 1]
[variants.emitted]
[variants.pipelined]
stages = 3
[variants.vendor]
rtl = "vendor.v"
programs = "examples/quantised_mac.bin"
"""

#: A policy for the same wrong design.
POLICY = """simulators = ["icarus"]
vectors = 500
distinct = 100
[rtl]
files = ["vendor.v"]
"""

#: Per picture: the page, the part of it (empty for the whole window), the step before, and the window's options.
SHOTS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "report-pass": ("pass", "", "", {}),
    "report-mismatch": ("mismatch", "", "", {}),
    "report-program": ("pass", "#program .stage", "cone", {}),
    "report-coverage": ("pass", "#program .stage", "coverage", {"color_scheme": "dark"}),
    "report-regression": ("regression", "", "", {}),
    "report-signoff": ("signoff", "#stages", "", {}),
    "report-phone": ("mismatch", "", "", {"viewport": {"width": 390, "height": 844}}),
}
_FIT = "setTimeout(() => document.getElementById('fit').click(), 200);"
STEPS = {
    "": "",
    "cone": f"location.hash = '#op-520'; {_FIT}",
    "coverage": "const box = document.getElementById('colouring'); box.value = 'coverage';"
    f"box.dispatchEvent(new Event('input')); {_FIT}",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with reports of a passing network, a network with wrong RTL, a regression and a sign-off."""
    place = tmp_path_factory.mktemp("screenshots")
    (place / "network.bin").write_bytes(write_binary(network(1_200), "v1"))

    def call(code: int, *words: str) -> None:
        command = [sys.executable, "-m", "dais_verif", *words]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True)
        assert done.returncode == code, done.stderr

    def home(path: Path) -> None:
        """Remove the path of the temporary folder from ``path``."""
        path.write_text(path.read_text().replace(str(place), "/home/ada"))

    call(0, "sim", "network.bin", "-o", "run")
    call(0, "prove", "network.bin", "-o", "proof")
    call(0, "coverage", "network.bin", "-o", "coverage", "--vectors", "20", "--no-directed", "--timeout", "2")
    call(0, "report", "run", "proof", "coverage", "-o", "pass.html")
    text = (place / "run" / "model.v").read_text()
    bad = re.sub(r"(op_520 = .*?) ([+-]) (.*?;  // .*)", lambda m: f"{m[1]} {'+-'[m[2] == '+']} {m[3]}", text)
    assert bad != text
    (place / "bad.v").write_text(bad)
    call(1, "sim", "network.bin", "--rtl", "bad.v", "-o", "bad")
    home(place / "bad" / "result.json")
    call(0, "report", "bad", "-o", "mismatch.html")
    for example in (ROOT / "examples").glob("*.bin"):
        (place / "examples").mkdir(exist_ok=True)
        shutil.copy(example, place / "examples")
    call(0, "emit", "examples/quantised_mac.bin", "-o", "vendor.v")
    vendor = (place / "vendor.v").read_text()
    (place / "vendor.v").write_text(vendor.replace("op_5 - 5'sd10", "op_5 - 5'sd9"))
    (place / "regress.toml").write_text(MANIFEST)
    call(1, "regress", "regress.toml", "-o", "nightly")
    call(0, "report", "nightly", "-o", "regression.html")
    (place / "signoff.toml").write_text(POLICY)
    call(7, "signoff", "examples/quantised_mac.bin", "--policy", "signoff.toml", "-o", "signed")
    home(place / "signed" / "signoff.json")
    call(0, "report", "signed", "-o", "signoff.html")
    return place


@pytest.mark.parametrize("name", SHOTS)
def test_screenshot(name: str, folder: Path, open_page: Callable[..., Any]) -> None:
    document, part, step, options = SHOTS[name]
    page = open_page(folder / f"{document}.html", **{"viewport": {"width": 1280, "height": 860}, **options})
    if step:
        page.evaluate(f"() => {{ {STEPS[step]} }}")
        page.wait_for_timeout(600)
    data = page.locator(part).screenshot() if part else page.screenshot()
    picture = Image.open(io.BytesIO(data)).convert("RGB")
    colours = picture.getcolors(1 << 24)
    assert colours is not None and len(colours) > 50, "there is something to see"
    target = Path(os.environ.get("DAIS_SCREENSHOTS") or folder) / f"{name}.png"
    target.parent.mkdir(parents=True, exist_ok=True)
    picture.quantize(256, dither=Image.Dither.NONE).save(target, optimize=True)
    assert target.stat().st_size < 200_000
