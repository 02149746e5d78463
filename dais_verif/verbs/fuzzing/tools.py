"""Run other tools in fuzzing: an interpreter, or a generator of Verilog."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from dais_verif.base.errors import DaisError, InputError, RequestError
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.fuzzing.case import Case
from dais_verif.campaigns.fuzzing.command import AGAINST, Command, Interpreter
from dais_verif.campaigns.fuzzing.files import write_inputs, write_program
from dais_verif.campaigns.fuzzing.pairs.disagreement import Disagreement, NotJudged, Pair
from dais_verif.spec.program import Program
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.fuzzing.requests import ADAPTERS, RTL_ADAPTERS, FuzzRequest
from dais_verif.verbs.simulate import simulate
from dais_verif.verbs.simulation_request import SimulationRequest

__all__ = ["RTL_FROM", "tool_of"]

#: The name of the pair of a generator of RTL and the golden model.
RTL_FROM = "rtl-from"


def tool_of(request: FuzzRequest) -> Callable[[Path], Pair]:
    """Return the judge of cases by the tool of ``request``, given a working folder.

    Raises ``RequestError`` if the tool is not an executable command.
    """
    if request.rtl_from is not None:
        if request.rtl_from in RTL_ADAPTERS:
            _require_installed(request.rtl_from)
            command = _adapter(f"{request.rtl_from}_rtl", "{program}", "{folder}")
        else:
            command = Command.of("rtl_from", request.rtl_from, ("program", "folder"))
        return lambda folder: _Generator(command, request, folder).judge
    text = request.against or ""
    if text in ADAPTERS:
        _require_installed(text)
        interpreter = _adapter(text, "{program}", "{inputs}", "{outputs}")
    else:
        interpreter = Command.of("against", text, ("program", "inputs", "outputs"))
    return lambda folder: Interpreter(interpreter, request.program_form, folder, request.timeout).judge


def _adapter(name: str, *places: str) -> Command:
    """Return the command that runs an adapter of this package."""
    return Command((sys.executable, "-m", f"dais_verif.campaigns.fuzzing.adapters.{name}", *places), Path.cwd())


def _require_installed(name: str) -> None:
    if find_spec(name) is None:
        raise RequestError.of("the Python package {name} is not installed; run: pip install {name}", name=name)


class _Generator:
    """The judge of ``command``, which writes Verilog of a program: its simulation must match the program."""

    def __init__(self, command: Command, request: FuzzRequest, folder: Path) -> None:
        self._command, self._request, self._folder = command, request, folder

    def judge(self, case: Case) -> Disagreement | None:
        """Return the result of simulating the command's RTL. Raises ``NotJudged`` if nothing was compared."""
        rtl = self._folder / "rtl"
        shutil.rmtree(rtl, ignore_errors=True)
        rtl.mkdir()
        try:
            program = write_program(case.program, self._folder, self._request.program_form)
            inputs = write_inputs(case.rows, self._folder)
        except InputError as error:
            raise NotJudged(str(error)) from None
        ending = self._command.run({"program": program, "folder": rtl}, self._folder, self._request.timeout)
        if ending.status != 0:
            kind = "no end" if ending.status is None else "crash" if ending.crashed else f"exit code {ending.status}"
            return Disagreement(RTL_FROM, kind, f"the other tool {ending.words}: {ending.last_line}")
        sources = sorted(path for path in rtl.rglob("*") if path.suffix in (".v", ".sv") and path.is_file())
        if self._request.rtl_from in RTL_ADAPTERS:  # skip the wrapper for the generator's own bench
            sources = [path for path in sources if not path.stem.endswith("_wrapper")]
        if not sources:
            return Disagreement(
                RTL_FROM, "no RTL", "the tool ended with exit code 0, but wrote no .v or .sv file into the folder"
            )
        data = tuple(sorted(path for path in rtl.glob("**/memfiles/*") if path.is_file()))
        of = program if self._request.rtl_from in RTL_ADAPTERS else case.program
        return self._simulated(case, of, DesignRequest(rtl=tuple(sources), top=self._request.top, data=data), inputs)

    def _simulated(self, case: Case, of: Path | Program, design: DesignRequest, inputs: Path) -> Disagreement | None:
        if not any(kind.width for kind in case.program.output_types) or not case.program.n_in:
            raise NotJudged("the program has no inputs, or outputs without bits: there is nothing to compare")
        try:
            record = simulate(
                SimulationRequest(
                    program=of,
                    design=design,
                    simulator="icarus",
                    inputs=(inputs,),
                    vectors=24,
                    conditions=False,
                    exhaustive_bits=0,
                    unchecked=True,
                    timeout=self._request.timeout,
                )
            ).record
        except DaisError as error:
            return Disagreement(RTL_FROM, error.verdict.value, str(error))
        if record.verdict is Verdict.NOT_RUN:
            raise NotJudged(record.message)
        if record.verdict is Verdict.PASS:
            return None
        return Disagreement(RTL_FROM, record.verdict.value, record.message)


#: Names of pairs whose cases need the external tool again to be judged.
FOREIGN = (AGAINST, RTL_FROM)
