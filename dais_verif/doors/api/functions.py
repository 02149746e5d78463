"""The functions of ``import dais_verif`` that correspond to verbs: ``options`` are those of the command line.

A function returns the record of its verb. A wrong design gives a verdict in the record; unusable arguments raise a
``RequestError``, files and folders that cannot be used an ``InputError``, missing or failing tools a ``ToolError``.
"""
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Unpack

from dais_verif.doors.api.signatures import asks
from dais_verif.subject.given import GivenProgram
from dais_verif.verbs.progress import Progress

if TYPE_CHECKING:
    from dais_verif.doors.api import keywords
    from dais_verif.record.approximation import AppliedRecord, ConfigurationsRecord, MeasuredRecord, TunedRecord
    from dais_verif.record.build import BuildRecord
    from dais_verif.record.campaigns import FuzzRecord, MutationRecord, RegressionRecord, ShrinkRecord
    from dais_verif.record.check import CheckRecord
    from dais_verif.record.conversion import ConversionRecord
    from dais_verif.record.coverage import CoverageRecord
    from dais_verif.record.diff import DiffRecord
    from dais_verif.record.emission import EmissionRecord
    from dais_verif.record.explanation import CycleRecord
    from dais_verif.record.proof import ProofRecord
    from dais_verif.record.sensitivity import SensitivityRecord
    from dais_verif.record.signoff import CertificateRecord, SignOffRecord
    from dais_verif.record.simulation import SimulationRecord
    from dais_verif.record.synthesis import SynthesisRecord

__all__ = [
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
]

_Path = str | PathLike[str]


# Programs


@asks("check:check", "check:CheckRequest")
def check(program: GivenProgram, *, progress: Progress | None = None, **options: Unpack[keywords.Check]) -> CheckRecord:
    """Check a program: its structure, and whether an op can break its promise not to change values.

    ``program``: what ``load`` takes. ``proof``: let the prover decide ops that intervals leave open, at most 200 of
    them unless ``everything`` is set; ``timeout``: seconds per solver query. Raises ``ProgramError`` if there is no
    valid program.
    """


@asks("convert:convert", "convert:ConversionRequest")
def convert(
    program: GivenProgram, output: _Path, *, progress: Progress | None = None, **options: Unpack[keywords.Convert]
) -> ConversionRecord:
    """Write a program to the file ``output`` in another form, with the same results for every input.

    ``to``: ``alir``, ``json`` (da4ml's), ``v1``, ``published``, ``headerless`` or ``dais``. None: by the suffix:
    ``.json`` or ``.alir`` for ALIR, ``.bin`` for a binary, ``.dais`` for text; all but text are compressed if ``.gz``
    follows. ``layout``: the layout of the program that is read. A machine is written as ``alirfsm`` (``.json``) or as
    text, ``mach`` (``.mach``). Raises ``InputError``, which names the op, if the target cannot express it.
    """


@asks("diff:diff", "diff:DiffRequest")
def diff(
    a: GivenProgram, b: GivenProgram, *, progress: Progress | None = None, **options: Unpack[keywords.Diff]
) -> DiffRecord:
    """Compare the outputs of two programs on vectors, and with ``prove`` for all inputs.

    ``inputs``: files of vectors, which come before ``vectors`` generated ones. ``output``: a file for a counterexample.
    ``frame``: a TOML file that states in which cycles the machine ``a`` computes the program ``b``. Raises
    ``InputError`` if the programs have different numbers of inputs or outputs.
    """


@asks("explain:explain", "explain:ExplanationRequest", without=("layout", "row", "only_cone", "output", "as_json"))
def explain_machine(
    program: GivenProgram,
    *,
    cycle: int = 0,
    progress: Progress | None = None,
    **options: Unpack[keywords.ExplainMachine],
) -> CycleRecord:
    """Return the value of every signal of a machine in one cycle, the registers after the edge, and explanations.

    ``inputs``: files of sequences, ``.npz``, which come before sequences of ``vectors`` cycles generated from ``seed``,
    as in a simulation. ``unchecked``: broken promises do not affect the verdict. Raises ``InputError`` for a cycle that
    does not exist, ``RequestError`` for a program.
    """


