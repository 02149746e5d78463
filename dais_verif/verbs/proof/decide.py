"""Elaborate and prove a design, or reuse the proof of an earlier run for the same question."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dais_verif.base.errors import InputError, ProofError, ProofFailure, ToolError
from dais_verif.base.files import make_folder, write_atomically
from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.ports.bind import bind
from dais_verif.hardware.ports.discover import Port
from dais_verif.hardware.ports.interface import Dut, packed
from dais_verif.hardware.ports.ports_file import PortsFile
from dais_verif.prover.results import ProofOptions, ProofWatcher
from dais_verif.record.program import ProgramInfo
from dais_verif.record.proof import WrittenStatements
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.spec.program import Program
from dais_verif.subject.run_inputs import deciders
from dais_verif.verbs.progress import Progress
from dais_verif.verbs.proof.deep_stack import run_deep, stop_if_abandoned
from dais_verif.verbs.proof.directed import directed_sides
from dais_verif.verbs.proof.reading import RtlReader
from dais_verif.verbs.work_folder import WatchedFiles

if TYPE_CHECKING:
    from dais_verif.prover.netlist import Netlist
    from dais_verif.prover.results import Proof
    from dais_verif.prover.solve.export import Statement

__all__ = [
    "OBLIGATIONS_SCHEMA",
    "ProofTask",
    "empty_folder",
    "needed_packages",
    "prove_design",
    "read_design",
    "state_obligations",
    "write_contradicted",
    "write_statements",
]


#: Solver seconds for a sample of obligations: for user RTL, and for emitted RTL.
_FOREIGN_SECONDS, _OWN_SECONDS = 4.0, 1.0

#: Seconds in which vectors for conditions are searched: at most, as a part of the proof, and at least.
_DIRECTED_SECONDS, _DIRECTED_SHARE, _DIRECTED_LEAST = 2.0, 0.2, 1.0

#: Options that influence how a proof is found, but not its result.
_HOW = ("jobs", "store", "timeout")


@dataclass(frozen=True)
class ProofTask:
    """A proof to do, and the methods to use. ``said``: the ports file for ``design``; None: ``design`` has its ports.

    ``watched``: the files of the design, which must not change. ``directed``: whether vectors for the conditions of the
    RTL are wanted.
    """

    program: Program
    design: RtlDesign
    said: PortsFile | None
    reader: RtlReader
    options: ProofOptions
    watched: WatchedFiles
    watch: Stopwatch
    progress: Progress
    directed: bool = False

    @staticmethod
    def listener(tell: Callable[[str], None]) -> ProofWatcher:
        """Return a watcher that reports the prover's progress to ``tell``."""
        return _Listener(tell)


