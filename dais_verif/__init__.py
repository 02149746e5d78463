"""dais-verif: does this RTL compute this DAIS program, bit for bit?

``load`` reads a program and ``load_machine`` a machine; ``run`` evaluates either on the golden model; ``Golden``
evaluates one program many times. ``approx`` is the package for approximation configurations, ``networks`` the package
for networks. ``simulate``, ``prove``, ``check``, ``diff``, ``convert``, ``cover``, ``explain_machine``,
``rank_sensitivity``, ``run_on_board``, ``emit``, ``synthesize``, ``regress``, ``fuzz``, ``shrink``, ``mutate``,
``sign_off`` and ``verify_certificate`` correspond to the verbs of the command line, and return records.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dais_verif.base.errors import (
    DaisError,
    InputError,
    ProgramError,
    RequestError,
    ToolError,
    VerdictError,
    ViolationError,
)
from dais_verif.base.moved import find_moved
from dais_verif.base.verdict import Verdict
from dais_verif.base.version import VERSION

if TYPE_CHECKING:
    from dais_verif.compile import approximation as approx
    from dais_verif.compile import networks
    from dais_verif.doors.api.functions import (
        apply_configuration,
        build_bitstream,
        check,
        convert,
        convert_configurations,
        cover,
        diff,
        emit,
        explain_machine,
        fuzz,
        measure_configurations,
        mutate,
        prove,
        rank_sensitivity,
        regress,
        run_on_board,
        show_configurations,
        shrink,
        sign_off,
        simulate,
        synthesize,
        tune_configurations,
        verify_certificate,
    )
    from dais_verif.doors.api.kernels import build_kernel, draw_kernel, list_kernels, show_kernel
    from dais_verif.golden import Golden
    from dais_verif.golden.machine_batch import MachineRun, run_machine
    from dais_verif.golden.run_any import run
    from dais_verif.record.approximation import ConfigurationsRecord
    from dais_verif.record.build import BuildRecord
    from dais_verif.record.campaigns import FuzzRecord, MutationRecord, RegressionRecord, ShrinkRecord
    from dais_verif.record.check import CheckRecord
    from dais_verif.record.conversion import ConversionRecord
    from dais_verif.record.coverage import CoverageRecord
    from dais_verif.record.diff import DiffRecord
    from dais_verif.record.emission import EmissionRecord
    from dais_verif.record.explanation import CycleRecord
    from dais_verif.record.kernel_picture import KernelPicture
    from dais_verif.record.kernels import KernelBuild, KernelInfo, KernelListing
    from dais_verif.record.proof import ProofRecord
    from dais_verif.record.sensitivity import SensitivityRecord
    from dais_verif.record.signoff import CertificateRecord, SignOffRecord
    from dais_verif.record.simulation import SimulationRecord
    from dais_verif.record.synthesis import SynthesisRecord
    from dais_verif.spec.machine import Machine, load_machine
    from dais_verif.spec.program import Program
    from dais_verif.subject.programs import load_program as load
    from dais_verif.verbs.approximation.convert import ConvertConfigurationsRequest
    from dais_verif.verbs.approximation.show import ShowConfigurationsRequest
    from dais_verif.verbs.bitstream.build import BuildRequest
    from dais_verif.verbs.boards.run_on_board import BoardRequest
    from dais_verif.verbs.check import CheckRequest
    from dais_verif.verbs.convert import ConversionRequest
    from dais_verif.verbs.cover import CoverageRequest
    from dais_verif.verbs.designs import DesignRequest
    from dais_verif.verbs.diff import DiffRequest
    from dais_verif.verbs.emit import EmitRequest, WrapRequest
    from dais_verif.verbs.explain import ExplanationRequest
    from dais_verif.verbs.fuzzing.requests import FuzzRequest
    from dais_verif.verbs.fuzzing.shrink import ShrinkRequest
    from dais_verif.verbs.mutation.requests import MutationRequest
    from dais_verif.verbs.pins import Pins
    from dais_verif.verbs.pipelines import PipelineRequest
    from dais_verif.verbs.progress import Progress
    from dais_verif.verbs.proof.request import ProveRequest
    from dais_verif.verbs.rank_sensitivity import SensitivityRequest
    from dais_verif.verbs.regress import RegressionRequest
    from dais_verif.verbs.sign_off import SignOffRequest
    from dais_verif.verbs.simulation_request import SimulationRequest
    from dais_verif.verbs.synthesize import SynthesisRequest
    from dais_verif.verbs.verify_certificate import CertificateRequest

__all__ = [
    # programs
    "Golden",
    "Program",
    "load",
    "run",
    # machines
    "Machine",
    "MachineRun",
    "load_machine",
    "run_machine",
    # approximation
    "approx",
    # networks
    "networks",
    # kernels
    "KernelBuild",
    "KernelInfo",
    "KernelListing",
    "KernelPicture",
    "build_kernel",
    "draw_kernel",
    "list_kernels",
    "show_kernel",
    # functions of the verbs
    "Progress",
    "apply_configuration",
    "build_bitstream",
    "check",
    "convert",
    "convert_configurations",
    "cover",
    "diff",
    "emit",
    "explain_machine",
    "fuzz",
    "measure_configurations",
    "mutate",
    "prove",
    "rank_sensitivity",
    "regress",
    "run_on_board",
    "show_configurations",
    "shrink",
    "sign_off",
    "simulate",
    "synthesize",
    "tune_configurations",
    "verify_certificate",
    # their records
    "BuildRecord",
    "CertificateRecord",
    "CheckRecord",
    "ConfigurationsRecord",
    "ConversionRecord",
    "CoverageRecord",
    "CycleRecord",
    "DiffRecord",
    "EmissionRecord",
    "FuzzRecord",
    "MutationRecord",
    "ProofRecord",
    "RegressionRecord",
    "ShrinkRecord",
    "SensitivityRecord",
    "SignOffRecord",
    "SimulationRecord",
    "SynthesisRecord",
    # their requests
    "BoardRequest",
    "BuildRequest",
    "CertificateRequest",
    "CheckRequest",
    "ConversionRequest",
    "ConvertConfigurationsRequest",
    "CoverageRequest",
    "DesignRequest",
    "DiffRequest",
    "EmitRequest",
    "ExplanationRequest",
    "FuzzRequest",
    "MutationRequest",
    "Pins",
    "PipelineRequest",
    "ProveRequest",
    "RegressionRequest",
    "SensitivityRequest",
    "ShowConfigurationsRequest",
    "ShrinkRequest",
    "SignOffRequest",
    "SimulationRequest",
    "SynthesisRequest",
    "WrapRequest",
    # errors
    "DaisError",
    "InputError",
    "ProgramError",
    "RequestError",
    "ToolError",
    "Verdict",
    "VerdictError",
    "ViolationError",
    "__version__",
]

__version__ = VERSION

find_moved()

#: Names that are imported on first use: the bench inside a simulator does not need them.
_LATER = {
    **dict.fromkeys(
        (
            "apply_configuration",
            "build_bitstream",
            "check",
            "convert",
            "convert_configurations",
            "cover",
            "diff",
            "emit",
            "explain_machine",
            "fuzz",
            "measure_configurations",
            "mutate",
            "prove",
            "rank_sensitivity",
            "regress",
            "run_on_board",
            "show_configurations",
            "shrink",
            "sign_off",
            "simulate",
            "synthesize",
            "tune_configurations",
            "verify_certificate",
        ),
        "doors.api.functions",
    ),
    **dict.fromkeys(("build_kernel", "draw_kernel", "list_kernels", "show_kernel"), "doors.api.kernels"),
    **dict.fromkeys(("KernelBuild", "KernelInfo", "KernelListing"), "record.kernels"),
    "KernelPicture": "record.kernel_picture",
    "Golden": "golden",
    "Program": "spec.program",
    "Progress": "verbs.progress",
    "Machine": "spec.machine",
    "MachineRun": "golden.machine_batch",
    "load": "subject.programs",
    "load_machine": "spec.machine",
    "run_machine": "golden.machine_batch",
    "run": "golden.run_any",
    # records
    "BuildRecord": "record.build",
    "CertificateRecord": "record.signoff",
    "CheckRecord": "record.check",
    "ConfigurationsRecord": "record.approximation",
    "ConversionRecord": "record.conversion",
    "CoverageRecord": "record.coverage",
    "CycleRecord": "record.explanation",
    "DiffRecord": "record.diff",
    "FuzzRecord": "record.campaigns",
    "MutationRecord": "record.campaigns",
    "EmissionRecord": "record.emission",
    "ProofRecord": "record.proof",
    "RegressionRecord": "record.campaigns",
    "SensitivityRecord": "record.sensitivity",
    "ShrinkRecord": "record.campaigns",
    "SignOffRecord": "record.signoff",
    "SimulationRecord": "record.simulation",
    "SynthesisRecord": "record.synthesis",
    # requests
    "BoardRequest": "verbs.boards.run_on_board",
    "BuildRequest": "verbs.bitstream.build",
    "CertificateRequest": "verbs.verify_certificate",
    "CheckRequest": "verbs.check",
    "ConversionRequest": "verbs.convert",
    "ConvertConfigurationsRequest": "verbs.approximation.convert",
    "CoverageRequest": "verbs.cover",
    "DesignRequest": "verbs.designs",
    "DiffRequest": "verbs.diff",
    "EmitRequest": "verbs.emit",
    "FuzzRequest": "verbs.fuzzing.requests",
    "MutationRequest": "verbs.mutation.requests",
    "ExplanationRequest": "verbs.explain",
    "Pins": "verbs.pins",
    "PipelineRequest": "verbs.pipelines",
    "ProveRequest": "verbs.proof.request",
    "RegressionRequest": "verbs.regress",
    "SensitivityRequest": "verbs.rank_sensitivity",
    "ShowConfigurationsRequest": "verbs.approximation.show",
    "ShrinkRequest": "verbs.fuzzing.shrink",
    "SignOffRequest": "verbs.sign_off",
    "SimulationRequest": "verbs.simulation_request",
    "SynthesisRequest": "verbs.synthesize",
    "WrapRequest": "verbs.emit",
}


#: Names that are others in their modules.
_CALLED = {"load": "load_program"}


def __getattr__(name: str) -> Any:
    if name in ("approx", "networks"):  # imported on first use, since they load numpy, which takes time
        return importlib.import_module(f"{__name__}.compile.{'approximation' if name == 'approx' else name}")
    if name in _LATER:
        return getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), _CALLED.get(name, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
