"""Requirements of pairs: external simulators and Yosys, and cases in which a simulation compares something."""

from __future__ import annotations

from collections.abc import Sequence

from dais_verif.errors import ToolError
from dais_verif.fuzzing.case import Case
from dais_verif.fuzzing.pairs.disagreement import NotJudged
from dais_verif.toolchain import tools

__all__ = ["require_comparable", "require_tool", "require_tools"]


def require_tool(name: str) -> None:
    """Raise ``ToolError``, with a remedy, if tool ``name`` is missing."""
    {"icarus": tools.icarus, "verilator": tools.verilator, "yosys": tools.yosys}[name]()


def require_tools(names: Sequence[str]) -> None:
    """Raise ``NotJudged`` if one of the tools ``names`` is missing."""
    try:
        for name in names:
            require_tool(name)
    except ToolError as error:
        raise NotJudged(str(error)) from None


def require_comparable(case: Case, *names: str) -> None:
    """Raise ``NotJudged`` if a simulation of the case compares nothing, or if one of the tools is missing."""
    require_tools(names)
    if not case.rows or not case.program.n_in or not any(kind.width for kind in case.program.output_types):
        raise NotJudged("the program has no inputs, or outputs without bits, or there is no vector")