class _Listener(ProofWatcher):
    """Pass progress of the prover to ``tell``."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell

    def progress(self, what: str, done: int, total: int) -> None:
        stop_if_abandoned()
        self._tell(f"proving: {done} of {total} {what}")


def prove_design(task: ProofTask) -> tuple[Proof, Dut]:
    """Return the proof of a design, and the mapping of the program to its ports.

    Raises ``InputError`` if the design does not fit or is changed meanwhile, ``ToolError`` if a package is missing.
    """
    design, reader, options, watch = task.design, task.reader, task.options, task.watch
    key = None
    with needed_packages():
        if options.store is not None:
            from dais_verif.prover.proof_cache import proof_key, recall, remember

            with watch.stage("recall"):
                question = [(f.name, getattr(options, f.name)) for f in fields(options) if f.name not in _HOW]
                front_ends = reader.what_reads(design)
                behind = [name for name in ("ghdl", "yosys") if any(one.startswith(f"{name} ") for one in front_ends)]
                asked = [design.top, design.dut, task.said, front_ends, question, task.directed, deciders(behind)]
                key = proof_key(task.program, design.sources, reader.files(design), asked)
                known = recall(options.store, key) if key is not None else None
            if known is not None:
                return known.proof, _bind(task, known.ports)
        reader.what_reads(design)  # before anything is read
        with watch.stage("elaborate"):
            verilog = reader.in_verilog(design)
            netlists, refused = read_design(reader, verilog)
        began = time.monotonic()
        ports = _ports(netlists[0])
        dut = _bind(task, ports)
        proof = run_deep(lambda: _prove(task, netlists, dut))
        if refused is not None:
            from dais_verif.prover.cross_check import mark_unread

            proof = mark_unread(proof, refused)
        if proof.verdict is Verdict.PASS and proof.drawn[0]:
            proof = _put_sample(task, netlists[0], verilog, dut, proof)
        if task.directed and proof.verdict is Verdict.PASS and not proof.bits:
            proof = _with_directed(task, verilog, dut, proof, time.monotonic() - began)
        if options.store is not None and key is not None and not any(netlist.included for netlist in netlists):
            task.watched.require_unchanged("proved")  # the key is a hash of the unchanged files
            with watch.stage("remember"):
                remember(options.store, key, proof, ports)
    return proof, dut


@contextmanager
def needed_packages() -> Iterator[None]:
    """Raise ``ToolError`` if a package that the proof needs is missing."""
    try:
        yield
    except ImportError as error:
        raise ProofFailure(
            f"the Python package {error.name!r}, which a proof needs, cannot be imported ({error});"
            " run: pip install 'dais-verif[prove]'"
        ) from None


def read_design(reader: RtlReader, design: RtlDesign) -> tuple[list[Netlist], str | None]:
    """Return the netlists of each front end; and why Yosys has none, if it is optional."""
    netlists: list[Netlist] = []
    for name in reader.names:
        try:
            netlists.append(_read(reader, name, design))
        except (InputError, ToolError) as error:
            if not (netlists and reader.lenient):
                raise
            return netlists, str(error)
    return netlists, None


def _read(reader: RtlReader, name: str, design: RtlDesign) -> Netlist:
    with reader.readable(name, design) as read:
        return run_deep(read)


def _prove(task: ProofTask, netlists: Sequence[Netlist], dut: Dut) -> Proof:
    from dais_verif.prover.cross_check import prove_with_both
    from dais_verif.prover.proof import prove

    first, *others = netlists
    with task.watch.stage("prove"), task.progress.working("proving") as tell:
        listener = _Listener(tell)
        if not others:
            return prove(task.program, first, dut, task.options, listener)
        lenient = task.reader.lenient
        return prove_with_both(task.program, first, others[0], dut, task.options, listener, if_possible=lenient)


def _put_sample(task: ProofTask, netlist: Netlist, design: RtlDesign, dut: Dut, proof: Proof) -> Proof:
    """Return ``proof`` updated by a check of a sample of its obligations. ``design``: RTL, read again if necessary."""
    from dais_verif.prover.solve.sampling import BUT_FOR_BLOCKS, WRITTEN, judge_sample, put_to_the_solver
    from dais_verif.prover.terms import as_written

    reader = task.reader

    def work() -> Proof:
        # A proof removes control logic from registers by the rules of the normal form.
        netlists = {WRITTEN if netlist.lazy and proof.timing is None else BUT_FOR_BLOCKS: netlist}
        if reader.foreign and not netlist.lazy:
            try:
                with as_written(), reader.readable(reader.names[0], design) as read:
                    netlists = {WRITTEN: read(), **netlists}
            except InputError:  # slices of unassigned variables, for example, which only rewriting can resolve
                pass
        seconds = _FOREIGN_SECONDS if reader.foreign else _OWN_SECONDS
        return judge_sample(proof, *put_to_the_solver(task.program, netlists, dut, proof, task.options, seconds))

    with task.watch.stage("sample"), task.progress.working("proving a sample again by the solver"):
        return run_deep(work)


def _with_directed(task: ProofTask, design: RtlDesign, dut: Dut, proof: Proof, seconds: float) -> Proof:
    """Return ``proof`` with vectors for the conditions of the RTL. ``seconds``: the duration of the proof."""
    limit = min(_DIRECTED_SECONDS, max(_DIRECTED_SHARE * seconds, _DIRECTED_LEAST))
    held = tuple(proof.held.items())
    with task.watch.stage("direct"), task.progress.working("finding vectors for the conditions of the RTL"):
        try:
            found = directed_sides(task.reader, design, task.program, dut, held, task.options.declared, limit)
        except InputError:
            return proof
    return replace(proof, vectors=found.vectors, reached=found.reached, sides=found.sides)


def _bind(task: ProofTask, ports: Sequence[Port]) -> Dut:
    """Return the mapping of the program to the ports of the design."""
    if task.said is not None:
        return bind(task.program, task.said, list(ports), open_inputs=task.said.clocking is None)
    return task.design.dut or packed(task.program)


def state_obligations(task: ProofTask, dut: Dut, proof: Proof) -> tuple[list[Statement], str]:
    """Return the obligations of ``proof`` for other solvers, by the first front end, and the form of their terms."""
    from dais_verif.prover.solve.export import export_statements
    from dais_verif.prover.terms import as_written

    program, reader, options = task.program, task.reader, task.options

    def work(read: Callable[[], Netlist]) -> tuple[list[Statement], str]:
        try:
            with as_written():
                return export_statements(program, read(), dut, proof, options), "as written"
        except InputError as error:  # slices of unassigned variables, for example, which only rewriting can resolve
            return export_statements(program, read(), dut, proof, options), f"in normal form, since: {error}"

    reading = reader.readable(reader.names[0], reader.in_verilog(task.design))
    with task.watch.stage("dump"), task.progress.working("stating the obligations"), reading as read:
        return run_deep(partial(work, read))


def _ports(netlist: Netlist) -> list[Port]:
    ways = (("in", netlist.inputs), ("out", netlist.outputs))
    return [Port(name, way, netlist.signals[name].width) for way, names in ways for name in names]


# Write the statements of a proof as files (``--dump-smt``), with an index and instructions to run a solver on them.


OBLIGATIONS_SCHEMA = "dais-verif/obligations/1"

_README = """\
Obligations of a proof by dais-verif: {program}, {hash}