@asks("cover:cover", "cover:CoverageRequest")
def cover(
    program: GivenProgram, *, progress: Progress | None = None, **options: Unpack[keywords.Cover]
) -> CoverageRecord:
    """Measure functional coverage of a program, and search for vectors that hit open bins.

    ``floor``: the lowest accepted percentage of the bins that can be hit; below it the verdict is NOT_SIGNED_OFF.
    ``timeout``: seconds for the solver in total. ``output``: a folder for the bins and the directed vectors.
    """


@asks("rank_sensitivity:rank_sensitivity", "rank_sensitivity:SensitivityRequest")
def rank_sensitivity(
    program: GivenProgram, *, progress: Progress | None = None, **options: Unpack[keywords.RankSensitivity]
) -> SensitivityRecord:
    """Flip bits of the values in a program, one at a time, and rank the ops by their effect on the outputs.

    ``bits``: flip every bit of every op, not only the last one. ``timeout``: seconds after which no more flips are
    started. ``output``: a file for all effects: JSON if its suffix is ``.json``, else CSV.
    """


# RTL against a program


@asks("simulate:simulate", "simulation_request:SimulationRequest")
def simulate(
    program: GivenProgram, *, progress: Progress | None = None, **options: Unpack[keywords.Simulate]
) -> SimulationRecord:
    """Simulate RTL of a program and compare every output bit of every vector with the golden model.

    ``rtl``: the files of the design, or a folder with it; None: RTL is emitted, as a pipeline if ``stages`` or
    ``max_depth`` is given. A bitstream has ``pins``, a file of lines ``set_io PORT PIN``, and ``device``, such as
    ``ice40-hx8k-ct256``. ``simulators``: one or both of ``icarus`` and ``verilator``, or ``ghdl`` for VHDL; None: the
    simulators that fit the RTL. ``options`` are those of ``dais-verif sim``. Tool failures are verdicts of the record.
    """


@asks("prove:prove", "proof.request:ProveRequest")
def prove(program: GivenProgram, *, progress: Progress | None = None, **options: Unpack[keywords.Prove]) -> ProofRecord:
    """Prove for all inputs that RTL computes a program, or find an input vector for which it does not.

    ``rtl``: the files of the design, or a folder with it; None: RTL is emitted, as a pipeline if ``stages`` or
    ``max_depth`` is given. ``simulators``: one or both of ``icarus`` and ``verilator``, which replay a counterexample;
    None: the first that builds the RTL. ``options`` are those of ``dais-verif prove``. The verdict is UNKNOWN if
    equality is neither proved nor refuted. Concurrent proofs in one process run one after the other. Raises
    ``InputError`` for RTL that cannot be read, ``ToolError`` if a package or tool is missing.
    """


@asks("boards.run_on_board:run_on_board", "boards.run_on_board:BoardRequest")
def run_on_board(
    program: GivenProgram, target: str, *, progress: Progress | None = None, **options: Unpack[keywords.RunOnBoard]
) -> SimulationRecord:
    """Run vectors on a board, or on a simulated one, and compare every output bit with the golden model.

    ``target``: ``serial:///dev/ttyUSB0?baud=115200``, ``tcp://host:port``, ``sim://uart``, ``sim://fifo`` or
    ``sim://bitstream?file=model.bin&pins=pins.pcf``, for example. ``timeout``: seconds without an answer after which
    the run is aborted. ``resume``: continue the interrupted run in ``output``. ``blame``: the folder of the build that
    runs on the board; after a mismatch, bitstreams with taps determine which op is wrong. ``load``: the command that
    loads a bitstream, such as ``iceprog {bitstream}``.
    """


# Hardware from a program


@asks("emit:emit", "emit:EmitRequest")
def emit(
    program: GivenProgram, *, progress: Progress | None = None, **options: Unpack[keywords.Emit]
) -> EmissionRecord:
    """Write a program as one synthesizable Verilog-2005 module, whose text is ``verilog`` of the record.

    ``stages`` or ``max_depth``: emit a pipeline; ``reset``, ``enable``, ``valid``: add these ports to it. ``wrap``:
    ``axis``, ``uart``, ``spi`` or ``fifo``, in a project folder; ``stream``: a file that names the valid bits of a
    machine for ``axis``; ``cycles``: the machine cycles per vector of ``uart``, ``spi`` or ``fifo`` (default 32).
    ``form``: the form of a network: ``unrolled``, or ``memory`` or ``stream``, a machine in a folder; ``parallel``: the
    maximum number of its parallel members per stage; ``at_once``: the numbers of fused nodes, each of which one member
    computes as a whole.
    ``output``: the file to write, or the folder with ``wrap`` or ``form``. Raises ``InputError`` for a pipeline that is
    not possible, or a path that cannot be written.
    """


