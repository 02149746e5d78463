"""Return the text that members of an instance print, by the golden model and by its RTL in simulators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import KernelError, ToolError
from dais_verif.base.files import write_atomically
from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.compile.kernels.folder import KernelFolder
from dais_verif.compile.kernels.forms.memory import memory_form
from dais_verif.compile.kernels.forms.printing import PrintingRun, memory_run, stream_run, texts_of
from dais_verif.compile.kernels.forms.stream import stream_form
from dais_verif.compile.kernels.instance import KernelInstance
from dais_verif.golden.members import print_instance
from dais_verif.hardware.emitter.machines import emit_machine
from dais_verif.hardware.ports.interface import Dut
from dais_verif.record.kernel_printout import KernelPrintout, PrintedBy
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.ports import CLOCK
from dais_verif.spec.program.ports import Ports
from dais_verif.stimulus.machines import ArrayRows, InputSequence

__all__ = ["print_folder", "print_members", "require_messages", "require_shown"]

Ints = NDArray[Any]

_MODULE = "model"


@dataclass(frozen=True)
class _Printing:
    """A machine with outputs for the text that its members print, and its run."""

    machine: Machine
    run: PrintingRun


def print_members(
    instance: KernelInstance,
    tensors: Sequence[Ints],
    *,
    form: str = "memory",
    simulators: Sequence[str] = (),
    folder: Path | None = None,
    rtl: Path | None = None,
    timeout: float | None = None,
) -> KernelPrintout:
    """Return the printed text for ``tensors``, raw integers of each input, shape (samples, ...); and the RTL's text.

    ``simulators``: the simulators that run the RTL, in ``folder``. ``rtl``: the file of the RTL, a module ``model``
    with the ports of the form and its taps; None: RTL is emitted. Raises ``InputError`` for an instance without
    messages, a form that does not fit the instance, and tensors of wrong shapes.
    """
    require_messages(instance)
    if not simulators:
        return _printout(instance, form, tensors, (), None, None, folder, timeout)
    assert folder is not None
    printing = _printing(instance, form, tensors)
    if rtl is None:
        rtl = folder / f"{_MODULE}.v"
        write_atomically(rtl, emit_machine(printing.machine, _MODULE).encode())
    return _printout(instance, form, tensors, simulators, printing, (rtl,), folder, timeout)


def print_folder(
    kernel: KernelFolder,
    tensors: Sequence[Ints],
    simulators: Sequence[str],
    rtl: Sequence[Path],
    folder: Path,
    timeout: float | None,
) -> KernelPrintout:
    """Do the same as ``print_members`` for a kernel built with outputs for printed text. ``rtl``: its RTL."""
    machine = kernel.machine
    if kernel.form == "stream":
        run = stream_run(kernel.instance, kernel.facts["flush"], machine, tensors)
    else:
        run = memory_run(kernel.instance, kernel.facts["latency"], machine, tensors)
    printing = _Printing(machine, run)
    return _printout(kernel.instance, kernel.form, tensors, simulators, printing, rtl, folder, timeout)


def require_messages(instance: KernelInstance) -> None:
    """Raise ``InputError`` if members of ``instance`` print nothing."""
    if not instance.taps:
        raise KernelError(f"{instance.name}: no member prints; add messages, [[printf]], to its file")


def require_shown(kernel: KernelFolder) -> None:
    """Raise ``InputError`` if members of ``kernel`` print nothing, or its hardware does not show it."""
    require_messages(kernel.instance)
    if "tap_valid" not in kernel.machine.signals:
        raise KernelError.of(
            "{path!r}: its hardware has no outputs for what members print; build it again with {printf}",
            path=str(kernel.path),
        )


def _printout(
    instance: KernelInstance,
    form: str,
    tensors: Sequence[Ints],
    simulators: Sequence[str],
    printing: _Printing | None,
    rtl: Sequence[Path] | None,
    folder: Path | None,
    timeout: float | None,
) -> KernelPrintout:
    golden = print_instance(instance, tensors).texts
    found = []
    if printing is not None and folder is not None:
        found = [
            _printed_by(instance, printing, golden, name, folder, tuple(rtl or ()), timeout) for name in simulators
        ]
    messages = sum(map(len, golden))
    verdict, message = _verdict(found, messages)
    return KernelPrintout(
        verdict=verdict,
        message=message,
        kernel=instance.name,
        form=form,
        members=instance.mapping.members,
        samples=len(golden),
        messages=messages,
        texts=["".join(sample) for sample in golden],
        simulators=found,
    )


def _printing(instance: KernelInstance, form: str, tensors: Sequence[Ints]) -> _Printing:
    if form == "stream":
        stream = stream_form(instance, printf=True)
        return _Printing(stream.machine, stream_run(instance, stream.flush, stream.machine, tensors))
    memory = memory_form(instance, printf=True)
    return _Printing(memory.machine, memory_run(instance, memory.facts.latency, memory.machine, tensors))


def _printed_by(
    instance: KernelInstance,
    printing: _Printing,
    golden: list[list[str]],
    simulator: str,
    folder: Path,
    rtl: tuple[Path, ...],
    timeout: float | None,
) -> PrintedBy:
    # Imported here: not needed for the text of the golden model.
    from dais_verif.simulation.machines.rows import interface_of
    from dais_verif.simulation.machines.watch import watch_outputs
    from dais_verif.simulation.simulators.build import RtlDesign

    machine, run = printing.machine, printing.run
    interface = interface_of(machine, CLOCK)
    design = RtlDesign(rtl, _MODULE, dut=Dut(interface, Ports((), ()), (), "the machine's types"))
    types = {signal.name: signal.types for signal in machine.inputs}
    sequence = InputSequence(run.cycles, {name: ArrayRows(rows, types[name]) for name, rows in run.inputs.items()})
    try:
        rows, version = watch_outputs(
            machine,
            sequence,
            design,
            interface,
            folder,
            simulator=simulator,
            valid="tap_valid",
            data="tap" if "tap" in machine.signals else None,
            timeout=timeout,
        )
    except ToolError as error:
        return PrintedBy(simulator, failure=str(error))
    texts = texts_of(instance, run, [row.values for row in rows])
    difference = _difference(instance.mapping.geometry, golden, texts)
    other = None if difference is None else ["".join(sample) for sample in texts]
    return PrintedBy(simulator, version, other, difference)


def _difference(geometry: tuple[int, ...], golden: list[list[str]], texts: list[list[str]]) -> str | None:
    """Return the first member that prints a different text."""
    wanted, found = (sum(map(len, each)) for each in (golden, texts))
    if wanted != found:
        return f"{counted(found, 'member prints', 'members print')}, must be {wanted}"
    for sample, (right, other) in enumerate(zip(golden, texts, strict=True)):
        for number, (text, seen) in enumerate(zip(right, other, strict=True)):
            if text != seen:
                member = [int(at) for at in np.unravel_index(number, geometry, order="F")]
                return f"member {member} of sample {sample} prints {seen!r}, must print {text!r}"
    return None


def _verdict(found: Sequence[PrintedBy], messages: int) -> tuple[Verdict, str]:
    failed = [f"{one.name}: {one.failure}" for one in found if one.failure]
    if failed:
        return Verdict.TOOL_FAILURE, "; ".join(failed)
    wrong = [f"{one.name}: {one.difference}" for one in found if one.difference]
    if wrong:
        return Verdict.RTL_MISMATCH, wrong[0]
    if not messages:
        return Verdict.NOT_RUN, "no member printed"
    names = f" in {' and '.join(one.name for one in found)}" if found else " in the golden model"
    print_ = counted(messages, "member prints", "members print")
    return Verdict.PASS, f"{print_}{' the same' if found else ''}{names}"