Every file states, in SMT-LIB 2 (QF_BV), that a signal or an output of the RTL differs from its value in the program.
`unsat`: it does not differ for any values of the declared variables. index.json lists, for each file, the ops and
outputs that depend on it, how dais-verif decided it, and the answer that a solver must give:
{answers}.
Terms: {terms}.

To run another solver, here z3, and see every answer that differs from the index:

    for f in *.smt2; do echo "$f $(z3 -T:60 "$f")"; done | sort > answers.txt
    python3 -c 'import json; [print(s["file"], s["answer"]) for s in json.load(open("index.json"))["statements"]]' \\
      | sort | diff - answers.txt && echo all as expected
"""


def empty_folder(path: Path) -> Path:
    """Return the folder ``path``, created if necessary. Raises ``InputError`` if it is not empty."""
    make_folder(path)
    if any(path.iterdir()):
        raise ProofError.of("folder {folder!r} is not empty; {dump_smt} needs a new or empty folder", folder=str(path))
    return path


def write_statements(folder: Path, info: ProgramInfo, statements: list[Statement], terms: str) -> WrittenStatements:
    """Write all statements; return a summary. ``terms``: the form of their terms."""
    for statement in statements:
        if statement.text:
            write_atomically(folder / statement.file, statement.text.encode())
    files = [s for s in statements if s.text]
    answers = Counter(statement.answer for statement in files)
    tree = {
        "schema": OBLIGATIONS_SCHEMA,
        "program": info.__dict__,
        "terms": terms,
        "answers": dict(answers),
        "not_stated": [claim for s in statements if not s.text for claim in s.claims],
        "statements": [{"file": s.file, "answer": s.answer, "claims": s.claims} for s in files],
    }
    write_atomically(folder / "index.json", json.dumps(tree, indent=1).encode())
    words = ", ".join(f"{count} times {answer}" for answer, count in sorted(answers.items())) or "none"
    readme = _README.format(program=info.path, hash=info.hash, answers=words, terms=terms)
    write_atomically(folder / "README.md", readme.encode())
    return WrittenStatements(str(folder), len(files), dict(answers), terms)


def write_contradicted(folder: Path, contradicted: Mapping[str, str]) -> None:
    """Write the statements, by claim, that were proved here but that the solver refutes."""
    make_folder(folder)
    for name, text in contradicted.items():
        write_atomically(folder / f"{name.replace(' ', '_')}.smt2", text.encode())