@asks("synthesize:synthesize", "synthesize:SynthesisRequest")
def synthesize(
    program: GivenProgram, target: str, *, progress: Progress | None = None, **options: Unpack[keywords.Synthesize]
) -> SynthesisRecord:
    """Synthesize RTL of a program with Yosys, and count LUTs, flip-flops, carries, DSPs, block RAMs and logic depth.

    ``target``: ``ice40``, ``ecp5``, ``xilinx`` or ``generic``. ``rtl``: the files of the design or a project folder;
    None: the RTL of a project folder given as the program, or emitted RTL.
    ``pnr``: also place and route, to find the maximum clock frequency in MHz (``pnr.fmax`` of the record). ``timeout``:
    seconds per tool; ``memory``: megabytes per process. ``output``: a folder for the netlist, which
    ``simulate(netlist=...)`` verifies. Raises ``ToolError`` if Yosys is missing, fails or exceeds a limit.
    """


@asks("bitstream.build:build", "bitstream.build:BuildRequest")
def build_bitstream(
    program: GivenProgram,
    device: str,
    output: _Path,
    *,
    progress: Progress | None = None,
    **options: Unpack[keywords.BuildBitstream],
) -> BuildRecord:
    """Build the bitstream of a program or a machine with Yosys, nextpnr and icepack, in the folder ``output``.

    ``device``: such as ``ice40-hx8k-ct256``. ``stages``, ``max_depth``: build a pipeline. ``wrap``: ``none``, or the
    link to the core, ``uart``, ``spi`` or ``fifo``; None: ``none`` if there are enough pins, else ``uart``. ``cycles``:
    the machine cycles per vector behind a link (default 32). ``pins``: a file with one ``set_io NAME PIN`` per bit of
    each port; None: pins are chosen. ``clock``: the required clock frequency in MHz (default 12 if there is a clock).
    ``seed``: the seed of the placement; the same input gives the same bits. ``bram``: tables may become block RAMs,
    which proofs of bitstreams do not support; None: only for machines, and behind a link. ``dsp``: products may become
    DSPs, on a UP5K. ``timeout``: seconds per tool; ``memory``: megabytes per process.

    Raises ``InputError`` with the numbers if the design does not fit or is too slow, ``ToolError`` if a tool is
    missing, fails or exceeds a limit.
    """


# Many cases


@asks("regress:regress", "regress:RegressionRequest")
def regress(
    paths: Sequence[_Path] | _Path, *, progress: Progress | None = None, **options: Unpack[keywords.Regress]
) -> RegressionRecord:
    """Simulate many programs, variants, simulators and seeds, each job in a separate process.

    ``paths``: programs, folders, globs or TOML manifests. ``simulators``: any of ``icarus``, ``verilator``, ``both``
    and ``ghdl``, each of which runs every job. ``shard``: ``(2, 5)`` is the second of five shares. ``timeout``: seconds
    per attempt. ``output``: the folder for results. Other arguments are the options of ``dais-verif regress``. Raises
    ``InputError`` for unusable arguments, or if another run uses the folder.
    """


@asks("fuzzing.fuzz:fuzz", "fuzzing.requests:FuzzRequest")
def fuzz(*, progress: Progress | None = None, **options: Unpack[keywords.Fuzz]) -> FuzzRecord:
    """Run random cases on all implementations that must agree, and keep a small case per cause in folder ``output``.

    ``kind``: ``program``, ``machine``, or ``kernel``: hardware of random requests for the shipped kernels. ``time``:
    seconds; ``count``: number of cases; without both, one minute. Case n depends only on
    ``seed`` and n. ``pairs``: run only these pairs. ``against``: an interpreter, as a command with ``{program}``,
    ``{inputs}`` and ``{outputs}``, or ``da4ml`` or ``alkaid``; ``rtl_from``: a generator of Verilog with module
    ``top``, as a command with ``{program}`` and ``{folder}``; ``form``: the format of programs for such a tool;
    ``timeout``: seconds per run of the tool. ``replay``: run the kept cases in this folder again. ``resume``: continue
    after the last case of the run in ``output``. ``jobs``: number of processes. ``cluster``: run on Dask workers, named
    as in ``regress``. The verdict is PASS if all agreed, DISAGREEMENT if a case was kept.
    """


