"""The programs of the campaign, with our RTL or with da4ml's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from support.places import CORPUS
from support.programs import every_opcode

from dais_verif.hardware.emitter import emit_verilog
from dais_verif.spec.program import Program, load

__all__ = ["SUBJECTS", "Subject", "renamed", "subject", "write"]

#: Name of a subject: its program in the corpus (None: the one with every opcode), and the writer of its RTL.
SUBJECTS: dict[str, tuple[str | None, str]] = {
    "every opcode": (None, "ours"),
    "p04 sort, muxes": ("p04_sort8", "ours"),
    "p05 softmax, tables": ("p05_softmax_lut", "ours"),
    "p06 products of matrices": ("p06_matmul_2in", "ours"),
    "p10 bit operations, da4ml's": ("p10_bitops", "da4ml"),
    "p14 products, da4ml's": ("p14_v041_minmaxmul", "da4ml"),
    "p05 tables, da4ml's": ("p05_softmax_lut", "da4ml"),
}

TOP = "model"


class Subject(NamedTuple):
    """A program with RTL; ``files``: Verilog and memory files, by name."""

    name: str
    program: Program
    files: dict[str, str]


def subject(name: str) -> Subject:
    """Return the subject called ``name``; most need the corpus, and da4ml's RTL needs da4ml."""
    source, writer = SUBJECTS[name]
    if source is None:
        program = every_opcode()
    elif writer == "ours":
        program = load(CORPUS / source / "prog.v1.bin")
    else:
        program = load(CORPUS / source / "da4ml.json")
    return Subject(name, program, {f"{TOP}.v": emit_verilog(program)} if writer == "ours" else _da4ml(str(source)))


def _da4ml(name: str) -> dict[str, str]:
    from da4ml.codegen import VerilogModel
    from da4ml.types import CombLogic

    with TemporaryDirectory() as scratch:
        VerilogModel(CombLogic.load(CORPUS / name / "da4ml.json"), TOP, Path(scratch), print_latency=False).write()
        source = Path(scratch) / "src"
        paths = [source / f"{TOP}.v", *sorted(source.glob("static/*.v")), *sorted(source.glob("memfiles/*"))]
        return _stable({path.name: path.read_text() for path in paths})


def _stable(files: Mapping[str, str]) -> dict[str, str]:
    """Number the memory files, which da4ml names at random, so that each run makes the same mutants."""
    text = files[f"{TOP}.v"]
    names = dict.fromkeys(re.findall(r"[\w-]+\.mem", text))
    numbers = {name: f"table_{n}.mem" for n, name in enumerate(names)}
    texts = {numbers.get(name, name): content for name, content in files.items()}
    for old, new in numbers.items():
        texts[f"{TOP}.v"] = texts[f"{TOP}.v"].replace(old, new)
    # Remove attributes: they have no effect in simulation, and Icarus 11 refuses the expressions in them.
    plain = {name: re.sub(r"^ *\(\* .* \*\)\n", "", content, flags=re.MULTILINE) for name, content in texts.items()}
    return {name: content for name, content in plain.items() if name.endswith(".mem") or _used(name, text)}


def _used(name: str, text: str) -> bool:
    return name == f"{TOP}.v" or re.search(rf"\b{name[:-2]} #", text) is not None


def renamed(files: Mapping[str, str], suffix: str) -> dict[str, str]:
    """Return the same design with ``suffix`` on all modules and memory files, so that many fit into one simulation."""
    modules = re.findall(r"^module (\w+)", "\n".join(files.values()), re.MULTILINE)
    result = {}
    for name, text in files.items():
        stem, _, kind = name.rpartition(".")
        if kind == "v":
            for module in modules:
                text = re.sub(rf"^module {module}\b|\b{module}(?= #\()", rf"\g<0>{suffix}", text, flags=re.MULTILINE)
            text = re.sub(r"\.mem\b", f"{suffix}.mem", text)
        result[f"{stem}{suffix}.{kind}"] = text
    return result


def write(files: Mapping[str, str], folder: Path) -> tuple[list[Path], dict[str, Path]]:
    """Write ``files`` into ``folder``; return the sources, and the memory files by the names that the RTL uses."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    sources = [folder / name for name in files if name.endswith(".v")]
    return sources, {name: folder / name for name in files if not name.endswith(".v")}
