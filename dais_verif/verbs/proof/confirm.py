"""Prove RTL, and simulate the proved RTL; simulators build it during the proof."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dais_verif.base.errors import InputError
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.ports.interface import Dut
from dais_verif.hardware.ports.ports_file import PortsFile
from dais_verif.simulation.confirmation import Confirmation, ConfirmationRequest, confirm, prepare
from dais_verif.simulation.simulators.known import KNOWN
from dais_verif.verbs.conditions import batch_of_sides
from dais_verif.verbs.design_rtl import bound
from dais_verif.verbs.proof.decide import ProofTask, prove_design
from dais_verif.verbs.proof.replay import several_readings, with_found_pins

if TYPE_CHECKING:
    from dais_verif.prover.results import Proof
    from dais_verif.simulation.simulate import PendingRun

__all__ = ["prove_and_confirm"]

_PINNED = "with_pins"


def prove_and_confirm(
    task: ProofTask, folder: Path, readings: Sequence[str] = ()
) -> tuple[Proof, Dut, Confirmation | None]:
    """Return the result of ``prove_design``, adjusted by simulations in ``folder``; None if nothing was proved.

    ``readings``: warnings that macros of some tools turn the RTL into another design.
    """
    options = task.options
    request = ConfirmationRequest(
        task.program, task.design, folder, seed=options.seed, check=options.check, declared=options.declared
    )
    with _building(_as_declared(request, task.said)) as (early, begun):
        proof, dut = prove_design(replace(task, directed=task.reader.foreign))
        if proof.verdict is not Verdict.PASS:
            return proof, dut, None
        request = replace(
            request,
            design=replace(task.design, dut=with_found_pins(dut, proof)),
            directed=batch_of_sides(task.program, proof.vectors, proof.elements),
            sides=(proof.reached, proof.sides),
        )
        with task.watch.stage("confirm"), task.progress.working("confirming by simulation"):
            if early is not None and early.design.ports == request.design.ports:
                confirmation = confirm(request, begun)
            else:  # the proof inferred pins that were not given
                request = replace(request, folder=folder / _PINNED)
                with prepare(request) as begun:
                    confirmation = confirm(request, begun)
    if confirmation.verdict is Verdict.PASS:
        _remove(folder)
    verdict, message = confirmation.weigh(proof.message, several_readings(readings) if readings else "")
    # If a simulator contradicts the proof, the proof holds for another reading of the RTL.
    standing = proof.proved_outputs if verdict is Verdict.PASS else ()
    return replace(proof, verdict=verdict, message=message, proved_outputs=standing), dut, confirmation


def _remove(folder: Path) -> None:
    """Remove files of simulations from ``folder``, but no file of the user."""
    for name in (*KNOWN, _PINNED):
        shutil.rmtree(folder / name, ignore_errors=True)
    with suppress(OSError):  # the folder is not empty
        folder.rmdir()


def _as_declared(request: ConfirmationRequest, said: PortsFile | None) -> ConfirmationRequest | None:
    """Return the request with the ports that the sources declare; None if they do not fit, as the proof will report."""
    if said is None:
        return request
    try:
        return replace(request, design=bound(request.program, request.design, said))
    except InputError:
        return None


@contextmanager
def _building(
    request: ConfirmationRequest | None,
) -> Iterator[tuple[ConfirmationRequest | None, Mapping[str, PendingRun]]]:
    if request is None:
        yield None, {}
        return
    with prepare(request) as begun:
        yield request, begun
