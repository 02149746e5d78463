"""Elaborating and proving a design, with progress, on a stack that is deep enough."""

from __future__ import annotations

import atexit
import gc
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from dais_verif.cli.common import notices
from dais_verif.cli.reading import Reader
from dais_verif.dut.bind import bind
from dais_verif.dut.discover import Port
from dais_verif.dut.interface import Dut, packed
from dais_verif.dut.ports_file import PortsFile
from dais_verif.errors import InputError, ToolError
from dais_verif.program import Program
from dais_verif.simulation.simulators.build import Design
from dais_verif.stopwatch import Stopwatch
from dais_verif.verdict import Verdict

if TYPE_CHECKING:
    from dais_verif.prover.netlist import Netlist
    from dais_verif.prover.results import Proof
    from dais_verif.prover.solving.export import Statement

__all__ = ["proved", "stated"]

#: Designs whose signals have no names are followed from the outputs down to the inputs, calls within calls.
_STACK_BYTES, _DEPTH = 512 << 20, 1_000_000

#: Seconds of the solver for a sample of obligations.
_FOREIGN_SECONDS, _OWN_SECONDS = 4.0, 1.0

#: Options that say how to find an answer, and not of what.
_HOW = ("jobs", "store", "timeout")

_T = TypeVar("_T")


def proved(
    program: Program,
    design: Design,
    said: PortsFile | None,
    reader: Reader,
    options: dict[str, Any],
    watch: Stopwatch,
) -> tuple[Proof, Dut]:
    """The proof of ``design``, and how it carries ``program``. ``said``: of its ports; None: ``design`` knows them.

    Raises ``InputError`` if the design does not fit, ``ToolError`` if a package is missing.
    """
    store, key = options["store"], None
    with _needed():
        if store is not None:
            from dais_verif.prover.proof_cache import proof_key, recall, remember

            with watch.stage("recall"):
                question = [(name, value) for name, value in options.items() if name not in _HOW]
                asked = [design.top, design.dut, said, reader.what_reads(design), question]
                key = proof_key(program, design.sources, reader.files(design), asked)
                known = recall(store, key) if key is not None else None
            if known is not None:
                return known.proof, _carried(program, design, said, known.ports)
        reader.what_reads(design)  # before anything is read
        with watch.stage("elaborate"):
            verilog = reader.in_verilog(design)
            netlists, refused = _readings(reader, verilog)
        ports = _ports(netlists[0])
        dut = _carried(program, design, said, ports)
        proof = _deep(lambda: _proved(program, netlists, dut, options, watch, reader.lenient))
        if refused is not None:
            from dais_verif.prover.cross_check.proof import mark_unread

            proof = mark_unread(proof, refused)
        if proof.verdict is Verdict.PASS and proof.drawn[0]:
            proof = _sampled(program, netlists[0], verilog, dut, proof, reader, options, watch)
        if key is not None and not any(netlist.included for netlist in netlists):
            with watch.stage("remember"):
                remember(store, key, proof, ports)
    return proof, dut


@contextmanager
def _needed() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise ToolError(
            f"the Python package {error.name!r}, which a proof needs, cannot be imported ({error});"
            " run: pip install pyslang bitwuzla python-sat"
        ) from None


def _readings(reader: Reader, design: Design) -> tuple[list[Netlist], str | None]:
    """What each front end reads; and why Yosys does not, if it need not."""
    netlists: list[Netlist] = []
    for name in reader.names:
        try:
            netlists.append(_read(reader, name, design))
        except (InputError, ToolError) as error:
            if not (netlists and reader.lenient):
                raise
            return netlists, str(error)
    return netlists, None


def _read(reader: Reader, name: str, design: Design) -> Netlist:
    with reader.readable(name, design) as read:
        return _deep(read)


def _proved(
    program: Program,
    netlists: Sequence[Netlist],
    dut: Dut,
    options: dict[str, Any],
    watch: Stopwatch,
    if_possible: bool,
) -> Proof:
    from dais_verif.prover.cross_check.proof import prove_with_both
    from dais_verif.prover.proof import prove
    from dais_verif.prover.results import Options, Watcher

    first, *others = netlists
    with watch.stage("prove"), notices().status("proving") as status:

        class Shown(Watcher):
            def progress(self, what: str, done: int, total: int) -> None:
                status.update(f"proving: {done} of {total} {what}")

        if not others:
            return prove(program, first, dut, Options(**options), Shown())
        return prove_with_both(program, first, others[0], dut, Options(**options), Shown(), if_possible=if_possible)


