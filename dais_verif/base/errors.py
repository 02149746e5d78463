"""The errors that users see. Each is one line: what, where, which rule, what to do.

``DaisError``
├── ``ProgramError``    the file is not a valid DAIS program
├── ``InputError``      a vector, option or path cannot be used
│   ├── ``RequestError``  options contradict each other
│   └── ``StateError``  RTL that must be a function of its inputs keeps state
├── ``ViolationError``  the program broke one of its promises on these inputs
├── ``ToolError``       a simulator or compiler is missing or failed
└── ``VerdictError``    ``raise_for_verdict`` of a record that did not pass

The base class decides the verdict and the exit code. Each kind of error is a subclass with a ``code``, which is stable:
records have it, and it names the section of docs/troubleshooting.md, whose texts are in ``troubleshooting_page``.

Any other exception that escapes is a bug of dais-verif.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dais_verif.base.verdict import Verdict

__all__ = [
    "ApproximationError",
    "Argument",
    "BenchError",
    "BitstreamError",
    "BitstreamFailure",
    "BoardError",
    "BoardFailure",
    "CertificateError",
    "CertificateFailure",
    "ClusterError",
    "ClusterFailure",
    "ComparisonError",
    "ConversionError",
    "DaisError",
    "EmitterError",
    "EngineError",
    "EngineFailure",
    "FileError",
    "FrameError",
    "FuzzingError",
    "InputError",
    "KernelError",
    "KernelFolderError",
    "KernelLibraryError",
    "KernelParameterError",
    "KernelPrintfError",
    "LatencyError",
    "LayoutError",
    "MachineError",
    "MachineFileError",
    "MachineInputError",
    "MissingPackage",
    "MissingTool",
    "MutationError",
    "MutationFailure",
    "NetlistError",
    "NetlistFailure",
    "NetworkInputError",
    "ParameterError",
    "PolicyError",
    "PortError",
    "ProgramError",
    "ProjectFolderError",
    "ProofError",
    "ProofFailure",
    "RecordError",
    "RegisterError",
    "RegressionError",
    "RequestError",
    "RtlFileError",
    "RuleError",
    "SimulatorError",
    "SimulatorFailure",
    "StateError",
    "TextFormError",
    "ToolError",
    "UnknownTop",
    "UnsupportedVerilog",
    "UnusableTool",
    "VectorError",
    "VerdictError",
    "VhdlError",
    "VhdlFailure",
    "ViolationError",
    "WrapperError",
]


_Error = TypeVar("_Error", bound="DaisError")


class Argument(str):
    """The name of an argument of this package's functions, as a value for ``DaisError.of``."""

    __slots__ = ()


class DaisError(Exception):
    """The base class of all errors that are meant for users; never raised itself."""

    verdict = Verdict.INVALID_INPUT

    #: The kind of the error, in kebab case; it is stable.
    code: str

    #: The arguments of ``of``.
    _parts: tuple[str, dict[str, object]] | None = None

    @classmethod
    def of(cls: type[_Error], text: str, /, **values: object) -> _Error:
        """Return an error that names arguments: ``{name}`` in ``text`` is an argument unless ``values`` has its value.

        The message has the names of the functions' arguments; ``spelled`` replaces them, for example by options.
        """
        error = cls("")
        error._name(text, **values)
        return error

    def _name(self, text: str, /, **values: object) -> None:
        """Set the message in the way of ``of``, for classes whose constructors take no message."""
        self.args = (_spelled(text, values, str),)
        self._parts = text, values

    def spelled(self, spell: Callable[[str], str]) -> str:
        """Return the message with each argument spelled as ``spell`` returns it."""
        return str(self) if self._parts is None else _spelled(*self._parts, spell)


class ProgramError(DaisError):
    """The bytes or the JSON do not form a valid program.

    Raised before anything runs. The message names op index, field, value, rule and remedy.
    """

    code = "program-file"


class InputError(DaisError):
    """A vector file, an option or a path cannot be used. The message names it and the reason."""

    code = Verdict.INVALID_INPUT.code


