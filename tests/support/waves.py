"""Read the files that a replay leaves: VCD and FST waves, save files of GTKWave, command files of Surfer."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest


class Wave(NamedTuple):
    """A wave: the declared bounds and the changes (time, bits) of each variable, by its full name without a range."""

    ranges: dict[str, str]
    changes: dict[str, list[tuple[int, str]]]
    end: int

    def at(self, name: str, time: int) -> str:
        """Return all bits of a variable just before ``time``."""
        bits = [value for when, value in self.changes[name] if when < time][-1]
        width = re.fullmatch(r"\[(\d+):(\d+)\]", self.ranges[name])
        full = 1 if width is None else abs(int(width[1]) - int(width[2])) + 1
        return bits.rjust(full, "0" if bits[0] == "1" else bits[0])


def wave_of(path: Path) -> Wave:
    """Return the wave in a VCD or FST file; for FST, skip the test where GTKWave's converter is not installed."""
    if path.suffix == ".fst":
        if shutil.which("fst2vcd") is None:
            pytest.skip("fst2vcd, of Debian's package gtkwave, is not installed")
        text = subprocess.run(["fst2vcd", path], check=True, capture_output=True, text=True).stdout
    else:
        text = path.read_text()
    return read_vcd(text)


def read_vcd(text: str) -> Wave:
    scopes: list[str] = []
    names: dict[str, list[str]] = {}
    ranges: dict[str, str] = {}
    changes: dict[str, list[tuple[int, str]]] = {}
    time = 0
    for words in map(str.split, text.splitlines()):
        match words:
            case ["$scope", _, name, "$end"]:
                scopes.append(name)
            case ["$upscope", "$end"]:
                scopes.pop()
            case ["$var", _, _, code, name, *bounds, "$end"]:
                full = ".".join([*scopes, name])
                names.setdefault(code, []).append(full)
                ranges[full], changes[full] = "".join(bounds), []
            case [word] if word.startswith("#"):
                time = int(word[1:])
            case [bits, code] if bits.startswith("b"):
                for name in names[code]:
                    changes[name].append((time, bits[1:]))
            case [word] if word[0] in "01xz" and word[1:] in names:
                for name in names[word[1:]]:
                    changes[name].append((time, word[0]))
    return Wave(ranges, changes, time)


class Line(NamedTuple):
    """A signal of a save file. ``bits``: the indices of its bits, counted from the left bound; None: all."""

    group: str
    label: str
    path: str
    range: str
    bits: list[int] | None
    flags: int
    fraction: int
    color: int

    def of(self, wave: Wave, time: int) -> str:
        value = wave.at(self.path, time)
        return value if self.bits is None else "".join(value[n] for n in self.bits)


BEGIN, END = 0x800200, 0x1000200


def read_gtkw(text: str) -> tuple[dict[str, str], list[Line], list[str]]:
    """Return the ``[attributes]``, signals and comments of a save file, by GTKWave's grammar (``parsewavline``)."""
    attributes: dict[str, str] = {}
    lines: list[Line] = []
    comments: list[str] = []
    group, flags, fraction, color = "", 0, 0, 0
    for text_line in text.splitlines():
        if found := re.fullmatch(r"\[(.+?)\] (.*)", text_line):
            attributes[found[1]] = found[2]
            fraction = int(found[2]) if found[1] == "fpshift_count" else fraction
            color = int(found[2]) if found[1] == "color" else color
        elif found := re.fullmatch(r"\*(\S+) (\d+)(?: -1)*", text_line):
            attributes["zoom"], attributes["marker"] = found[1], found[2]
        elif found := re.fullmatch(r"@([0-9a-f]+)", text_line):
            flags = int(found[1], 16)
        elif text_line.startswith("-"):
            if flags == BEGIN:
                assert not group
                group = text_line[1:]
            elif flags == END:
                assert group == text_line[1:]
                group = ""
            else:
                assert flags == 0x200
                comments.append(text_line[1:])
        elif found := re.fullmatch(r"\+\{([^{}.]+)\} (\S+?)(\[\d+:\d+\])?", text_line):
            lines.append(Line(group, found[1], found[2], found[3] or "", None, flags, fraction, color))
            color = 0
        else:
            found = re.fullmatch(r"#\{([^{}.]+)\} (.+)", text_line)
            assert found, text_line
            bits = [re.fullmatch(r"\((\d+)\)(\S+?)(\[\d+:\d+\])", word) for word in found[2].split()]
            assert all(bits) and len({(bit[2], bit[3]) for bit in bits if bit}) == 1
            path, bounds = bits[0][2], bits[0][3]  # type: ignore[index]
            places = [int(bit[1]) for bit in bits if bit]
            lines.append(Line(group, found[1], path, bounds, places, flags, fraction, color))
            color = 0
    assert not group, "a group is left open"
    return attributes, lines, comments


class Item(NamedTuple):
    """A line of Surfer's display."""

    path: str
    format: str
    name: str | None


def run_sucl(text: str) -> tuple[str, list[str | Item]]:
    """Return the file that Surfer would load, and the dividers (their text) and signals that it would then show."""
    loaded, shown, focus = "", [], None
    for line in text.splitlines():
        command, _, rest = line.partition("#")[0].strip().partition(" ")
        assert ";" not in rest
        match command:
            case "load_file":
                loaded = rest
            case "divider_add":
                assert re.fullmatch(r"\w+", rest) and focus is None
                shown.append(rest)
            case "variable_add":
                assert focus is None
                shown.append(Item(rest, "", None))
            case "item_focus":
                focus = int(rest.translate(str.maketrans("abcdefghijklmnop", "0123456789abcdef")), 16)
            case "item_unfocus":
                focus = None
            case "item_set_format":
                assert rest in ("Signed", "Unsigned", "Binary", "Bit")
                shown[focus] = shown[focus]._replace(format=rest)
            case "item_rename":
                shown[focus] = shown[focus]._replace(name=rest)
            case _:
                assert command in ("", "item_set_color", "cursor_set", "zoom_fit"), command
    return loaded, shown


def shown_by_gtkwave(save_file: Path, folder: Path) -> dict[str, str]:
    """Return the values at the marker, by label, that GTKWave shows when started elsewhere with only the save file."""
    if not (shutil.which("gtkwave") and shutil.which("xvfb-run")):
        pytest.skip("gtkwave and xvfb-run, of Debian's packages gtkwave and xvfb, are not both installed")
    script = folder / "read.tcl"
    script.write_text(
        "for {set i 0} {$i < [gtkwave::getTotalNumTraces]} {incr i} {\n"
        '  puts "SHOWN|[gtkwave::getTraceNameFromIndex $i]|[gtkwave::getTraceValueAtMarkerFromIndex $i]"\n'
        "}\nflush stdout\nexit\n"
    )
    command = ["xvfb-run", "-a", "gtkwave", "-S", str(script), str(save_file)]
    output = subprocess.run(command, cwd="/", check=False, capture_output=True, text=True, timeout=120).stdout
    shown = [row.split("|")[1:] for row in output.splitlines() if row.startswith("SHOWN|")]
    return {label: value for label, value in shown if value}
