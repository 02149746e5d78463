"""The sections of docs/troubleshooting.md: for each code of an error and each verdict, the cause and what to do.

Links are those of a page in docs/. ``make troubleshooting`` writes the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dais_verif.base import errors
from dais_verif.base.troubleshooting import PAGE
from dais_verif.base.verdict import Verdict

__all__ = ["GROUPS", "Section", "page"]

_HEAD = """# Troubleshooting

An error is one line: what is wrong, where, which rule it breaks, and what to do. It ends with a link to a section of
this page, such as `docs/troubleshooting.md#ports`. What follows `#` is the **code** of the error: it is stable, while
the wording may change. With `--json`, `code` and `help` are the code and the link. In Python the code is `error.code`;
each section names the classes of `dais_verif.base.errors` that have it.

`make troubleshooting` generates this page; do not edit it by hand.

## Exit codes

The exit code of every command is its verdict. 0 always means PASS: bits were compared, or proved, and all were equal;
`check` found a valid program; `mutate` judged all mutants and met its limits. The codes do not change: scripts and CI
can rely on them. A run of many programs has the code of its worst verdict, in the order of
[regression.md](regression.md#verdict-and-exit-code). `report` exits with 0 once the page is written, or with
`--exit-code` with the code of the verdict that it shows. `make` itself exits with 2 whenever its command fails.

| code | verdict | meaning |
| --- | --- | --- |
"""

#: What each exit code means.
_MEANINGS = {
    0: "every requested bit was compared, or proved, and is equal; there was at least one. Commands that do not "
    "compare did their work. A sign-off prints SIGNED OFF",
    1: "the RTL differs from the golden model; two programs differ; `fuzz` kept a case in which two results disagree",
    2: "a promise of the program was broken; a file, a vector or an option cannot be used, or the results cannot be "
    "written (a full disk, a closed standard output)",
    3: "a simulator, compiler or Python package is missing, failed or reached its time limit, also because RTL does "
    "not compile (`prove` reports that as INVALID_INPUT, 2); a board does not answer",
    4: "an output bit was X or Z; in VHDL, anything but 0 and 1",
    5: "the simulators computed different outputs from the same RTL and vectors",
    6: "undecided, or nothing was compared",
    7: "a policy was not met; coverage is below its `--floor`; fewer mutants are killed than required; a certificate "
    "does not hold",
    8: "`mutate`: a mutant was proved, although a simulator shows that it differs from the program: a defect of "
    "dais-verif, which you should report",
    70: "a bug of dais-verif: nothing is known about the RTL. The message names the file with the traceback, in "
    "`errors` in the [cache folder](environment.md#environment-variables) or, if that cannot be written, in the folder "
    "for temporary files; the last 20 are kept",
    130: "stopped by the user, or by a pipe that was closed before the end of the output",
}


class Section(NamedTuple):
    """What the page says about a code. The code is ``title`` in kebab case."""

    title: str
    cause: str
    remedy: str

    @property
    def code(self) -> str:
        """Return the code, which is also the anchor on the page."""
        return self.title.lower().replace(" ", "-")


#: The sections, by the heading above them.
GROUPS: dict[str, list[Section]] = {
    "Verdicts": [
        Section(
            "RTL mismatch",
            "At least one output bit of the RTL differs from the golden model. The first mismatch names the vector, "
            "the output, the first op whose value differs, and a command that runs this vector again.",
            "Look at the expression of that op in the RTL, then at its operands in the waves "
            "([report.md](report.md#waves-of-a-failure)). If *every* vector differs, the RTL was probably generated "
            "from another program, has a latency other than the given one, or has its ports in another order: see "
            "[ports](#ports) and [latency](#latency).",
        ),
        Section(
            "Programs differ",
            "`diff` found a vector on which two programs give different outputs.",
            "The record names the vector and the first ops that differ "
            "([vm.md](vm.md#diff-where-do-two-programs-differ)).",
        ),
        Section(
            "Disagreement",
            "`fuzz` found and kept a case in which results that must agree differ: those of two engines, of two "
            "file forms, of a proof and its RTL, or of your tool.",
            "The case is in the folder of the run; `dais-verif shrink` makes it smaller ([mutation.md](mutation.md)).",
        ),
        Section(
            "Unsound",
            "A proof passed for a mutant although a simulator shows that it differs from the program.",
            "This is a defect of dais-verif: report it with the mutant, and do not rely on proofs of this design "
            "until it is fixed.",
        ),
        Section(
            "Program invalid",
            "For this input, the program breaks one of its promises: quantisation changed the value of an op that "
            "must not change, or the index of a table is outside the table. The RTL is not at fault.",
            "Widen the type of the named op in the tool that generates the program, restrict the inputs, or pass "
            "`--unchecked` to continue with the value that hardware would compute. `dais-verif check` says which "
            "promises can be broken.",
        ),
        Section(
            "Invalid input",
            "A file, a vector or an option cannot be used.",
            "The message says which rule it breaks.",
        ),
        Section(
            "Tool failure",
            "A simulator, compiler or board failed. Nothing is known about the RTL.",
            "The message names the log; see also [missing-tool](#missing-tool) and [simulators](#simulators).",
        ),
        Section(
            "X in output",
            "An output bit was X or Z in simulation (in VHDL: anything but 0 and 1). X does not exist on an FPGA, "
            "so simulation and hardware can differ.",
            "Usual causes: a register without reset or initial value, an undriven net, a `case` without a default, "
            "a division by zero. Waves, if a replay left some, show where the X begins.",
        ),
        Section(
            "Simulators disagree",
            "Two simulators computed different outputs from the same RTL and the same vectors. The RTL is "
            "ambiguous: a race between `=` assignments at a clock edge, an incomplete sensitivity list, or an X "
            "that one simulator optimises away.",
            "Correct the RTL first; until then neither result counts.",
        ),
        Section(
            "Unknown",
            "The run reached no decision: a proof reached its time limit, or the prover does not support a "
            "construct. It found no error.",
            "Raise `--timeout`, use `--stages` or split the design, or simulate it; [proof.md](proof.md) says what "
            "the prover decides.",
        ),
        Section(
            "Not run",
            "No bit was compared, so there is no result: there were no vectors or no outputs, or every simulator "
            "was skipped.",
            "Give `--vectors` at least 1, and at least one simulator.",
        ),
        Section(
            "Not signed off",
            "A policy was not met, coverage is below its floor, mutants survived, or a certificate does not hold.",
            "The table of the run names the stage or the finding ([signoff.md](signoff.md)).",
        ),
        Section(
            "Internal error",
            "This is a bug of dais-verif, and says nothing about the RTL.",
            "The message names a file with the traceback; please report the bug with that file.",
        ),
        Section(
            "Interrupted",
            "The user, a time limit of the system, or a closed pipe (`| head`) ended the run. No half-written file "
            "remains.",
            "`regress`, `fuzz`, `hil` and `approx tune` have the option `--resume`.",
        ),
    ],
    "Installation": [
        Section(
            "Missing package",
            "Python packages are missing: those of an extra, which is not installed, or files of dais-verif itself. "
            "`pip install .` in a clone installs what reading, running, checking and emitting need; simulation, "
            "proofs, boards, reports, sign-off, clusters and networks are extras.",
            "Install the extra that the message names, or all with `pip install 'dais-verif[all]'` (dais-verif "
            "itself is [not on a package index](environment.md), the packages of its "
            "extras are). If the package *is* installed, `dais-verif` runs in a different environment than you "
            "expect; the message names its Python.",
        ),
        Section(
            "Missing tool",
            "A simulator, Yosys, nextpnr or IceStorm is missing.",
            "The message says how to install it and which variable can hold its path "
            "([environment.md](environment.md)). For conda and oss-cad-suite see [conda and "
            "oss-cad-suite](environment.md#conda-and-oss-cad-suite).",
        ),
        Section(
            "Engines",
            "The requested engine of the golden model does not support the program, this machine or these arguments.",
            "Do not select an engine: all engines give the same results.",
        ),
        Section(
            "Memory",
            "The machine ran out of memory.",
            "Use fewer vectors, fewer jobs (`--jobs`), or a smaller program.",
        ),
    ],
    "Commands and files": [
        Section(
            "Options",
            "Options or arguments contradict each other, or one is missing.",
            "`dais-verif VERB --help` shows the options in groups.",
        ),
        Section(
            "Files",
            "A file or folder cannot be read or written, is larger than its limit, is in use by another run, or "
            "would be overwritten although it is an input.",
            "Choose another path with `-o`.",
        ),
        Section(
            "Records",
            "A file that `report`, `--expected` or a comparison reads is not a record of dais-verif, is a record of "
            "a verb without an HTML page, or was edited.",
            "Give the folder or the `result.json` that the run wrote ([report.md](report.md#the-record)).",
        ),
    ],
    "Programs and vectors": [
        Section(
            "Program file",
            "The file is not a DAIS, ALIR or da4ml program, or it is damaged.",
            "If the layout of a binary is ambiguous, give it with `--layout` ([programs.md](programs.md)).",
        ),
        Section(
            "Program rules",
            "The file can be read, but its program breaks a rule of DAIS or ALIR: an operand that is defined later, "
            "a type of more than 64 bits, a table that does not fit.",
            "The message names op, field and value. The tool that wrote the file is at fault.",
        ),
        Section(
            "Text form",
            "A program in text form has a syntax error.",
            "The message names line and column; [programs.md](programs.md#the-text-form) has the grammar.",
        ),
        Section(
            "Conversion",
            "The program uses something that the other format cannot express.",
            "Convert to the successor form (ALIR) or to text instead ([programs.md](programs.md#alir)).",
        ),
        Section(
            "Vectors",
            "Input vectors have the wrong shape, or hold values that are not finite numbers.",
            "A row is one vector, with a value for each input; an array has shape (vectors, inputs). Finite values "
            "that an input cannot represent are no error: they are truncated and wrapped to its type, as the "
            "program defines it.",
        ),
        Section(
            "Comparison",
            "`diff` needs two programs with the same number of inputs and of outputs.",
            "Give two versions of the same program ([vm.md](vm.md#diff-where-do-two-programs-differ)).",
        ),
    ],
    "RTL": [
        Section(
            "RTL files",
            "A file of the RTL does not exist, was given twice, or is in the wrong language.",
            "Give all source files with `--rtl`, and files that the RTL reads (`$readmemh`) with `--data`.",
        ),
        Section(
            "Top module",
            "No module, or no VHDL entity, has the name given with `--top`, which is `model` by default.",
            "The message lists the names in the RTL; if the right one is missing, give the file that defines it, too.",
        ),
        Section(
            "Ports",
            "The ports of the module are not those that the program needs.",
            "By default a module has one input `model_inp` and one output `model_out`; describe other ports in a "
            "ports file, and name the clock ([any-dut.md](any-dut.md)).",
        ),
        Section(
            "Parameters",
            "A value for a Verilog parameter cannot be used: the module has no such parameter, or the type of the "
            "parameter changes the value.",
            "Give parameters of the top module, with values that their types can hold ([any-dut.md](any-dut.md)).",
        ),
        Section(
            "Project folders",
            "A folder of da4ml or alkaid is incomplete, or its version is unknown.",
            "Give program and RTL explicitly ([compilers.md](compilers.md)).",
        ),
        Section(
            "VHDL",
            "GHDL does not accept the VHDL, or cannot synthesize it, which proofs require, or reads it as something "
            "that a proof does not support.",
            "The message has the file and line of the VHDL. `dais-verif sim` supports more VHDL than `prove`.",
        ),
        Section(
            "Emitted RTL",
            "The emitter cannot do what was requested.",
            "Check stages, depth, names, and the delay model ([emit.md](emit.md#pipelines)).",
        ),
        Section(
            "Wrappers",
            "A folder of `emit --wrap` is incomplete, was changed, or belongs to another program.",
            "Write it again ([emit.md](emit.md#behind-axi4-stream)).",
        ),
    ],
    "Proof": [
        Section(
            "Proofs",
            "The design was read but cannot be proved as written: a loop, an output without a driver, ports that do "
            "not fit.",
            "Correct the RTL at the place that the message names, or simulate it ([proof.md](proof.md)).",
        ),
        Section(
            "Unsupported Verilog",
            "The prover does not support this construct. It never guesses, so it refuses.",
            "The message names file and line; the [reference](reference/supported-verilog.md) lists the supported "
            "constructs. `dais-verif sim` accepts all Verilog that the simulators accept.",
        ),
        Section(
            "RTL with state",
            "The RTL keeps state, but must be a function of its inputs: it has a latch, a loop, a memory that is "
            "written, or an incomplete sensitivity list.",
            "Assign on every path and use `always_comb`; for a design with registers, give its clock (`--clock`). "
            "Blocks that must keep state are machines ([machines.md](machines.md)).",
        ),
        Section(
            "Registers",
            "A register has a clock, enable or reset that the prover cannot infer.",
            "Name the pins (`--clock`, `--reset`, `--enable`), or simulate.",
        ),
        Section(
            "Latency",
            "Paths of different latency meet, or the latency is not the given one.",
            "With `--latency auto`, `sim` and `prove` find it; if the message names a signal, a register is missing "
            "on one of its paths.",
        ),
    ],
    "Simulation and synthesis": [
        Section(
            "Simulators",
            "A simulator or compiler failed, was killed or reached its time limit.",
            "The message quotes the first error of its log. If one simulator does not support the syntax, select "
            "the other with `--sim`. If a time limit was reached, raise `--timeout`.",
        ),
        Section(
            "Netlists",
            "The netlist is missing, was made for another target, or contains unknown cells.",
            "Make it again with `dais-verif synth` for this target ([netlists.md](netlists.md)).",
        ),
        Section(
            "Bitstreams",
            "The pins file is wrong, the device has no such pin, the design does not fit, or the bitstream uses a "
            "feature that read-back does not support.",
            "Correct the pins, or choose a larger device ([bitstream.md](bitstream.md)).",
        ),
        Section(
            "Boards",
            "The board does not answer, or has a bitstream of another program.",
            "Load the bitstream that was built from this program; check port, baud rate and cable ([hil.md](hil.md)).",
        ),
        Section(
            "Mutation",
            "The RTL cannot be mutated, or the file of expected fates is wrong.",
            "[mutation.md](mutation.md) lists what can be mutated, and the keys of the file.",
        ),
        Section(
            "Fuzzing",
            "There is nothing to fuzz or to shrink, or the tool given with `--against` does not keep to its protocol.",
            "[mutation.md](mutation.md) describes the protocol; to shrink a case, give its folder.",
        ),
        Section(
            "Cocotb benches",
            "Arguments of `DaisModel`, `Scoreboard` or of vectors cannot be used.",
            "Compare the call with the examples in [python.md](python.md#benches-of-your-own-in-cocotb).",
        ),
    ],
    "Machines": [
        Section(
            "Machine file",
            "The file is not an ALIRFSM machine, or breaks one of its rules.",
            "Correct what the message names in the tool that wrote the file ([machines.md](machines.md)).",
        ),
        Section(
            "Machine inputs",
            "The inputs of a machine cannot be used.",
            "Give a sequence, with a value for each input and each cycle ([machines.md](machines.md)).",
        ),
        Section(
            "Machine frames",
            "A frame file says in which cycles inputs are given and outputs are read. The file breaks a rule, or "
            "does not describe what the machine does.",
            "Correct the entry that the message names ([machines.md](machines.md)).",
        ),
    ],
    "Kernels, networks, approximation": [
        Section(
            "Kernels",
            "The kernel does not support the request.",
            "Check sizes, types, index space, and form ([kernels.md](kernels.md)).",
        ),
        Section(
            "Kernel libraries",
            "A library cannot be loaded, or does not follow the interface.",
            "`dais-verif kernel list` shows the kernels that are found ([kernels.md](kernels.md)).",
        ),
        Section(
            "Kernel parameters",
            "The TOML file of a request is wrong.",
            "Correct the key that the message names ([kernels.md](kernels.md)).",
        ),
        Section(
            "Kernel folders",
            "A folder of `kernel build` was edited, or another version wrote it.",
            "Build it again.",
        ),
        Section(
            "Kernel printf",
            "Messages of members cannot be printed in the described form.",
            "Correct the table that the message names ([kernels.md](kernels.md)).",
        ),
        Section(
            "Networks",
            "The ONNX file is damaged, or uses an operator, a type or a shape that is not supported.",
            "Every tensor needs an exact type, which quantisers provide; [networks.md](networks.md) lists the "
            "operators.",
        ),
        Section(
            "Configurations",
            "A file of approximation configurations or a knob cannot be used with this network.",
            "Correct the token that the message names; [approximation.md](approximation.md) lists the knobs of each "
            "layer.",
        ),
    ],
    "Campaigns and sign-off": [
        Section(
            "Regressions",
            "The manifest is wrong, or the folder is in use by another run.",
            "Correct the key that the message names, or give another folder with `-o` "
            "([regression.md](regression.md)).",
        ),
        Section(
            "Clusters",
            "The scheduler does not answer, has no workers, or its workers run another version.",
            "Start it, and install the same version everywhere ([regression.md](regression.md)).",
        ),
        Section(
            "Policies",
            "The policy has an unknown key or value, or asks for something that does not exist for this design.",
            "Correct the key that the message names; [signoff.md](signoff.md) lists all keys.",
        ),
        Section(
            "Certificates",
            "A certificate or its evidence was changed, moved, or signed by an unknown key.",
            "Sign off again, or give the files and the key that the certificate names ([signoff.md](signoff.md)).",
        ),
    ],
}


def page() -> str:
    """Return the page, as Markdown."""
    codes: dict[int, list[str]] = {}
    for verdict in Verdict:
        codes.setdefault(verdict.exit_code, []).append(verdict.value)
    rows = [f"| {code} | {', '.join(names)} | {_MEANINGS[code]} |" for code, names in sorted(codes.items())]
    sections = (line for group, sections in GROUPS.items() for line in _group(group, sections))
    return "\n".join([_HEAD + "\n".join(rows), "", *sections])


def _group(title: str, sections: list[Section]) -> Iterator[str]:
    yield f"## {title}\n"
    for section in sections:
        yield f"### {section.title}\n"
        classes = [name for name in errors.__all__ if getattr(getattr(errors, name), "code", "") == section.code]
        yield f"{section.cause}\n"
        yield f"**What to do.** {section.remedy}\n"
        if classes:
            yield f"In Python: {', '.join(f'`{name}`' for name in classes)}.\n"


if __name__ == "__main__":
    Path(PAGE).write_text(page(), encoding="utf-8")