class RequestError(InputError):
    """The request contradicts itself or is incomplete."""

    code = "options"


class StateError(InputError):
    """RTL that must be a function of its inputs keeps state, or reads the time.

    This is a known property of the RTL; such RTL is not merely unsupported.
    """

    code = "rtl-with-state"


class ViolationError(DaisError):
    """A promise operation changed its value when quantised, or a table index left its table.

    The program is invalid for this input; ``--unchecked`` (``check=False``) continues with the quantised value, as
    hardware does.
    """

    verdict = Verdict.PROGRAM_INVALID
    code = Verdict.PROGRAM_INVALID.code


class ToolError(DaisError):
    """A required external program is missing, failed or ran out of time.

    The message names the tool, where it was looked for, and the variable or command that helps.
    """

    verdict = Verdict.TOOL_FAILURE
    code = Verdict.TOOL_FAILURE.code


class VerdictError(DaisError):
    """The verdict of a run is not PASS, and the caller requested an exception in this case."""

    def __init__(self, verdict: Verdict, message: str) -> None:
        super().__init__(f"{verdict.value}: {message}")
        self.verdict, self.message, self.code = verdict, message, verdict.code

    def __reduce__(self) -> tuple[type[VerdictError], tuple[Verdict, str]]:
        """Support pickling, which process pools need for exceptions."""
        return type(self), (self.verdict, self.message)


class FileError(InputError):
    """A file or folder cannot be read or written, or would be overwritten."""

    code = "files"


class RecordError(InputError):
    """A file is no record of a run, or not one of the expected kind."""

    code = "records"


class MissingPackage(ToolError):
    """A Python package, or a file of this package, is missing."""

    code = "missing-package"


class MissingTool(ToolError):
    """A program is missing; the search goes on, so that one message can name all missing programs."""

    code = "missing-tool"


class UnusableTool(ToolError):
    """A program exists, but does not run."""

    code = "missing-tool"


class EngineError(InputError):
    """The engine of the golden model does not support the request."""

    code = "engines"


class EngineFailure(ToolError):
    """The engine of the golden model does not run on this machine."""

    code = "engines"


class LayoutError(InputError):
    """The layout of a program cannot be used."""

    code = "program-file"


class RuleError(ProgramError):
    """A program breaks a rule of DAIS or ALIR."""

    code = "program-rules"


class TextFormError(ProgramError):
    """A program in text form has a syntax error."""

    code = "text-form"


class ConversionError(InputError):
    """The other format cannot express the program."""

    code = "conversion"


class VectorError(InputError):
    """Vectors have the wrong shape, or values that cannot be used."""

    code = "vectors"


class ComparisonError(InputError):
    """Two programs cannot be compared."""

    code = "comparison"


class RtlFileError(InputError):
    """A file of the RTL cannot be used."""

    code = "rtl-files"


class UnknownTop(InputError):
    """The RTL has no module, or entity, with the given name of the top."""

    code = "top-module"


class PortError(InputError):
    """The ports of the RTL are not those that the program needs."""

    code = "ports"


class ParameterError(InputError):
    """A value of a Verilog parameter cannot be used."""

    code = "parameters"


class ProjectFolderError(InputError):
    """A folder of da4ml or alkaid cannot be used."""

    code = "project-folders"


class VhdlError(InputError):
    """The VHDL cannot be read."""

    code = "vhdl"


class VhdlFailure(ToolError):
    """GHDL does not support the VHDL, or failed."""

    code = "vhdl"


class EmitterError(InputError):
    """RTL cannot be emitted as requested."""

    code = "emitted-rtl"


class WrapperError(InputError):
    """A folder of ``emit --wrap`` cannot be used."""

    code = "wrappers"


class ProofError(InputError):
    """The design was read, but cannot be proved as it is."""

    code = "proofs"


class ProofFailure(ToolError):
    """What a proof needs does not work on this machine."""

    code = "proofs"


