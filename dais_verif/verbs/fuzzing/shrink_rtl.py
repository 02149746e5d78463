"""Reduce a failing case of user RTL: the program, its vectors, and the RTL itself.

First reduce to one vector. Then reduce to one op, if nets are named by numbers of ops: the module keeps the logic of
the wrong op, and its operands become inputs. Else reduce to one output, by a module around the design. Finally remove
every part of the RTL whose removal does not change the wrong outputs for this vector.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from dais_verif.base.errors import DaisError, FuzzingError, RequestError
from dais_verif.base.toolchain import tools
from dais_verif.base.toolchain.rtl_files import data_files, is_vhdl
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.fuzzing.case import Case, Row
from dais_verif.campaigns.fuzzing.rtl.case import AROUND, Edit, RtlCase, edited, module_around
from dais_verif.campaigns.fuzzing.rtl.cutting import LEVELS, Cut, arms, cut_out, declared_in
from dais_verif.campaigns.fuzzing.shrinking.edits import rebuilt
from dais_verif.campaigns.fuzzing.shrinking.search import Search, TimeUp
from dais_verif.golden.shrink import shrunk as shrunk_vector
from dais_verif.hardware.emitter.module import path_of
from dais_verif.hardware.ports.discover import errors_in
from dais_verif.hardware.ports.interface import Clocking, Dut, packed
from dais_verif.record.simulation import Mismatch, SimulationRecord
from dais_verif.simulation.naming import DA4ML
from dais_verif.simulation.testbench.packed_rows import bits_of_row
from dais_verif.simulation.testbench.packing import pack_inputs
from dais_verif.spec.program import Program
from dais_verif.spec.program.opcodes import INPUT
from dais_verif.spec.program.ports import ports_of
from dais_verif.subject.run_inputs import includes_of_copies
from dais_verif.verbs.design_rtl import bound, given
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.mutation.simulations import Bench, plan_of
from dais_verif.verbs.pins import Pins
from dais_verif.verbs.simulate import simulate
from dais_verif.verbs.simulation_request import SimulationRequest
from dais_verif.verbs.vectors import decimal

__all__ = ["RtlJudges", "RtlOutcome", "VECTORS_NAME", "pins_of", "shrink_rtl", "with_files", "write_vectors"]


#: The check that a case has the same failure as the first one.
RtlFails = Callable[[RtlCase], bool]


@dataclass(frozen=True)
class RtlOutcome:
    """The case ``before`` and ``after``. ``failure``: what fails; "" if nothing does, and ``text`` is the reason.

    ``design``: returns the request for the remaining RTL, given its files; ``data``: the files that the RTL reads.
    """

    before: RtlCase
    after: RtlCase
    failure: str
    text: str
    asked: int = 0
    complete: bool = True
    design: Callable[[tuple[Path, ...]], DesignRequest] | None = None
    data: tuple[Path, ...] = ()


def with_files(design: DesignRequest, case: Case) -> RtlCase:
    """Return ``case`` with the RTL of ``design``. Raises ``RequestError`` or ``InputError`` if it cannot be reduced."""
    if any(map(is_vhdl, design.rtl)):
        raise RequestError.of("{rtl} must be Verilog: VHDL cannot be reduced.")
    missing = [path for path in design.rtl if not path.is_file()]
    if missing:
        raise FuzzingError(f"RTL file {str(missing[0])!r} does not exist; give the files of module {design.module}")
    files = {path.name: path.read_bytes().decode("latin-1") for path in design.rtl}
    if len(files) < len(design.rtl):
        raise FuzzingError("two files of the RTL have the same name; rename one of them")
    return RtlCase(case, files, design.module, includes=includes_of_copies(design.rtl))


def shrink_rtl(
    design: DesignRequest,
    case: Case,
    fails: RtlFails | None,
    folder: Path,
    seconds: float,
    timeout: float,
    tell: Callable[[str], None],
) -> RtlOutcome:
    """Return the smallest case found within ``seconds`` that ``fails``; None: a simulation must report RTL_MISMATCH.

    Raises ``InputError`` if the RTL cannot be used.
    """
    first = with_files(design, case)
    data = tuple(file.path.absolute() for file in data_files(design.rtl, design.data))
    judges = RtlJudges(design, data, folder, timeout)
    judges.begin(first)
    shrinker = _Shrinker(judges, first, fails, seconds, tell)
    if not shrinker.begin():
        return RtlOutcome(first, first, "", shrinker.text)
    complete = shrinker.run()
    after = shrinker.search.case
    return RtlOutcome(
        first, after, shrinker.text, "", shrinker.search.asked, complete, partial(judges.design, after), data
    )


class _Shrinker:
    """The steps of reduction. ``fails``: runs a command; None: simulate; no step may change the wrong outputs."""

    def __init__(
        self, judges: RtlJudges, case: RtlCase, fails: RtlFails | None, seconds: float, tell: Callable[[str], None]
    ) -> None:
        self._judges, self._command = judges, fails
        self._judge: RtlFails = self._is_wrong if fails is None else self._is_read_and_fails
        self._last: Mismatch | None = None
        self._with_x = False
        self.search = Search(case, lambda one: self._judge(one), seconds, tell)
        self.text = ""

    def begin(self) -> bool:
        """Return True if the case fails."""
        record = self._judges.simulated(self.search.case)
        self._last = None if record is None else record.first_mismatch
        if record is not None and record.simulators and record.simulators[0].latency is not None:
            self._judges.pins = replace(self._judges.pins, latency=record.simulators[0].latency)
        if self._command is not None:
            self.text = "the command fails"
            return self._command(self.search.case)
        if record is None or record.verdict is not Verdict.RTL_MISMATCH or self._last is None:
            said = "the RTL cannot be simulated" if record is None else f"{record.verdict.value}: {record.message}"
            self.text = said
            return False
        blame = self._last.blame
        said = "" if blame is None else f"; {blame.text}"
        self.text = f"RTL_MISMATCH: {record.message}{said}"
        self._with_x = self._last.found.raw is None
        return True

    def run(self) -> bool:
        """Run all steps; return True if they finished before the time was up."""
        try:
            self._one_vector()
            if not self._one_op():
                self._one_output()
            self._simpler_numbers()
            self._same_answer()
            before = None
            while before != self.search.case.key:
                before = self.search.case.key
                self._less_rtl()
        except TimeUp:
            return False
        return True

    # judges

    def _is_wrong(self, case: RtlCase) -> bool:
        """Return True if a simulation reports RTL_MISMATCH; unknown outputs only count if the first case had them."""
        found = self._judges.wrong(case)
        if found is None or (found.found.raw is None and not self._with_x):
            return False
        self._last = found
        return True

    def _is_read_and_fails(self, case: RtlCase) -> bool:
        """Return True if the command fails and the front end reads the RTL, or could not read the original either."""
        return self._command is not None and self._judges.is_read(case) and self._command(case)

    def _same_answer(self) -> None:
        """Require from now on that the outputs for the one vector stay the same, if these can be determined."""
        case = self.search.case
        if self._command is not None or self._last is None or len(case.case.rows) != 1:
            return
        same = self._judges.answers(self._last.found.bits)
        if case.case.program.n_out == 1 and same(case):
            self._judge = same

    # steps

    def _one_vector(self) -> None:
        """Reduce to one vector if one alone fails; else to the smallest number found."""
        case, rows = self.search.case, self.search.case.case.rows
        places = [] if self._last is None or self._last.row >= len(rows) else [self._last.row]
        for place in [*places, 0, len(rows) - 1]:
            if len(rows) == 1 or (rows and self.search.consider(_with_rows(case, (rows[place],)))):
                return
        self.search.fewest(rows, lambda left: _with_rows(case, tuple(left)) if left else None)

    def _one_op(self) -> bool:
        """Keep only the wrong op, and return True, if the design has nets for this op and its operands."""
        blame = None if self._last is None else self._last.blame
        if blame is None or blame.op is None or self._judges.pins.given:
            return False
        return any(self.search.consider(case) for case in _cuts(self.search.case, blame.op))

    def _one_output(self) -> None:
        """Keep the wrong output only, and the inputs in its fan-in cone."""
        if self._command is None and self._last is not None and len(self.search.case.case.rows) == 1:
            self.search.consider(_around(self._judges, self.search.case, self._last.output))

    def _simpler_numbers(self) -> None:
        """Simplify the numbers of the one vector to 0 or few digits, for a program with few inputs."""
        before = self.search.case
        if len(before.case.rows) != 1 or len(before.case.rows[0]) > _FEW:
            return
        if self._command is None:
            self._judge = self._judges.differs  # a tenth of a simulation's time; a simulation confirms the result
        try:
            shrunk_vector(before.case.rows[0], lambda row: self.search.consider(_with_rows(self.search.case, (row,))))
        finally:
            if self._command is None:
                self._judge = self._is_wrong
                if self.search.case is not before and not self._is_wrong(self.search.case):
                    self.search.case = before

    def _less_rtl(self) -> None:
        """Remove RTL until no single statement, item or module can go, and no choice can become one of its arms."""
        for level in LEVELS:
            base = self.search.case
            parts = level(base.files)
            self.search.fewest(parts, lambda left, base=base, parts=parts: _without(base, parts, left))  # type: ignore[misc]
        place = 0
        while place < len(edits := arms(self.search.case.files)):
            case = self.search.case
            if not self.search.consider(case.with_files(edited(case.files, [edits[place]]))):
                place += 1
        case = self.search.case
        bare = {name: _COMMENTS.sub("", text) for name, text in case.files.items()}
        self.search.consider(case.with_files(bare))


#: Comment lines to remove, which describe the original design; comments for tools are kept.
_COMMENTS = re.compile(r"(?m)^[ \t]*//(?![^\n]*\b(?:verilator|synopsys|synthesis|pragma)\b)[^\n]*\n")
#: The most inputs of a program whose vectors are simplified.
_FEW = 12


def _with_rows(case: RtlCase, rows: tuple[Row, ...]) -> RtlCase:
    return replace(case, case=replace(case.case, rows=rows))


def _without(base: RtlCase, parts: Sequence[Edit], left: Sequence[Edit]) -> RtlCase:
    """Return ``base`` without the ``parts`` that are not ``left``; empty files are removed."""
    kept = set(left)
    files = edited(base.files, [part for part in parts if part not in kept])
    filled = {name: text for name, text in files.items() if text.strip()}
    return base.with_files(filled or files)


def _cuts(case: RtlCase, guilty: int) -> Iterator[RtlCase]:
    """Yield cases of op ``guilty`` with its operands or earlier ops as inputs, whose nets are found by name.

    Names are those of dais-verif or da4ml.
    """
    program = case.case.program
    declared = declared_in(case.files, case.top)
    for naming in (path_of(program), DA4ML):
        nets = {op.index: naming(op.index) for op in program.ops if naming(op.index).rpartition(".")[2] in declared}
        if guilty not in nets:
            continue
        cut, waiting = set(), [*program.ops[guilty].operands]
        while waiting:
            op = program.ops[waiting.pop()]
            if op.index in nets:
                cut.add(op.index)
            else:
                waiting += op.operands
        smaller = rebuilt(
            case.case,
            cut=[i for i in cut if program.ops[i].code != INPUT and program.ops[i].operands],
            outputs=[(guilty, 0, False)],
        )
        found = None if smaller is None else _cut_of(case, smaller, guilty, cut, nets)
        if found is not None:
            yield found


def _cut_of(case: RtlCase, smaller: Case, guilty: int, cut: set[int], nets: dict[int, str]) -> RtlCase | None:
    """Return ``smaller``, which keeps the order of ops, together with its part of the RTL."""
    kept = sorted(_kept(case.case.program, guilty, cut))
    ports, inputs = ports_of(smaller.program), {}
    if len(kept) != smaller.program.n_ops or not ports.output_bits:
        return None
    for old, op in zip(kept, smaller.program.ops, strict=True):
        if op.code == INPUT and op.type.width and old in nets:
            low, width = ports.slice_of(op, int(smaller.program.inp_shift[op.id0]))
            bits = f"model_inp[{low + width - 1}:{low}]"
            inputs[nets[old].rpartition(".")[2]] = f"$signed({bits})" if op.type.k else bits
    files = cut_out(case.files, case.top, Cut(nets[guilty], inputs, (ports.input_bits, ports.output_bits)))
    return None if files is None else RtlCase(smaller, files, case.top, ours=True, includes=case.includes)


def _kept(program: Program, guilty: int, cut: set[int]) -> set[int]:
    """Return the remaining ops: ``guilty`` and the ops in its fan-in cone up to those in ``cut``."""
    found, waiting = set(), [guilty]
    while waiting:
        index = waiting.pop()
        if index not in found:
            found.add(index)
            if index not in cut:
                waiting += program.ops[index].operands
    return found


def _around(judges: RtlJudges, case: RtlCase, output: int) -> RtlCase | None:
    """Return ``case`` with one ``output``, using a module around its RTL; None if types or ports do not allow that."""
    program = case.case.program
    try:
        dut = judges.dut(case)
        given = bits_of_row(pack_inputs(case.case.batch, dut.ports), 0, dut.ports.input_bits)
    except DaisError:
        return None
    if dut.output_types[output] != program.output_types[output] or AROUND in "".join(case.files.values()):
        return None
    index = program.outputs[output][0]
    if index < 0 or not dut.ports.outputs[output].width:
        return None
    smaller = rebuilt(replace(case.case, whole=False), outputs=[program.outputs[output]])
    if smaller is None or (smaller.program.n_in, 1) == (program.n_in, program.n_out):
        return None
    read = {program.ops[i].id0 for i in _kept(program, index, set()) if program.ops[i].code == INPUT}
    pins = replace(pins_of(dut.interface.clocking), latency=judges.pins.latency) if dut.interface.clocking else None
    text = module_around(dut, case.top, dict(judges.parameters), smaller.program, sorted(read), output, given)
    judges.pins = pins or judges.pins
    return RtlCase(smaller, {**case.files, f"{AROUND}.v": text}, AROUND, ours=True, includes=case.includes)


# Judge reduced RTL cases: they must still be wrong in the same way, or a command must still fail.


#: Vectors as exact decimals, in the folder of a case.
VECTORS_NAME = "vectors.csv"


def write_vectors(rows: tuple[Row, ...], folder: Path) -> Path:
    """Write the exact vectors in the format of ``sim --inputs``."""
    path = folder / VECTORS_NAME
    path.write_text("".join(",".join(map(decimal, row)) + "\n" for row in rows))
    return path


def pins_of(clocking: Clocking | None) -> Pins:
    """Return the options that name the pins of ``clocking``."""
    if clocking is None:
        return Pins()
    reset = f"{clocking.reset}:low" if clocking.reset and clocking.reset_low else clocking.reset
    return Pins(
        clocking.clock,
        "auto" if clocking.latency is None else clocking.latency,
        reset,
        clocking.enable,
        clocking.valid_in,
        clocking.valid_out,
    )


class RtlJudges:
    """Judges for cases of the design ``asked``, run in ``folder``; ``timeout``: seconds for each build and each run."""

    def __init__(self, asked: DesignRequest, data: tuple[Path, ...], folder: Path, timeout: float) -> None:
        self._asked, self._data, self._folder, self._timeout = asked, data, folder, timeout
        self._simulator = "icarus" if tools.has_icarus() else "verilator"
        self._reads = True
        #: The pins, with the measured latency.
        self.pins = asked.pins
        #: The parameters of the given module, with their values.
        self.parameters = asked.parameters

    def begin(self, case: RtlCase) -> None:
        """Check whether the front end reads the original RTL; if so, it must also read all reduced versions."""
        self._reads = self.is_read(case)

    def design(self, case: RtlCase, sources: tuple[Path, ...]) -> DesignRequest:
        """Return the request for the RTL of ``case``, whose files are ``sources``."""
        if case.ours:
            return DesignRequest(rtl=sources, top=case.top, data=self._data, pins=self.pins)
        return replace(self._asked, rtl=sources, data=self._data, pins=self.pins)

    def dut(self, case: RtlCase) -> Dut:
        """Return the ports of the RTL of ``case``. Raises ``InputError`` if they do not fit the program."""
        asked = self.design(case, case.write(self._folder / "rtl"))
        design, said = given(asked, self._folder)
        return bound(case.case.program, design, said).dut or packed(case.case.program, said.clocking)

    def is_read(self, case: RtlCase) -> bool:
        """Return True if the front end reads the RTL without error, or could not read the original either."""
        return not self._reads or not errors_in(case.write(self._folder / "rtl"), case.top)

    def simulated(self, case: RtlCase) -> SimulationRecord | None:
        """Return the record of a whole simulation; None if the RTL cannot be used at all."""
        if not self.is_read(case):
            return None
        try:
            return simulate(
                SimulationRequest(
                    program=case.case.program,
                    design=self.design(case, case.write(self._folder / "rtl")),
                    simulator=self._simulator,
                    inputs=(write_vectors(case.case.rows, self._folder),),
                    vectors=0,
                    exhaustive_bits=0,
                    timeout=self._timeout,
                )
            ).record
        except DaisError:
            return None

    def wrong(self, case: RtlCase) -> Mismatch | None:
        """Return the first mismatch of ``case``, if its simulation finds one."""
        record = self.simulated(case)
        found = None if record is None or record.verdict is not Verdict.RTL_MISMATCH else record.first_mismatch
        return None if found is None or (found.blame is not None and found.blame.kind == "golden") else found

    def answers(self, bits: str) -> Callable[[RtlCase], bool]:
        """Return a check that the outputs of a case for its one vector are ``bits``, most significant first."""
        return lambda case: self._gives(case, bits) is True

    def differs(self, case: RtlCase) -> bool:
        """Return True if any output of ``case`` is wrong or unknown."""
        return self._gives(case, None) is False

    def _gives(self, case: RtlCase, wanted: str | None) -> bool | None:
        """Return True if the outputs are ``wanted`` (None: the correct outputs), and None if that cannot be decided."""
        try:
            if not self.is_read(case):
                return None
            dut = self.dut(case)
            plan = plan_of(case.case.program, dut, case.case.batch, False, 0)
            if wanted is not None:
                if dut.ports.output_bits != len(wanted):
                    return None
                plan = replace(plan, wanted=[wanted])
            data = (*data_files((), self._data), *case.includes)
            bench = Bench(case.files, case.top, dut, data, plan, self._folder, self._timeout)
            return bench.is_right(self._simulator)
        except DaisError:
            return None
