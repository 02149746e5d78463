"""Run a cocotb test module in a built simulation.

The simulator is started directly, as cocotb's manual describes, and not through its runner: each run gets a process
group that can be killed, a separate log and a new results file; many runs share one build; the caller judges a failing
test.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from dais_verif.base.errors import SimulatorFailure
from dais_verif.base.toolchain import rtl_files as data_files
from dais_verif.base.toolchain import tools
from dais_verif.base.toolchain.process import Session, describe_exit, first_error, last_error, stripped
from dais_verif.record.simulation import ASSERTION_FAILED, ENDED_BY_RTL
from dais_verif.simulation.rtl_coverage import COVERAGE_FILES
from dais_verif.simulation.simulators.known import KNOWN
from dais_verif.simulation.simulators.simulator import Simulation
from dais_verif.simulation.testbench import exchange
from dais_verif.simulation.testbench.exchange import ANSWER, DRIVER_VARIABLE, JOB, JOB_VARIABLE, KEY_VARIABLE

__all__ = ["BenchRun", "StoppedRun", "answer_of", "ask", "cause", "complaint", "failed_tests", "run", "run_bench"]

Answer = TypeVar("Answer")

_RESULTS = "results.xml"
#: The working folder of a run, in its folder: it holds the data files of the RTL, and what the RTL writes.
_WORKING = "data"

#: cocotb's message for a simulation that a statement of the RTL has ended.
_ENDED = "the simulation ended prematurely"
#: Verilator's message of a failed assertion, with its position; the file is a copy with the name of the user's file.
_FAILED = re.compile(
    r"^\[\d+\] %(Error|Fatal): (?:rtl/\d+/)?(\S+:\d+): Assertion failed in \S+(?:: (.*))?$", re.MULTILINE
)
#: Icarus's message of a failed assertion, after which it continues; the next line has the time, in time steps.
_SAID = re.compile(r"^ERROR: (?:rtl/\d+/)?(\S+:\d+): ?(.*)$")
_WHEN = re.compile(r"^ +Time: (\d+) +Scope: \S+$")
#: The folder of the copy of a source, before its name.
_COPY = re.compile(r"\brtl/\d+/")
_FINISH = re.compile(r"^- (?:rtl/\d+/)?(\S+:\d+): Verilog \$(?:finish|stop)$", re.MULTILINE)


class StoppedRun(SimulatorFailure):
    """A simulation was built and started, and ended before it compared everything."""


def run(
    simulation: Simulation,
    test_module: str,
    run_dir: Path,
    *,
    env: Mapping[str, str] = {},
    seed: int = 0,
    waves: bool = False,
    timeout: float | None = None,
    writable: Sequence[Path] = (),
    ones_for_x: bool = False,
) -> Path:
    """Run ``test_module`` in ``run_dir`` and return the path of the results file that it wrote.

    A ``PYTHONPATH`` in ``env`` is searched before our own; other variables in ``env`` override ours. ``writable``:
    folders in addition to ``run_dir`` in which the simulation may write in a sandbox. ``waves`` leaves ``waves.fst``
    (Icarus) or ``waves.vcd`` (Verilator, GHDL) in ``run_dir``; the build must allow it. ``ones_for_x``: a simulator
    without X takes 1 for it, so that a branch which X chooses differs from that in Icarus, which takes ``else``. Raises
    ``StoppedRun`` unless the simulator ended without an error and ran a test, and another ``ToolError`` if it did not
    end in time.
    """
    if waves and not simulation.waves:
        raise ValueError("waves=True must be given to build() also, not to run() only")
    run_dir = run_dir.absolute()
    results = run_dir / _RESULTS
    place = run_dir / _WORKING
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    session = Session(
        run_dir / "simulation.log",
        cwd=place,
        env=_environment(simulation, test_module, results, seed=seed, extra=env),
        timeout=timeout,
        writable=writable,
    )
    results.unlink(missing_ok=True)
    data_files.copy_into(place, simulation.data)
    tool, simulator = f"the {simulation.simulator} simulation", KNOWN[simulation.simulator]
    try:
        code = session.run(
            tool, [*simulation.command, *simulator.WAVES[waves], *(simulator.ONES_FOR_X if ones_for_x else ())]
        )
    finally:
        given = {file.name for file in simulation.data}
        for written in (*place.glob(simulator.WAVES_FILE), *place.glob(COVERAGE_FILES)):
            if written.name not in given:
                written.replace(run_dir / written.name)
    if code != 0 and (failed := _failed_assertion(session.log)):
        raise StoppedRun(f"{tool} was aborted: {failed} (full output: {session.log})")
    if code != 0:
        why = cause(simulation, session.log)
        raise StoppedRun(f"{tool} {describe_exit(code)}: {why} (full output: {session.log})")
    if not _cases(results):
        raise StoppedRun(f"{tool} ran no test: {last_error(session.log)} (full output: {session.log})")
    return results


class BenchRun(NamedTuple):
    """A run of our bench that has ended: its ``folder``, the file of its ``results``, and the ``key`` of its answer."""

    folder: Path
    results: Path
    key: str


def run_bench(
    simulation: Simulation, driver: str, folder: Path, *, env: Mapping[str, str] = {}, **options: Any
) -> BenchRun:
    """Run our bench with ``driver``, a module of it, on the job in ``folder``; the rest is as for ``run``."""
    folder.mkdir(parents=True, exist_ok=True)
    key = exchange.new_key(folder)
    given = {JOB_VARIABLE: str(folder.absolute() / JOB), DRIVER_VARIABLE: driver, KEY_VARIABLE: key, **env}
    results = run(simulation, "dais_verif.simulation.testbench.bench", folder, env=given, **options)
    return BenchRun(folder, results, key)


def answer_of(simulation: Simulation, done: BenchRun, kind: type[Answer]) -> Answer:
    """Return what the bench answered. Raises ``StoppedRun`` if it gave no answer, or another program wrote it."""
    found = exchange.answered(done.folder, kind, done.key)
    if found is None:
        log = done.folder / "simulation.log"
        if (done.folder / ANSWER).exists():
            raise StoppedRun(
                f"{str(done.folder / ANSWER)!r} is not what the {simulation.simulator} bench answered: the RTL wrote "
                "files of the run; remove $fopen of names outside its own folder"
            )
        why = cause(simulation, log)
        raise StoppedRun(f"the {simulation.simulator} bench gave no result: {why} (full output: {log})")
    return found


def ask(
    simulation: Simulation, driver: str, job: object, kind: type[Answer], folder: Path, **options: Any
) -> tuple[Answer, bool]:
    """Run our bench on ``job`` in ``folder``, made if missing; return its answer, and whether its test failed.

    ``options``: as for ``run``. Raises as ``run`` does, and ``StoppedRun`` if the bench gave no answer.
    """
    folder.mkdir(parents=True, exist_ok=True)
    exchange.write(folder / JOB, job)
    done = run_bench(simulation, driver, folder, **options)
    return answer_of(simulation, done, kind), bool(failed_tests(done.results))


def cause(simulation: Simulation, log: Path) -> str:
    """Return the line of a run's ``log`` that most likely explains why it broke off."""
    # GHDL reports the cause first, then cocotb its reaction, then GHDL that the simulation failed.
    if KNOWN[simulation.simulator].FIRST_ERROR_COUNTS:
        return _COPY.sub("", first_error(log))
    text = log.read_text(encoding="utf-8", errors="replace")
    if _ENDED in text:
        place = _FINISH.search(text)
        where = f" at {place[1]}" if place else ""
        return f"{ENDED_BY_RTL}{where} ($finish, $stop or $fatal); remove it from the RTL"
    return last_error(log)