@asks("fuzzing.shrink:shrink", "fuzzing.shrink:ShrinkRequest")
def shrink(
    program: GivenProgram, output: _Path, *, progress: Progress | None = None, **options: Unpack[keywords.Shrink]
) -> ShrinkRecord:
    """Reduce a failing case as far as possible, and write it to the folder ``output``.

    ``command``: a command that fails with a non-zero exit code, with ``{program}`` and optionally ``{inputs}`` and
    ``{rtl}`` for the files of a case. Without a command, a failure is a disagreement of dais-verif's engines, forms or
    proof, or a broken promise; with ``rtl``, it is Verilog that fails in simulation, and the Verilog is reduced too.
    ``inputs``: files of vectors, which come before ``vectors`` generated ones. ``time``: seconds in total; ``timeout``:
    seconds per run of the command. The verdict is PASS, or NOT_RUN if nothing fails.
    """


@asks("mutation.mutate:mutate", "mutation.requests:MutationRequest")
def mutate(
    program: GivenProgram,
    output: _Path = "mutation",
    *,
    progress: Progress | None = None,
    **options: Unpack[keywords.Mutate],
) -> MutationRecord:
    """Change RTL of a program in ``count`` places, one at a time, and report which changes the verification detects.

    ``judges``: any of ``sim``, ``directed``, ``hil``, ``prove``; None: ``sim`` and ``prove``. ``simulators``:
    ``icarus``, ``verilator`` or ``both``. ``timeout``: CPU seconds per mutant. ``floor``: the lowest accepted score,
    and ``most_unknown``: the largest accepted share of unknown mutants, in percent. ``expected``: a manifest of the
    mutants that each judge must kill. ``add_vectors``: a file for vectors that kill mutants which survived simulation.
    The record is also written to ``mutation.json`` in ``output``. Other arguments are those of ``simulate``.
    """


# Certificates


@asks("sign_off:sign_off", "sign_off:SignOffRequest")
def sign_off(
    program: _Path,
    *,
    passphrase: Callable[[str], str] | None = None,
    progress: Progress | None = None,
    **options: Unpack[keywords.SignOff],
) -> SignOffRecord:
    """Run all stages of a policy for a program and its RTL, and issue a certificate if all of them pass.

    ``program``: the file to certify. ``policy``: a TOML file; None: the built-in policy. ``rtl``: files that replace
    the RTL in the policy. ``key``: an Ed25519 key that signs the certificate; ``passphrase``: a function that returns
    the key's passphrase, given a prompt. ``paranoid``: compile Verilator's runtime again. ``output``: the folder for
    certificate, record and evidence; None: ``signoff-NAME``. The verdict is PASS or NOT_SIGNED_OFF. Raises
    ``InputError`` for unusable arguments.
    """


@asks("verify_certificate:verify_certificate", "verify_certificate:CertificateRequest")
def verify_certificate(
    certificate: _Path, *, progress: Progress | None = None, **options: Unpack[keywords.VerifyCertificate]
) -> CertificateRecord:
    """Check a certificate against the files that it lists; ``certificate`` is its file, or the folder of a sign-off.

    ``program``, ``rtl``: the current places of the files, if they were moved. ``allowed_signers``: an allowed signers
    file, as for ssh-keygen; it requires a signature that is valid at ``verify_time`` (with its time zone), or now.
    ``same_tools``: the tools must be those of the sign-off. ``rerun``: sign off again, and compare; ``paranoid``: that
    run compiles Verilator's runtime again. ``policy``: a file of which the certificate's policy must demand at least as
    much. ``bitstream``: the bitstream that will be loaded into a device; its configuration must equal that of the
    certified bitstream. The verdict is PASS or NOT_SIGNED_OFF, with ``findings``. Raises ``InputError`` if there is no
    certificate.
    """


