"""Judge reduced RTL cases: they must still be wrong in the same way, or a command must still fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from dais_verif.dut.discover import errors_in
from dais_verif.dut.interface import Clocking
from dais_verif.dut.placement import Dut, packed
from dais_verif.errors import DaisError
from dais_verif.flows.design_rtl import bound, given
from dais_verif.flows.designs import DesignRequest
from dais_verif.flows.mutation.simulations import Bench, plan_of
from dais_verif.flows.pins import Pins
from dais_verif.flows.simulate import simulate
from dais_verif.flows.simulation_request import SimulationRequest
from dais_verif.flows.vectors import decimal
from dais_verif.fuzzing.case import Row
from dais_verif.fuzzing.rtl.case import RtlCase
from dais_verif.record.simulation import Mismatch, SimulationRecord
from dais_verif.toolchain import tools
from dais_verif.toolchain.data_files import data_files
from dais_verif.verdict import Verdict

__all__ = ["VECTORS_NAME", "RtlJudges", "pins_of", "write_vectors"]

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
