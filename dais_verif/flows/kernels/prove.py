"""Prove the hardware of a kernel: laws of its mapping, RTL = machine for ever, machine = all members side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dais_verif.errors import InputError
from dais_verif.flows.diff import DiffRequest, diff
from dais_verif.flows.kernels.kept import keep_answer, keep_no_answer
from dais_verif.flows.machines.prove import prove_machine
from dais_verif.flows.progress import Progress
from dais_verif.flows.proof.request import ProveRequest
from dais_verif.golden.form_facts import check_facts
from dais_verif.kernels.folder import KernelFolder
from dais_verif.kernels.forms.memory import MemoryFacts, MemoryForm
from dais_verif.kernels.forms.stream import StreamForm, stream_form
from dais_verif.kernels.laws.check import check_mapping
from dais_verif.kernels.unfold import unfold
from dais_verif.prover.results import ProofOptions
from dais_verif.record.diff import DiffRecord
from dais_verif.record.kernels import ProvedKernel
from dais_verif.record.proof import ProofRecord
from dais_verif.record.simulation import Mismatch
from dais_verif.stopwatch import Stopwatch
from dais_verif.verdict import Verdict

__all__ = ["prove_kernel"]

#: What a comparison of machine and members says of the hardware.
_OF_HARDWARE = {Verdict.PROGRAMS_DIFFER: Verdict.RTL_MISMATCH}


def prove_kernel(
    kernel: KernelFolder, request: ProveRequest, options: ProofOptions, progress: Progress, watch: Stopwatch
) -> tuple[ProofRecord, None, Path | None, Mismatch | None]:
    """Return the record, no program, the folder if it was kept, and what a simulator showed.

    What is proved: each element of an output is written once, and no member touches what its mapping does not say; the
    RTL does what the machine does, in every cycle, from power-up; and the machine computes, over a frame in which all
    members run, what all members side by side compute, for all inputs, and in the frames that follow.
    """
    design = request.design
    if not design.rtl and design.netlist is None:
        design = replace(design, rtl=(kernel.rtl,))
    asked = replace(request, design=design, command=lambda _: request.reproduce())
    record, _, folder, mismatch = prove_machine(kernel.machine, asked, options, progress, watch)
    keep_no_answer(folder, record)
    mapping = kernel.instance.mapping
    broken = [str(one) for one in check_mapping(mapping).failures]
    proved = ProvedKernel(
        kernel=kernel.instance.name,
        form=kernel.form,
        members=mapping.members,
        laws=broken[0] if broken else "each element is written once, and members touch what the mapping says",
        facts="not looked at",
        folded=Verdict.NOT_RUN,
        message="not looked at: what comes before it is not proved",
    )
    if record.verdict is Verdict.PASS and broken:
        message = f"the mapping of {proved.kernel} breaks a law: {proved.laws}"
        record = replace(record, verdict=Verdict.RTL_MISMATCH, message=message)
    if record.verdict is Verdict.PASS:
        with watch.stage("facts"), progress.working("running the control of all ranges"):
            findings, proved = _facts(kernel, proved)
        if findings:
            message = f"what is stated of {proved.kernel} does not hold: {proved.facts}"
            record = replace(record, verdict=Verdict.RTL_MISMATCH, message=message)
    if record.verdict is Verdict.PASS:
        with watch.stage("members"), progress.working("comparing with all members side by side"):
            found = _folded(kernel, request)
        proved = replace(proved, folded=found.verdict, message=found.message)
        verdict, message = _judged(record, proved)
        record = replace(record, verdict=verdict, message=message)
    mine = {stage.name: stage.busy for stage in watch.stages if stage.name in ("facts", "members")}
    record = keep_answer(folder, replace(record, kernel=proved, seconds={**record.seconds, **mine}))
    return record, None, folder, mismatch


def _facts(kernel: KernelFolder, proved: ProvedKernel) -> tuple[bool, ProvedKernel]:
    """Whether something that is stated does not hold, and the record with what was found."""
    form: MemoryForm | StreamForm
    try:
        if kernel.form == "memory":
            form = MemoryForm(kernel.machine, MemoryFacts(**kernel.facts))
        else:
            form = replace(stream_form(kernel.instance), machine=kernel.machine, **kernel.facts)  # type: ignore[arg-type]
    except TypeError as error:
        raise InputError(f"{str(kernel.path)!r}: its facts are not those of a {kernel.form} form: {error}") from None
    report = check_facts(kernel.instance, form)
    if report.findings:
        return True, replace(proved, facts=str(report.findings[0]))
    left = f"; {report.left_out} left out, which take too long" if report.left_out else ""
    stated = ", ".join(f"{name} {value}" for name, value in kernel.facts.items())
    return False, replace(proved, facts=f"{stated}: hold in {report.runs} runs of control{left}")


def _folded(kernel: KernelFolder, request: ProveRequest) -> DiffRecord:
    return diff(
        DiffRequest(
            a=kernel.machine,
            b=unfold(kernel.instance),
            frame=kernel.frame,
            prove=True,
            unchecked=request.unchecked,
            timeout=request.timeout,
            seed=request.seed,
        )
    )


def _judged(record: ProofRecord, proved: ProvedKernel) -> tuple[Verdict, str]:
    if proved.folded is Verdict.PASS:
        members = f"{proved.members} members in every frame, for all inputs"
        return Verdict.PASS, f"{record.message}; and computes kernel {proved.kernel}: {members}"
    verdict = _OF_HARDWARE.get(proved.folded, proved.folded)
    if verdict is Verdict.RTL_MISMATCH:
        return verdict, f"RTL and machine agree, but not with kernel {proved.kernel}: {proved.message}"
    unknown = f"whether they compute kernel {proved.kernel} is not known: {proved.message}"
    return verdict, f"RTL and machine agree; {unknown}"