# Approximation configurations


@asks("approximation.show:show_configurations", "approximation.show:ShowConfigurationsRequest")
def show_configurations(
    configurations: _Path, *, progress: Progress | None = None, **options: Unpack[keywords.ShowConfigurations]
) -> ConfigurationsRecord:
    """Describe the approximation configurations in a file: the gain and cost of each, and the knob of each node.

    ``config``: describe only the configuration with this name. ``pareto``: describe only the configurations on the
    curve that HPVM's runtime keeps. ``strict``: also refuse questionable entries whose meaning is still clear.
    ``knobs``: a file with a table of knobs, instead of the built-in one. Raises ``InputError`` with line and token if
    the file cannot be read.
    """


@asks("approximation.convert:convert_configurations", "approximation.convert:ConvertConfigurationsRequest")
def convert_configurations(
    configurations: _Path,
    output: _Path,
    *,
    progress: Progress | None = None,
    **options: Unpack[keywords.ConvertConfigurations],
) -> ConfigurationsRecord:
    """Write approximation configurations to the file ``output``, in the form of HPVM's tuner.

    Text in this form is written byte for byte, and numbers keep their digits. ``strict``, ``knobs`` and errors are the
    same as in ``show_configurations``.
    """


@asks("approximation.apply:apply_configuration", "approximation.apply:ApplyRequest")
def apply_configuration(
    network: _Path,
    configurations: _Path,
    config: str | None,
    output: _Path,
    *,
    progress: Progress | None = None,
    **options: Unpack[keywords.ApplyConfiguration],
) -> AppliedRecord:
    """Apply configuration ``config`` to the network in an ONNX file, and write a program into the folder ``output``.

    Without ``config`` and ``select``, the first configuration is applied.
    ``form``: ``unrolled``, or a machine, ``memory`` or ``stream``; ``parallel``: the maximum number of parallel members
    per stage of the form ``memory``; ``at_once``: the numbers of fused nodes, each of which one member computes as a
    whole. ``select``: instead of ``config``, names of configurations, separated by commas, for a machine with an input
    that selects one of them. ``grid``: the number of fractional bits of weights that a knob has multiplied by 4/3.
    Raises ``ConfigurationError`` with the line if a configuration is for another network, ``NetworkError`` with node
    and reason if a knob cannot be applied.
    """


@asks("approximation.measure:measure_configurations", "approximation.measure:MeasureRequest")
def measure_configurations(
    network: _Path,
    configurations: _Path,
    data: _Path,
    *,
    progress: Progress | None = None,
    **options: Unpack[keywords.MeasureConfigurations],
) -> MeasuredRecord:
    """Measure every configuration of a file on the samples of an ``.npz`` file, with the golden model.

    ``data``: one array per input, and an array of labels. ``budget``: the largest loss that is allowed, in percent; the
    verdict is NOT_SIGNED_OFF if no configuration is within it. ``bound``: also look for inputs that cause a large
    difference, and let the solver tighten the bounds, for ``timeout`` seconds per output. ``target``: also synthesize
    each configuration for ``ice40``, ``ecp5``, ``xilinx`` or ``generic``, and count cells; ``form``: the form of the
    design, ``unrolled`` or ``memory``; ``parallel``: the maximum number of parallel members per stage. ``output``: a
    folder for files with measured columns: one with all configurations, and one for each curve of loss against a gain.
    """


@asks("approximation.tune:tune_configurations", "approximation.tune:TuneRequest")
def tune_configurations(
    network: _Path,
    data: _Path,
    output: _Path,
    *,
    progress: Progress | None = None,
    **options: Unpack[keywords.TuneConfigurations],
) -> TunedRecord:
    """Search for configurations of the network in an ONNX file, and write the best ones to ``output``.

    ``budget``: the largest loss on the samples in ``data`` that is allowed, in percent. ``tries``: the maximum number
    of configurations that are measured; measurements are kept beside ``output``, and ``resume`` continues from them.
    ``half``: layers may also compute in half precision. ``cluster``: measure on Dask workers, named as in ``regress``.
    ``random``: try ``tries`` random configurations instead of searching, for comparison. The same ``seed`` gives the
    same result, with or without a cluster.
    """
