"""Imports are at module level, except for these, which keep slow modules out of runs that do not need them.

The cost of each import is in CONTRIBUTING.md. A new exception needs a row here, which says what it keeps out of which
runs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import dais_verif

PACKAGE = Path(dais_verif.__file__).parent

_API = "``import dais_verif`` takes less than 0.15 s, and each function loads its flow"
_PROVER = "the prover with bitwuzla and pyslang, from proofs that are recalled and runs without one"
_PAGES = "rich, jinja2 and the pages, from runs that print something else"
_BENCH = "the simulators' side with its vectors, from runs that do not simulate"
_FAST = "the C kernel, from programs that it cannot run"
_LOCK = "filelock, from runs that keep nothing"
_PLUGIN = "all of it, from every session of pytest in which the plugin is installed and not used"
_FAILURE = "what only the end of a failed run needs"

#: (importer, imported module): reason for not importing at the top. A module name includes all modules below it.
LAZY = {
    ("api", "dais_verif.flows"): _API,
    ("notebooks", "dais_verif.report.html.notebook"): _PAGES,
    ("cli", "dais_verif.report"): _PAGES,
    ("report", "dais_verif.report.html"): _PAGES,
    ("cli.terminal", "dais_verif.report.simulation_display"): _PAGES,
    ("cli.common", "dais_verif.flows.sandbox"): "processes and tools, from verbs that start none",
    ("cli.schema", "dais_verif.record.schema"): "the schemas' generator, from the verbs that read one",
    ("cli.main", "dais_verif.record.simulation"): _FAILURE,
    ("cli.main", "dais_verif.internal_error"): _FAILURE,
    ("internal_error", "dais_verif.cache_folder"): _FAILURE,
    ("flows", "dais_verif.prover"): _PROVER,
    ("flows", "dais_verif.simulation"): _BENCH,
    ("flows.machines.simulate", "dais_verif.dut.interface"): _BENCH,
    ("flows.machines.simulate", "dais_verif.program.ports"): _BENCH,
    ("flows.machines.simulate", "dais_verif.flows.machines.wrapped"): _BENCH,
    ("flows.machines.streams", "dais_verif.flows.diff"): "comparing programs, from machines that need no proof",
    ("cli.sim", "dais_verif.flows.simulate_jointly"): _BENCH,
    ("flows.simulate", "dais_verif.flows.machines.simulate"): "machines, from simulations of programs",
    ("flows.simulate", "dais_verif.flows.kernels.simulate"): "kernels, from simulations of programs",
    ("flows.prove", "dais_verif.flows.kernels.prove"): "kernels, from proofs of programs",
    ("flows.convert", "dais_verif.flows.machines.convert"): "the text form of machines, from conversions of programs",
    ("machine.load", "dais_verif.machine.text"): "the parser, from machines that are no text",
    ("machine.load", "dais_verif.program.assembler"): "the assembler, from machines that are no text",
    ("flows.proof", "dais_verif.stimulus"): _BENCH,
    ("flows", "dais_verif.coverage"): "coverage with bitwuzla, from simulations that do not count",
    ("fuzzing.adapters", "da4ml"): "a package of others, from all but the script that runs it",
    ("fuzzing.adapters", "alkaid"): "a package of others, from all but the script that runs it",
    ("fuzzing.pairs.proof", "dais_verif.prover.slang"): _PROVER,
    ("fuzzing.machines.pairs", "dais_verif.prover.slang"): _PROVER,
    ("coverage.directed", "dais_verif.coverage.solver"): "bitwuzla, from counts that leave nothing open",
    ("flows", "dais_verif.golden.fast"): _FAST,
    ("golden", "dais_verif.golden.batch"): "numpy's engine, from programs that the kernel runs",
    ("program", "dais_verif.program.assembler"): "the assembler, from programs that are no text",
    ("flows", "filelock"): _LOCK,
    ("flows.no_loss", "dais_verif.referred_files"): "machines and kernels, from runs that write over nothing",
    ("referred_files", "dais_verif.machine.text"): "the parser, from files that are no text of a machine",
    ("toolchain", "filelock"): _LOCK,
    ("flows.simulation_record", "importlib.metadata"): "a search of all that is installed, until a record is written",
    ("cache_folder", "platformdirs"): "platformdirs, where the environment names the folder",
    ("passphrase", "ctypes"): "ctypes, where no passphrase is given",
    ("hil.link", "serial"): "an optional package, from boards that are simulated, and from proofs of what runs on them",
    ("cli.approx", "dais_verif.flows.approximation.tune"): "psutil, an optional package, from all but the search",
    ("toolchain.tools", "cocotb_tools"): "an optional package, from all that starts no simulator",
    ("toolchain.tools", "find_libpython"): "a search for a library, where no simulator runs",
    ("network_files", "dais_verif.networks"): "networks and their operators, from programs that are none",
    ("flows.networks.requests", "dais_verif.networks"): "networks and their operators, from programs that are none",
    ("network_faults", "dais_verif.networks.hardware"): "networks and kernels, from sign-offs of what is none",
    ("network_faults", "onnx"): "an optional package, from all that reads no network",
    ("flows.networks.folders", "dais_verif.networks.hardware"): "networks and kernels, from programs that are none",
    ("flows.networks.emit", "dais_verif.flows.networks.build"): "networks and kernels, from programs that are none",
    ("flows.simulate", "dais_verif.flows.networks.simulate"): "networks, from simulations of programs",
    ("flows.prove", "dais_verif.flows.networks.prove"): "networks, from proofs of programs",
    ("networks.onnx_file", "onnx"): "an optional package, from all that reads no network",
    ("networks.onnx_file", "google.protobuf"): "what onnx stands on, from all that reads no network",
    ("record.base", "msgspec"): "msgspec, from programs that make no record",
    ("dut", "pyslang"): "pyslang, from designs of our own, whose ports are known",
    ("fuzzing.rtl", "pyslang"): "pyslang, from cases without RTL of others",
    ("pytest_plugin", "dais_verif"): _PLUGIN,
    (
        "simulation.testbench.entry",
        "cocotb.regression",
    ): "pytest, from simulations: it is not to be had while this is loaded",
}


def lazy(text: str) -> Iterator[str]:
    """Yield the modules that are imported inside functions of ``text``."""
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.ImportFrom):
                    yield node.module or ""
                elif isinstance(node, ast.Import):
                    yield from (alias.name for alias in node.names)


def within(name: str, above: str) -> bool:
    return name == above or name.startswith(f"{above}.")


def allowed(importer: str, imported: str) -> list[tuple[str, str]]:
    """Return the rows of ``LAZY`` that allow this import."""
    return [row for row in LAZY if within(importer, row[0]) and within(imported, row[1])]


@cache
def found() -> set[tuple[str, str]]:
    modules = {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path.read_text()
        for path in PACKAGE.rglob("*.py")
    }
    return {(importer, imported) for importer, text in modules.items() for imported in lazy(text)}


def test_every_import_within_a_function_has_a_reason() -> None:
    assert sorted(pair for pair in found() if not allowed(*pair)) == []


def test_every_reason_has_an_import() -> None:
    used = {row for pair in found() for row in allowed(*pair)}
    assert sorted(LAZY.keys() - used) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import numpy\n", []),
        ("def f():\n    import numpy\n", ["numpy"]),
        (
            "class C:\n    def f(self):\n        if 1:\n            from dais_verif.flows import x\n",
            ["dais_verif.flows"],
        ),
    ],
)
def test_an_import_within_a_function_is_seen(text: str, expected: list[str]) -> None:
    assert list(lazy(text)) == expected


def test_a_row_speaks_of_its_own_modules() -> None:
    assert allowed("api.designs", "dais_verif.flows.prove") and not allowed("apiary", "dais_verif.flows.prove")
    assert not allowed("api.designs", "dais_verif.prover") and not allowed("golden.vm", "dais_verif.flows")
