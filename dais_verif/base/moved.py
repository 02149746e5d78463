"""Old places of modules that users import: they work for a release, with a warning that says the new place."""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["MOVED", "find_moved"]

#: The new places of packages and modules by the old ones; the longest old place counts.
MOVED = {
    "program": "spec.program",
    "machine": "spec.machine",
    "kernels": "compile.kernels",
    "networks": "compile.networks",
    "approx": "compile.approximation",
    "errors": "base.errors",
    "verdict": "base.verdict",
    "fuzzing": "campaigns.fuzzing",
    "emitter": "hardware.emitter",
    "dut": "hardware.ports",
    "cli": "doors.cli",
    "approx.accuracy": "compile.approximation.choice",
    "approx.budget": "compile.approximation.choice",
    "approx.curve": "compile.approximation.choice",
    "approx.fitting": "compile.approximation.columns",
    "approx.half": "compile.approximation.convolution",
    "approx.lines": "compile.approximation.reader",
    "approx.model": "compile.approximation.configuration",
    "approx.nodes": "compile.approximation.reader",
    "approx.number": "compile.approximation.configuration",
    "approx.perforation": "compile.approximation.convolution",
    "approx.places": "compile.approximation.problems",
    "approx.sampling": "compile.approximation.convolution",
    "golden.fault_injection": "golden.sensitivity",
    "golden.frame_chain": "golden.unroll",
    "golden.machine_explanation": "golden.machine",
    "golden.machine_lanes": "golden.machine_batch",
    "golden.vm.codes": "golden.vm.instructions",
    "golden.vm.comments": "golden.vm.instructions",
    "golden.vm.fast": "golden.vm.machine",
    "golden.vm.listing": "golden.vm.instructions",
    "golden.vm.reverse": "golden.vm.pullback",
    "golden.vm.schedule": "golden.vm.compile",
    "golden.vm.violations": "golden.vm.execute",
    "kernels.access": "compile.kernels.mapping",
    "kernels.chunks": "compile.kernels.regions",
    "kernels.forms.logic": "compile.kernels.forms.control",
    "kernels.forms.ranges": "compile.kernels.forms.raster",
    "kernels.forms.steps": "compile.kernels.forms.memory",
    "kernels.forms.stream_files": "compile.kernels.forms.stream",
    "kernels.printf_file": "compile.kernels.printf",
    "kernels.printf_taps": "compile.kernels.printf",
    "kernels.private": "compile.kernels.structures",
    "kernels.shipped.activation": "compile.kernels.shipped.elementwise",
    "kernels.shipped.batch_norm": "compile.kernels.shipped.elementwise",
    "kernels.shipped.fused": "compile.kernels.shipped.common",
    "kernels.spelling": "compile.kernels.data_types",
    "machine.alirfsm_writer": "spec.machine.alirfsm",
    "machine.dependence": "spec.machine.order",
    "machine.embedding": "spec.machine.edits",
    "machine.parts": "spec.machine.model",
    "networks.affine": "compile.networks.differences",
    "networks.exact_functions": "compile.networks.rounding",
    "networks.hardware.perforated_streams": "compile.networks.hardware.stream",
    "networks.hardware.segments": "compile.networks.hardware.stages",
    "networks.hardware.stream_driving": "compile.networks.hardware.driving",
    "networks.hardware.stream_frame": "compile.networks.hardware.frame",
    "networks.hardware.times": "compile.networks.hardware.stream",
    "networks.operators.windows": "compile.networks.operators.pooling",
    "program.alir_codes": "spec.program.alir_json",
    "program.cones": "spec.program.graph",
    "program.conversion.building": "spec.program.conversion.lowering",
    "program.conversion.lookups": "spec.program.conversion.raising",
    "program.da4ml_json": "spec.program.json_file",
    "program.gzipped": "spec.program.json_fields",
    "program.linear_ranges": "spec.program.ranges",
    "record.certificate": "record.signoff",
    "record.configurations": "record.approximation",
    "record.fuzzing": "record.campaigns",
    "record.machine_proof": "record.proof",
    "record.project": "record.program",
    "record.regression": "record.campaigns",
    "record.rtl": "record.program",
    "simulation.diagnosis.replay": "simulation.diagnosis.views",
    "simulation.machines.mismatch": "simulation.machines.expected",
    "simulation.machines.streams": "simulation.machines.axis",
    "simulation.simulators.attributes": "simulation.simulators.driven_inputs",
    "simulation.simulators.simulation": "simulation.simulators.simulator",
    "simulation.together": "simulation.in_parallel",
}


class _Moved:
    """Find and load modules by their old names: the same objects as by the new ones.

    It has the methods of a finder and of a loader, but not their base classes, which take time to import.
    """

    def __init__(self) -> None:
        self._specs: dict[str, ModuleSpec | None] = {}

    def find_spec(self, fullname: str, path: object = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the specification of a module at its old place, or None for any other name."""
        return None if _new_name(fullname) is None else ModuleSpec(fullname, self)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module at its new place, with a ``DeprecationWarning``."""
        import warnings

        name = str(_new_name(spec.name))
        module = importlib.import_module(name)
        self._specs[spec.name] = module.__spec__
        warnings.warn(f"{spec.name} is now {name}", DeprecationWarning, stacklevel=2)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module, which has run under its new name, the specification of that name back."""
        module.__spec__ = self._specs.pop(str(getattr(module.__spec__, "name", "")), module.__spec__)


def _new_name(name: str) -> str | None:
    if not name.startswith("dais_verif."):
        return None
    old = name.removeprefix("dais_verif.")
    parts = old.split(".")
    for count in range(len(parts), 0, -1):
        place = MOVED.get(".".join(parts[:count]))
        if place is not None:
            return ".".join(["dais_verif", place, *parts[count:]])
    return None


def find_moved() -> None:
    """Let imports find modules at their old places."""
    if not any(isinstance(finder, _Moved) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Moved())