def _failed_assertion(log: Path) -> str | None:
    """Return the first failed assertion of the RTL if the simulator ends a run there, as Verilator does."""
    found = _FAILED.search(log.read_text(encoding="utf-8", errors="replace"))
    if found is None:
        return None
    said = f", {found[3].strip()}" if (found[3] or "").strip() else ""
    if found[1] == "Fatal":
        return f"{ENDED_BY_RTL} by $fatal at {found[2]}{said}; correct what it checks"
    return f"{ASSERTION_FAILED}, or it called $error, at {found[2]}{said}; correct the RTL or the assertion"


def complaint(log: Path, after: int) -> str:
    """Return the message of the first assertion of the RTL that failed after time step ``after``; empty if none did.

    This is for simulators that continue after a failed assertion, such as Icarus.
    """
    said: re.Match[str] | None = None
    with log.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if (begun := _SAID.match(line.rstrip("\n"))) is not None:
                said = begun
            elif said is not None and (when := _WHEN.match(line.rstrip("\n"))) is not None:
                if int(when[1]) > after:
                    words = f", {said[2].strip()}" if said[2].strip() else ""
                    return f"at {said[1]}{words}"
                said = None
    return ""


def failed_tests(results: Path) -> list[str]:
    """Return the names of the tests that failed or broke off, as ``module.test``."""
    failed = [case for case in _cases(results) if case.find("failure") is not None or case.find("error") is not None]
    return [f"{case.get('classname')}.{case.get('name')}" for case in failed]


def _cases(results: Path) -> list[ET.Element]:
    try:
        return list(ET.parse(results).iter("testcase"))
    except (FileNotFoundError, ET.ParseError):
        return []


def _environment(
    simulation: Simulation, test_module: str, results: Path, *, seed: int, extra: Mapping[str, str]
) -> dict[str, str]:
    simulator = KNOWN[simulation.simulator]
    # The simulation runs in another folder: make relative entries, and "" for the current folder, absolute.
    own_path = [str(Path(entry).absolute()) for entry in sys.path]
    given_path = [extra["PYTHONPATH"]] if extra.get("PYTHONPATH") else []
    return {
        # The user's cocotb variables are left out: a COCOTB_TEST_FILTER in the user's shell would skip tests silently.
        **stripped(),
        "PYGPI_PYTHON_BIN": sys.executable,
        "GPI_USERS": f"{tools.libpython()};{tools.cocotb_entry()}",
        "PYGPI_USERS": "dais_verif.simulation.testbench.entry:begin",
        "TOPLEVEL_LANG": simulator.LANGUAGE,
        "COCOTB_TOPLEVEL": simulation.top,
        "COCOTB_TEST_MODULES": test_module,
        "COCOTB_RESULTS_FILE": str(results),
        "COCOTB_RANDOM_SEED": str(seed),
        # By default, cocotb lets pytest rewrite all imported modules, including numpy's: a second per run.
        "COCOTB_REWRITE_ASSERTION_FILES": "",
        "OPENBLAS_NUM_THREADS": "1",
        # cocotb's runner does the same: the inertial writes of these simulators are correct, and faster than cocotb's.
        **({"COCOTB_TRUST_INERTIAL_WRITES": "1"} if simulator.TRUSTED_WRITES else {}),
        **extra,
        "PYTHONPATH": os.pathsep.join(given_path + own_path),
    }
