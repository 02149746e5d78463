"""A netlist as RTL for the simulators, with models of only the cells that it uses.

Not every simulator accepts the complete model files of the targets, which also slow all simulators down. Therefore the
required modules are extracted into one file without includes, so that the build depends only on known sources.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.errors import Argument, InputError, NetlistError, NetlistFailure
from dais_verif.base.files import read_plain, write_atomically
from dais_verif.base.toolchain import tools
from dais_verif.hardware.synthesis.targets import NETLISTS, TARGETS, Target
from dais_verif.hardware.synthesis.yosys import CELLS, NETLIST

__all__ = ["MODELS", "RECORD", "SynthesizedNetlist", "find_netlist", "models", "netlist_sources", "with_rules"]


#: The record of ``synth``, next to the netlist.
RECORD = "synth.json"

#: The file with the models for a simulation.
MODELS = "cells.v"

_MODULE = re.compile(r"^[ \t]*(?:\(\*[^\n]*\*\)\s*)?module\s+(\\\S+|\w+).*?\bendmodule\b", re.MULTILINE | re.DOTALL)
_DECLARES = re.compile(r"\s*(?:(?:parameter|localparam|input|output|inout|endmodule)\b|(?:wire|reg)\b[^=]*$|$)")
_WORD = re.compile(r"\\\S+|[A-Za-z_]\w*")
_DEFINE = re.compile(r"^`(?!timescale|include|default_nettype|resetall).*$", re.MULTILINE)


class SynthesizedNetlist(NamedTuple):
    """A netlist and its target."""

    path: Path
    target: str

    @property
    def written(self) -> tuple[str, ...]:
        """The names of the files that ``netlist_sources`` writes."""
        return (MODELS,)


def find_netlist(path: Path, target: str | None) -> SynthesizedNetlist:
    """Return the netlist at ``path``: a file, with its ``target``, or a folder of ``synth``, which records the target.

    Raises ``InputError`` if there is no netlist, or if it has another target.
    """
    if not path.is_dir():
        if not path.is_file():
            raise NetlistError(f"netlist {str(path)!r} does not exist; `dais-verif synth ... -o DIR` makes one")
        if target is None:
            raise NetlistError.of(
                "netlist {path!r}: name the cells it is made of, {target} {known}",
                path=str(path),
                known="|".join(NETLISTS),
            )
        return SynthesizedNetlist(path, target)
    try:
        record = json.loads(read_plain(path / RECORD, 1 << 28))
        made_for = str(record["target"])
    except (InputError, ValueError, KeyError, TypeError) as error:
        raise NetlistError(
            f"{str(path)!r} is not a folder of `dais-verif synth ... -o DIR`: no {RECORD} in it"
        ) from error
    if made_for not in TARGETS or not (path / NETLIST).is_file():
        raise NetlistError(f"{str(path)!r} holds no netlist; call `dais-verif synth ... -o DIR` again")
    if target not in (None, made_for):
        raise NetlistError.of(
            "the netlist in {path!r} was made for {made_for}, not for {target} {target_given}",
            path=str(path),
            made_for=made_for,
            target_given=target,
        )
    return SynthesizedNetlist(path / NETLIST, made_for)


def netlist_sources(netlist: SynthesizedNetlist, folder: Path) -> tuple[Path, ...]:
    """Return the RTL files that a simulation of ``netlist`` needs; models are written into ``folder``.

    Raises ``ToolError`` if Yosys, which has the models, is missing.
    """
    text = models(netlist.path.read_text(encoding="utf-8", errors="replace"), NETLISTS[netlist.target])
    if not text:
        return (netlist.path,)
    write_atomically(folder / MODELS, text.encode())
    return (netlist.path, folder / MODELS)


def models(netlist: str, target: Target) -> str:
    """Return models of the cells that the Verilog text ``netlist`` uses, and of all cells that these models use.

    Raises ``InputError`` for a cell with an empty model, which would make the netlist look wrong, and ``ToolError`` if
    the model of DSP48E1 is not the known one.
    """
    wanted = _words(netlist) - {found[1] for found in _MODULE.finditer(netlist)}
    available: dict[str, str] = {}
    heading = [f"`define {name}" for name in target.defines]
    for path in _model_files(target):
        source = _without_comments(path.read_text(encoding="utf-8", errors="replace"))
        first = _MODULE.search(source)
        heading += _DEFINE.findall(source[: first.start() if first else 0])
        available |= {name: _without_delays(module) for name, module in _modules(source) if name not in available}
    chosen: dict[str, str] = {}
    while found := sorted(name for name in available.keys() - chosen.keys() if name in wanted):
        for name in found:
            chosen[name] = with_rules(available[name]) if name == "DSP48E1" else available[name]
            wanted |= _words(available[name])
    if empty := sorted(name for name, module in chosen.items() if not _computes(module)):
        raise NetlistError.of(
            "Yosys has no model that simulates {known}, which the netlist uses; synthesize with {without} if these "
            "are block RAMs, or give netlist and the vendor's models with {rtl}",
            known=", ".join(empty),
            without=Argument("bram=False"),
        )
    if not chosen:
        return ""
    return "\n\n".join(["\n".join(heading), *chosen.values(), ""])


def _model_files(target: Target) -> list[Path]:
    own = [CELLS / target.own_models] if target.own_models else []
    if not target.models:
        return own
    share = tools.yosys().share
    paths = [*own, *(share / name for name in target.models)]
    for path in paths:
        if not path.is_file():
            raise NetlistFailure(
                f"{path}, the cell models of Yosys, does not exist; reinstall Yosys (Debian: apt-get install yosys),"
                " or set DAIS_VERIF_YOSYS to one that has its share/yosys beside its folder"
            )
    return paths


def _modules(source: str) -> Iterator[tuple[str, str]]:
    for found in _MODULE.finditer(source):
        yield found[1], found[0]


def _computes(module: str) -> bool:
    """Return True if ``module`` holds more than declarations and delays."""
    body = re.sub(r"\(\*.*?\*\)|^\s*`.*?$", " ", module, flags=re.DOTALL | re.MULTILINE)
    return any(not _DECLARES.match(statement) for statement in body.split(";")[1:])


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text))


def _without_comments(text: str) -> str:
    """Return ``text`` without comments, which may mention modules. Strings in the models contain no comment marks."""
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)


def _without_delays(module: str) -> str:
    """Return ``module`` without its delays, which are not used and not accepted by every tool."""
    return re.sub(r"\bspecify\b.*?\bendspecify\b", "", module, flags=re.DOTALL)


# Add rules to Yosys' model of DSP48E1: operations that the data sheet forbids then give X, or are errors.


#: Parameters and their legal values.
_WORDS = {
    "A_INPUT": ("DIRECT", "CASCADE"),
    "B_INPUT": ("DIRECT", "CASCADE"),
    "USE_DPORT": ("TRUE", "FALSE"),
    "USE_MULT": ("NONE", "MULTIPLY", "DYNAMIC"),
}
_STAGES = {"AREG": 2, "BREG": 2, "ACASCREG": 2, "BCASCREG": 2} | dict.fromkeys(
    ["ADREG", "ALUMODEREG", "CARRYINREG", "CARRYINSELREG", "CREG", "DREG", "INMODEREG", "MREG", "OPMODEREG", "PREG"], 1
)
#: The adder sums the multiplier's two partial products; if SIMD cuts the carries of the adder, this sum is not the
#: product.
_SUMS = 'if (USE_SIMD != "ONE48" && USE_MULT != "NONE") $fatal(1, "USE_SIMD must be ONE48 unless USE_MULT is NONE");'

_CHECKS = re.compile(r"(\binitial\s+begin\s+`ifndef\s+YOSYS\s*?\n)")
_PRODUCT = re.compile(r"(wire\s+signed\s*\[42:0\]\s*Mx\s*=\s*\()")
_HALF = re.compile(r"(if\s*\((OPMODEr\[(?:3:2|1:0)\] != 2'b01)\)\s*)\$fatal")


def with_rules(module: str) -> str:
    """Return ``module``, the text of Yosys' model, with the rules added.

    A simulation ends at illegal parameters, and a proof refuses them. A product that is switched off, or that only one
    of the multiplexers X and Y selects, is X. Raises ``ToolError`` if a place for these rules is not found: without
    them, the model would compute what the data sheet forbids.
    """
    checks = "".join(f"        {line}\n" for line in _rules())
    module, checked = _CHECKS.subn(lambda found: found[1] + checks, module)
    module, products = _PRODUCT.subn(r'\1USE_MULT == "NONE" || ', module)
    module, halves = _HALF.subn(
        lambda found: f"if ({found[2]}) {'X' if '3:2' in found[2] else 'Y'} = 48'bx; {found[0]}", module
    )
    if (checked, products, halves) != (1, 1, 2):
        raise NetlistFailure(
            "the model of DSP48E1 in this Yosys is not the known one, whose gaps are closed here: a proof with it might"
            " be wrong; use Yosys 0.23, or give the netlist and the vendor's models as RTL"
        )
    return module


def _rules() -> list[str]:
    lines = [_SUMS]
    for name, words in _WORDS.items():
        wrong = " && ".join(f'{name} != "{word}"' for word in words)
        lines.append(f'if ({wrong}) $fatal(1, "{name} must be {" or ".join(words)}");')
    for name, most in _STAGES.items():
        lines.append(f'if ({name} < 0 || {name} > {most}) $fatal(1, "{name} must be 0 to {most}");')
    return lines
