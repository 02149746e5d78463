"""Proving RTL, and simulating what was proved; the simulators build it while the proof is found."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dais_verif.cli.common import notices
from dais_verif.cli.counterexample import replayable, several_readings
from dais_verif.cli.proving import proved
from dais_verif.cli.reading import Reader
from dais_verif.confirmation import Confirmation, ConfirmationRequest, confirm, prepare
from dais_verif.dut.interface import Dut
from dais_verif.dut.ports_file import PortsFile
from dais_verif.errors import InputError
from dais_verif.flows.designs import bound
from dais_verif.program import Program
from dais_verif.simulation.simulators.build import Design
from dais_verif.stopwatch import Stopwatch
from dais_verif.verdict import Verdict

if TYPE_CHECKING:
    from dais_verif.prover.results import Proof
    from dais_verif.simulation.simulate import Begun

__all__ = ["proved_and_confirmed"]


def proved_and_confirmed(
    program: Program,
    design: Design,
    said: PortsFile | None,
    reader: Reader,
    options: dict[str, Any],
    watch: Stopwatch,
    folder: Path,
    readings: Sequence[str] = (),
) -> tuple[Proof, Dut, Confirmation | None]:
    """Return what ``proved`` returns, in the light of simulations in ``folder``; None if nothing was proved.

    ``readings``: warnings that macros of tools make another design of the RTL.
    """
    request = ConfirmationRequest(
        program, design, folder, seed=options["seed"], check=options["check"], declared=options["declared"]
    )
    with _building(_as_declared(request, said)) as (early, begun):
        proof, dut = proved(program, design, said, reader, options, watch)
        if proof.verdict is not Verdict.PASS:
            return proof, dut, None
        request = replace(request, design=replace(design, dut=replayable(dut, proof)))
        with watch.stage("confirm"), notices().status("confirming by simulation"):
            if early is not None and early.design.ports == request.design.ports:
                confirmation = confirm(request, begun)
            else:  # the proof found pins that nobody named
                request = replace(request, folder=folder / "with_pins")
                with prepare(request) as begun:
                    confirmation = confirm(request, begun)
    if confirmation.verdict is Verdict.PASS:
        shutil.rmtree(folder, ignore_errors=True)
    verdict, message = confirmation.weigh(proof.message, several_readings(readings) if readings else "")
    # What a simulator contradicts is proved of another reading of the RTL.
    standing = proof.proved_outputs if verdict is Verdict.PASS else ()
    return replace(proof, verdict=verdict, message=message, proved_outputs=standing), dut, confirmation


def _as_declared(request: ConfirmationRequest, said: PortsFile | None) -> ConfirmationRequest | None:
    """The request with the ports that the sources declare; None if they do not fit, which the proof will say."""
    if said is None:
        return request
    try:
        return replace(request, design=bound(request.program, request.design, said))
    except InputError:
        return None


@contextmanager
def _building(
    request: ConfirmationRequest | None,
) -> Iterator[tuple[ConfirmationRequest | None, Mapping[str, Begun]]]:
    if request is None:
        yield None, {}
        return
    with prepare(request) as begun:
        yield request, begun