class UnsupportedVerilog(InputError):
    """The prover does not support a construct of the RTL."""

    code = "unsupported-verilog"


class RegisterError(InputError):
    """A clock, an enable or a reset of a register cannot be inferred."""

    code = "registers"


class LatencyError(InputError):
    """Paths of different latency meet, or the latency is not the given one."""

    code = "latency"


class SimulatorError(InputError):
    """The simulator does not support the request."""

    code = "simulators"


class SimulatorFailure(ToolError):
    """A simulator or compiler failed."""

    code = "simulators"


class NetlistError(InputError):
    """A netlist cannot be used."""

    code = "netlists"


class NetlistFailure(ToolError):
    """Yosys failed."""

    code = "netlists"


class BitstreamError(InputError):
    """A bitstream, its pins or its device cannot be used."""

    code = "bitstreams"


class BitstreamFailure(ToolError):
    """A tool that makes or reads bitstreams failed."""

    code = "bitstreams"


class BoardError(InputError):
    """A board, or a bitstream for it, cannot be used as requested."""

    code = "boards"


class BoardFailure(ToolError):
    """A board does not answer, or breaks the protocol."""

    code = "boards"


class MutationError(InputError):
    """The design cannot be mutated as requested."""

    code = "mutation"


class MutationFailure(ToolError):
    """The simulation of mutants failed."""

    code = "mutation"


class FuzzingError(InputError):
    """A tool or a case cannot be fuzzed."""

    code = "fuzzing"


class BenchError(InputError):
    """The arguments of the user's own bench cannot be used."""

    code = "cocotb-benches"


class MachineError(ProgramError):
    """A file has no machine, or its machine breaks a rule."""

    code = "machine-file"


class MachineFileError(InputError):
    """The file form cannot hold the machine."""

    code = "machine-file"


class MachineInputError(InputError):
    """The inputs of a machine cannot be used."""

    code = "machine-inputs"


class FrameError(InputError):
    """A frame cannot be used with the machine."""

    code = "machine-frames"


class KernelError(InputError):
    """The kernel does not support the request."""

    code = "kernels"


class KernelLibraryError(InputError):
    """A library of kernels cannot be used."""

    code = "kernel-libraries"


class KernelParameterError(InputError):
    """A file of a kernel's parameters is wrong."""

    code = "kernel-parameters"


class KernelFolderError(InputError):
    """A folder of ``kernel build`` cannot be used."""

    code = "kernel-folders"


class KernelPrintfError(InputError):
    """The messages of members cannot be printed in this form."""

    code = "kernel-printf"


class NetworkInputError(InputError):
    """A network's folder, or the request for a network, cannot be used."""

    code = "networks"


class ApproximationError(InputError):
    """A configuration, or a knob, cannot be used with the network."""

    code = "configurations"


class RegressionError(InputError):
    """A manifest, or a job of it, cannot be used."""

    code = "regressions"


class ClusterError(InputError):
    """The name of a cluster cannot be used."""

    code = "clusters"


class ClusterFailure(ToolError):
    """A cluster, or one of its workers, cannot do the work."""

    code = "clusters"


class PolicyError(InputError):
    """A policy is wrong, or asks for what the design does not have."""

    code = "policies"


class CertificateError(InputError):
    """A certificate, or its evidence, does not hold."""

    code = "certificates"


class CertificateFailure(ToolError):
    """A tool of a sign-off cannot run."""

    code = "certificates"


def _spelled(text: str, values: dict[str, object], spell: Callable[[str], str]) -> str:
    return text.format_map(_Names(values, spell))


class _Names(dict[str, object]):
    """The replacements of the names in braces."""

    def __init__(self, values: dict[str, object], spell: Callable[[str], str]) -> None:
        super().__init__(values)
        self._spell = spell

    def __missing__(self, name: str) -> str:
        return self._spell(name)

    def __getitem__(self, name: str) -> object:
        value = super().__getitem__(name)
        if isinstance(value, DaisError):
            return value.spelled(self._spell)
        return self._spell(value) if isinstance(value, Argument) else value
