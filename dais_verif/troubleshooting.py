"""Find the section of docs/troubleshooting.md about an error or a verdict.

An error is identified by its class, else by the module that raised it, else by its verdict.
"""

from __future__ import annotations

from dais_verif.errors import DaisError
from dais_verif.verdict import Verdict

__all__ = ["CLASSES", "MODULES", "PAGE", "section_of_error", "section_of_module", "section_of_verdict"]

PAGE = "docs/troubleshooting.md"

#: The section of the errors of a class, wherever they are raised; a class without one has its base class's section.
CLASSES = {
    "LinkClosed": "boards",
    "MissingTool": "missing-tool",
    "NetworkError": "networks",
    "OutOfStep": "latency",
    "RequestError": "options",
    "StateError": "rtl-with-state",
    "UnknownTop": "top-module",
    "ViolationError": "program-invalid",
}

#: The section of the errors of a module and of all modules in it; the longest matching name is used.
MODULES = {
    "applied_folder": "networks",
    "approx": "configurations",
    "bitstream": "bitstreams",
    "cocotb": "cocotb-benches",
    "dut": "ports",
    "dut.parameters": "parameters",
    "dut.project_folder": "project-folders",
    "dut.verilog": "unsupported-verilog",
    "emitter": "emitted-rtl",
    "files": "files",
    "flows.approximation": "configurations",
    "flows.bitstream": "bitstreams",
    "flows.boards": "boards",
    "flows.convert": "conversion",
    "flows.cover": "options",
    "flows.designs": "rtl-files",
    "flows.diff": "comparison",
    "flows.emit": "emitted-rtl",
    "flows.fuzzing": "fuzzing",
    "flows.golden": "vectors",
    "flows.kernels": "kernels",
    "flows.kernels.tensors": "vectors",
    "flows.machines": "machine-inputs",
    "flows.machines.frame": "machine-frames",
    "flows.machines.streams": "machine-frames",
    "flows.mutation": "mutation",
    "flows.networks": "networks",
    "flows.no_loss": "files",
    "flows.pipelines": "emitted-rtl",
    "flows.programs": "program-file",
    "flows.projects": "project-folders",
    "flows.proof": "proofs",
    "flows.prove": "proofs",
    "flows.read_back": "bitstreams",
    "flows.regress": "regressions",
    "flows.sign_off": "policies",
    "flows.simulation_record": "files",
    "flows.synthesize": "netlists",
    "flows.watched_files": "files",
    "flows.work_folder": "files",
    "flows.wrapper": "wrappers",
    "fuzzing": "fuzzing",
    "golden": "vectors",
    "golden.compare": "comparison",
    "golden.fast": "engines",
    "golden.form_facts": "machine-frames",
    "golden.machine": "machine-inputs",
    "golden.machine_batch": "machine-inputs",
    "golden.members": "machine-frames",
    "golden.unroll": "machine-frames",
    "golden.vm": "engines",
    "hil": "boards",
    "kernels": "kernels",
    "kernels.caller": "kernel-libraries",
    "kernels.discovery": "kernel-libraries",
    "kernels.folder": "kernel-folders",
    "kernels.library": "kernel-libraries",
    "kernels.own": "kernel-libraries",
    "kernels.params_file": "kernel-parameters",
    "kernels.printf": "kernel-printf",
    "kernels.printf_file": "kernel-printf",
    "kernels.printf_taps": "kernel-printf",
    "machine": "machine-file",
    "machine.step": "machine-inputs",
    "machine.streams": "machine-frames",
    "mutation": "mutation",
    "network_faults": "networks",
    "network_files": "networks",
    "network_folder": "networks",
    "networks": "networks",
    "packages": "missing-package",
    "program": "program-file",
    "program.assembler": "text-form",
    "program.checks": "program-rules",
    "program.conversion": "conversion",
    "program.json_writers": "conversion",
    "program.numbers": "vectors",
    "prover": "proofs",
    "prover.machines": "proofs",
    "prover.netlist": "unsupported-verilog",
    "prover.registers": "registers",
    "prover.registers.latency": "latency",
    "prover.slang": "unsupported-verilog",
    "prover.yosys": "unsupported-verilog",
    "record": "records",
    "regression": "regressions",
    "regression.cluster": "clusters",
    "report": "records",
    "signoff": "certificates",
    "signoff.policy": "policies",
    "signoff.stages": "policies",
    "signoff.machines": "policies",
    "signoff.subject": "policies",
    "simulation": "simulators",
    "stimulus": "vectors",
    "stimulus.machines": "machine-inputs",
    "stimulus.sequences": "machine-inputs",
    "synthesis": "netlists",
    "synthesis.bitstream": "bitstreams",
    "synthesis.constraints": "bitstreams",
    "synthesis.devices": "bitstreams",
    "synthesis.pnr": "bitstreams",
    "synthesis.ghdl_verilog": "vhdl",
    "synthesis.vhdl": "vhdl",
    "synthesis.vhdl_events": "vhdl",
    "synthesis.vhdl_packages": "vhdl",
    "toolchain": "simulators",
    "toolchain.data_files": "rtl-files",
    "toolchain.tools": "missing-tool",
}


def section_of_error(error: BaseException) -> str:
    """Return the link to the section about ``error``, which must have been raised."""
    if isinstance(error, DaisError):
        names = (kind.__name__ for kind in type(error).__mro__)
        of_class = next((CLASSES[name] for name in names if name in CLASSES), None)
        return _link(of_class or section_of_module(_raised_in(error)) or _slug(error.verdict))
    if isinstance(error, ImportError):
        return _link("missing-package")
    if isinstance(error, OSError):
        return _link("files")
    return _link("memory" if isinstance(error, MemoryError) else _slug(Verdict.INTERNAL_ERROR))


def section_of_verdict(verdict: Verdict) -> str:
    """Return the link to the section about a run that ended in ``verdict``; empty for PASS."""
    return "" if verdict is Verdict.PASS else _link(_slug(verdict))


def section_of_module(name: str) -> str | None:
    """Return the section of the errors of a module, named without the package; None if there is none."""
    while name:
        if name in MODULES:
            return MODULES[name]
        name = name.rpartition(".")[0]
    return None


def _raised_in(error: BaseException) -> str:
    """Return the module of the package that raised ``error``, without the package's name; empty if none did."""
    found, place = "", error.__traceback__
    while place is not None:
        package, _, module = str(place.tb_frame.f_globals.get("__name__", "")).partition(".")
        found = module if package == "dais_verif" and module else found
        place = place.tb_next
    return found


def _slug(verdict: Verdict) -> str:
    return verdict.value.lower().replace("_", "-")


def _link(slug: str) -> str:
    return f"{PAGE}#{slug}"