def _sampled(
    program: Program,
    netlist: Netlist,
    design: Design,
    dut: Dut,
    proof: Proof,
    reader: Reader,
    options: dict[str, Any],
    watch: Stopwatch,
) -> Proof:
    """``proof`` in the light of a sample of its obligations. ``design``: read once more if need be."""
    from dais_verif.prover.results import Options
    from dais_verif.prover.solving.sampling import BUT_FOR_BLOCKS, WRITTEN, judge_sample, put_to_the_solver
    from dais_verif.prover.terms import as_written

    def work() -> Proof:
        # A proof takes control out of registers, by the rules of the normal form.
        netlists = {WRITTEN if netlist.lazy and proof.timing is None else BUT_FOR_BLOCKS: netlist}
        if reader.foreign and not netlist.lazy:
            try:
                with as_written(), reader.readable(reader.names[0], design) as read:
                    netlists = {WRITTEN: read(), **netlists}
            except InputError:  # slices of what is not assigned yet, for example, which rules see through
                pass
        seconds = _FOREIGN_SECONDS if reader.foreign else _OWN_SECONDS
        return judge_sample(proof, put_to_the_solver(program, netlists, dut, proof, Options(**options), seconds))

    with watch.stage("sample"), notices().status("putting a sample to the solver"):
        return _deep(work)


def _carried(program: Program, design: Design, said: PortsFile | None, ports: Sequence[Port]) -> Dut:
    if said is not None:
        return bind(program, said, list(ports), open_inputs=said.clocking is None)
    return design.dut or packed(program)


def stated(
    program: Program,
    design: Design,
    dut: Dut,
    proof: Proof,
    reader: Reader,
    options: dict[str, Any],
    watch: Stopwatch,
) -> tuple[list[Statement], str]:
    """Everything that ``proof`` rests on, for other solvers, by its first reading; and in what form its terms are."""
    from dais_verif.prover.results import Options
    from dais_verif.prover.solving.export import export_statements
    from dais_verif.prover.terms import as_written

    def work(read: Callable[[], Netlist]) -> tuple[list[Statement], str]:
        try:
            with as_written():
                return export_statements(program, read(), dut, proof, Options(**options)), "as written"
        except InputError as error:  # slices of what is not assigned yet, for example, which rules see through
            return export_statements(program, read(), dut, proof, Options(**options)), f"in normal form, since: {error}"

    reading = reader.readable(reader.names[0], reader.in_verilog(design))
    with watch.stage("dump"), notices().status("stating the obligations"), reading as read:
        return _deep(partial(work, read))


def _ports(netlist: Netlist) -> list[Port]:
    ways = (("in", netlist.inputs), ("out", netlist.outputs))
    return [Port(name, way, netlist.signals[name].width) for way, names in ways for name in names]


def _deep(work: Callable[[], _T]) -> _T:
    """``work`` on a stack that is as deep as any design."""
    results: list[_T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except RecursionError:
            errors.append(
                InputError(
                    "expressions of the RTL nest deeper than the proof can follow: a loop of many turns that goes on"
                    " from what the turn before left, or a very long line of logic; divide it into registers or modules"
                )
            )
        except BaseException as error:
            errors.append(error)

    limit, size = sys.getrecursionlimit(), threading.stack_size(_STACK_BYTES)
    sys.setrecursionlimit(_DEPTH)
    collecting = gc.isenabled()
    gc.disable()  # a proof is one growing graph without cycles: looking through it again and again finds nothing
    try:
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        while thread.is_alive():  # wakes for Ctrl-C
            thread.join(0.1)
    except KeyboardInterrupt:
        atexit.register(_leave)  # the thread cannot be stopped, and what it holds must not be taken apart under it
        raise
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
        if collecting:
            gc.enable()
    if errors:
        raise errors[0]
    return results[0]


def _leave() -> None:
    for child in multiprocessing.active_children():
        child.kill()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(Verdict.INTERRUPTED.exit_code)
