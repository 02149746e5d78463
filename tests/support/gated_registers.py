"""RTL and options for tests of registers whose clock or enable is gated."""

from __future__ import annotations

from pathlib import Path

__all__ = ["LINE", "PINS", "STALLED", "WITH_ENABLE", "tied"]


PINS = ("--clock", "clk", "--reset", "rst", "--valid-in", "in_valid", "--valid-out", "out_valid")

LINE = """
  always @(posedge clk) if (rst) {v2, v1} <= 0; else {v2, v1} <= {v1, in_valid};
  assign out_valid = v2;
"""

STALLED = """
  always @(posedge clk) if (rst) {v2, v1} <= 0; else if (en) {v2, v1} <= {v1, in_valid};
  assign out_valid = v2;
"""

WITH_ENABLE = (*PINS, "--enable", "en")


def tied(options: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """Return the options that tie ``en`` to 1, unless ``options`` already use it as the enable."""
    if "--enable" in options:
        return ()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ports.toml").write_text('[inputs]\nport = "model_inp"\n[outputs]\nport = "model_out"\n[tie]\nen = 1\n')
    return ("--ports", str(folder / "ports.toml"))
