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

from dais_verif.errors import (
    DaisError,
    InputError,
    ProgramError,
    RequestError,
    ToolError,
    VerdictError,
    ViolationError,
)
from dais_verif.verdict import Verdict
from dais_verif.version import VERSION

if TYPE_CHECKING:
    from dais_verif import approx, networks
    from dais_verif.api.approximation import (
        apply_configuration,
        convert_configurations,
        measure_configurations,
        show_configurations,
        tune_configurations,
    )
    from dais_verif.api.campaigns import regress, sign_off, verify_certificate
    from dais_verif.api.designs import prove, run_on_board, simulate
    from dais_verif.api.fuzzing import fuzz, shrink
    from dais_verif.api.hardware import build_bitstream, emit, synthesize
    from dais_verif.api.kernels import build_kernel, draw_kernel, list_kernels, show_kernel
    from dais_verif.api.mutation import mutate
    from dais_verif.api.programs import check, convert, cover, diff, explain_machine, rank_sensitivity
    from dais_verif.flows.approximation.convert import ConvertConfigurationsRequest
    from dais_verif.flows.approximation.show import ShowConfigurationsRequest
    from dais_verif.flows.bitstream.build import BuildRequest
    from dais_verif.flows.boards.run_on_board import BoardRequest
    from dais_verif.flows.check import CheckRequest
    from dais_verif.flows.convert import ConversionRequest
    from dais_verif.flows.cover import CoverageRequest
    from dais_verif.flows.designs import DesignRequest
    from dais_verif.flows.diff import DiffRequest
    from dais_verif.flows.emit import EmitRequest, WrapRequest
    from dais_verif.flows.fuzzing.requests import FuzzRequest
    from dais_verif.flows.fuzzing.shrink import ShrinkRequest
    from dais_verif.flows.golden.explain import ExplanationRequest
    from dais_verif.flows.mutation.requests import MutationRequest
    from dais_verif.flows.pins import Pins
    from dais_verif.flows.pipelines import PipelineRequest
    from dais_verif.flows.progress import Progress
    from dais_verif.flows.proof.request import ProveRequest
    from dais_verif.flows.rank_sensitivity import SensitivityRequest
    from dais_verif.flows.regress import RegressionRequest
    from dais_verif.flows.sign_off import SignOffRequest
    from dais_verif.flows.simulation_request import SimulationRequest
    from dais_verif.flows.synthesize import SynthesisRequest
    from dais_verif.flows.verify_certificate import CertificateRequest
    from dais_verif.golden import Golden
    from dais_verif.golden.machine_batch import MachineRun, run_machine
    from dais_verif.golden.run_any import run
    from dais_verif.machine import Machine, load_machine
    from dais_verif.network_files import load_program as load
    from dais_verif.program import Program
    from dais_verif.record.build import BuildRecord
    from dais_verif.record.campaigns.mutation import MutationRecord
    from dais_verif.record.certificate import CertificateRecord
    from dais_verif.record.check import CheckRecord
    from dais_verif.record.configurations import ConfigurationsRecord
    from dais_verif.record.conversion import ConversionRecord
    from dais_verif.record.coverage import CoverageRecord
    from dais_verif.record.diff import DiffRecord
    from dais_verif.record.emission import EmissionRecord
    from dais_verif.record.explanation import CycleRecord
    from dais_verif.record.fuzzing import FuzzRecord, ShrinkRecord
    from dais_verif.record.kernel_picture import KernelPicture
    from dais_verif.record.kernels import KernelBuild, KernelInfo, KernelListing
    from dais_verif.record.proof import ProofRecord
    from dais_verif.record.regression import RegressionRecord
    from dais_verif.record.sensitivity import SensitivityRecord
    from dais_verif.record.signoff import SignOffRecord
    from dais_verif.record.simulation import SimulationRecord
    from dais_verif.record.synthesis import SynthesisRecord

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

#: Names that are imported on first use: the bench inside a simulator does not need them.
_LATER = {
    **dict.fromkeys(("check", "convert", "cover", "diff", "explain_machine", "rank_sensitivity"), "api.programs"),
    **dict.fromkeys(("prove", "run_on_board", "simulate"), "api.designs"),
    **dict.fromkeys(
        (
            "apply_configuration",
            "convert_configurations",
            "measure_configurations",
            "show_configurations",
            "tune_configurations",
        ),
        "api.approximation",
    ),
    **dict.fromkeys(("build_bitstream", "emit", "synthesize"), "api.hardware"),
    **dict.fromkeys(("regress", "sign_off", "verify_certificate"), "api.campaigns"),
    **dict.fromkeys(("build_kernel", "draw_kernel", "list_kernels", "show_kernel"), "api.kernels"),
    **dict.fromkeys(("KernelBuild", "KernelInfo", "KernelListing"), "record.kernels"),
    "KernelPicture": "record.kernel_picture",
    **dict.fromkeys(("fuzz", "shrink"), "api.fuzzing"),
    "mutate": "api.mutation",
    "Golden": "golden",
    "Program": "program",
    "Progress": "flows.progress",
    "Machine": "machine",
    "MachineRun": "golden.machine_batch",
    "load": "network_files",
    "load_machine": "machine",
    "run_machine": "golden.machine_batch",
    "run": "golden.run_any",
    # records
    "BuildRecord": "record.build",
    "CertificateRecord": "record.certificate",
    "CheckRecord": "record.check",
    "ConfigurationsRecord": "record.configurations",
    "ConversionRecord": "record.conversion",
    "CoverageRecord": "record.coverage",
    "CycleRecord": "record.explanation",
    "DiffRecord": "record.diff",
    "FuzzRecord": "record.fuzzing",
    "MutationRecord": "record.campaigns.mutation",
    "EmissionRecord": "record.emission",
    "ProofRecord": "record.proof",
    "RegressionRecord": "record.regression",
    "SensitivityRecord": "record.sensitivity",
    "ShrinkRecord": "record.fuzzing",
    "SignOffRecord": "record.signoff",
    "SimulationRecord": "record.simulation",
    "SynthesisRecord": "record.synthesis",
    # requests
    "BoardRequest": "flows.boards.run_on_board",
    "BuildRequest": "flows.bitstream.build",
    "CertificateRequest": "flows.verify_certificate",
    "CheckRequest": "flows.check",
    "ConversionRequest": "flows.convert",
    "ConvertConfigurationsRequest": "flows.approximation.convert",
    "CoverageRequest": "flows.cover",
    "DesignRequest": "flows.designs",
    "DiffRequest": "flows.diff",
    "EmitRequest": "flows.emit",
    "FuzzRequest": "flows.fuzzing.requests",
    "MutationRequest": "flows.mutation.requests",
    "ExplanationRequest": "flows.golden.explain",
    "Pins": "flows.pins",
    "PipelineRequest": "flows.pipelines",
    "ProveRequest": "flows.proof.request",
    "RegressionRequest": "flows.regress",
    "SensitivityRequest": "flows.rank_sensitivity",
    "ShowConfigurationsRequest": "flows.approximation.show",
    "ShrinkRequest": "flows.fuzzing.shrink",
    "SignOffRequest": "flows.sign_off",
    "SimulationRequest": "flows.simulation_request",
    "SynthesisRequest": "flows.synthesize",
    "WrapRequest": "flows.emit",
}


#: Names that are others in their modules.
_CALLED = {"load": "load_program"}


def __getattr__(name: str) -> Any:
    if name in ("approx", "networks"):  # imported on first use, since they load numpy, which takes time
        return importlib.import_module(f"{__name__}.{name}")
    if name in _LATER:
        return getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), _CALLED.get(name, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
