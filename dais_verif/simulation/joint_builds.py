"""Run many small designs in one build and one run; a design that does not pass is run again alone."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from dais_verif.base.errors import DaisError, SimulatorFailure, ToolError
from dais_verif.base.toolchain import private_files, process
from dais_verif.base.toolchain.private_files import plain_name
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.ports.interface import DesignInterface, Dut, Wire
from dais_verif.simulation import launch
from dais_verif.simulation.diagnosis.blame import blame_expectation
from dais_verif.simulation.feed import Feed, Outlet
from dais_verif.simulation.in_parallel import few_rows, on_common_chunks, plan_of, self_check
from dais_verif.simulation.judge import judge
from dais_verif.simulation.simulate import SimulatorOutcome, is_clean
from dais_verif.simulation.simulators.build import RtlDesign, build
from dais_verif.simulation.task import Task
from dais_verif.simulation.testbench.idle import idle_inputs
from dais_verif.simulation.testbench.job import Answer, Job, JointJob, Member
from dais_verif.simulation.verify import Finding, feed_of, finding_of
from dais_verif.spec.program.ports import Ports
from dais_verif.stimulus import Vectors
from dais_verif.stimulus.pseudo_exhaustive.plan import Plan

__all__ = ["Joined", "MOST_OPS", "Part", "idle_readers", "joined", "modules_of", "part_of", "renamed", "verify_jointly"]


# Verify many designs in one build and one run of each simulator; only a pass counts as a result.
#
# Vectors, expected outputs, comparisons and verdicts are those of ``verify``. A design that does not pass is left to
# ``verify``, which also diagnoses it; if the build or the run fails, this applies to all designs.


#: The maximum number of ops of a design that shares a build: larger designs justify a separate build.
MOST_OPS = 1000
#: The maximum number of vectors of one design, and of ops times vectors of all that share a build, unless they have
#: equally many: each step evaluates all designs, even those without vectors left.
_MOST_ROWS, _MOST_WORK = 1 << 21, 1 << 28

#: Time limit of the build and of the run, plus an allowance per design: a hanging design delays all.
_SECONDS, _SECONDS_EACH = 60.0, 2.0


@dataclass(frozen=True)
class _Ready:
    """A design with all its vectors."""

    number: int
    task: Task
    part: Part
    sampled: int
    plan: Plan
    feed: Feed
    plans: dict[str, tuple[list[Job], Outlet]]


def verify_jointly(tasks: Sequence[tuple[Task, Vectors]], folder: Path, *, cached: bool = True) -> list[Finding | None]:
    """Return the findings of ``verify`` for the ``tasks`` that pass; None for the others, to be verified alone.

    All tasks have the same simulators. ``folder`` receives the shared build and run. ``cached``: keep the build for a
    later run of the same designs.
    """
    found: list[Finding | None] = [None] * len(tasks)
    ready = [made for number, (task, vectors) in enumerate(tasks) if (made := _ready(number, task, vectors))]
    for number, group in enumerate(_groups(ready)):
        for one, finding in zip(group, _findings(group, folder / str(number), cached=cached), strict=True):
            found[one.number] = finding
    return found


def _groups(ready: Sequence[_Ready]) -> list[list[_Ready]]:
    """Split designs into groups that share a build, so that designs with few vectors do not run as long as others."""
    groups: list[list[_Ready]] = []
    ops = 0
    for one in sorted(ready, key=lambda one: -one.feed.rows):  # a group's first design has the most vectors
        ops += one.task.program.n_ops
        if groups and (one.feed.rows == groups[-1][0].feed.rows or ops * groups[-1][0].feed.rows <= _MOST_WORK):
            groups[-1].append(one)
        else:
            groups.append([one])
            ops = one.task.program.n_ops
    return groups


def _findings(ready: Sequence[_Ready], folder: Path, *, cached: bool) -> list[Finding | None]:
    """Return the findings of designs that share a build; None for those that do not pass."""
    if len(ready) < 2:
        return [None] * len(ready)
    shared = folder / "design"
    shared.mkdir(parents=True, exist_ok=True)
    design = joined([one.part for one in ready], shared)
    simulators = ready[0].task.options.simulators
    try:
        with process.workers(len(simulators)) as pool:
            asked = [pool.submit(_simulated, name, ready, design, folder / name, cached) for name in simulators]
            outcomes = dict(zip(simulators, [each.result() for each in asked], strict=True))
    except ToolError:
        return [None] * len(ready)
    return [_finding(one, {name: its[at] for name, its in outcomes.items()}) for at, one in enumerate(ready)]


def _ready(number: int, task: Task, vectors: Vectors) -> _Ready | None:
    """Return the design with all its vectors, or None if it must run alone."""
    options = task.options
    if (
        options.waves
        or not options.bulk
        or task.program.n_ops > MOST_OPS
        or not set(options.simulators) <= {"icarus", "verilator"}
    ):
        return None
    try:
        part = part_of(task.design, task.dut.interface)
        if part is None:
            return None
        plan, feed = feed_of(task, vectors)
        if not 0 < feed.rows <= _MOST_ROWS:
            return None
        one = replace(task, options=replace(options, jobs=1))
        plans = {name: plan_of(one, feed, name) for name in options.simulators}
        return _Ready(number, task, part, vectors.rows, plan, feed, plans) if _fed(one, feed, plans) else None
    except (DaisError, AssertionError):  # such as a broken promise; a run of this design alone reports it
        return None


def _fed(task: Task, feed: Feed, plans: dict[str, tuple[list[Job], Outlet]]) -> bool:
    """Make all vectors; return True if golden model and oracle agree on some of them, as ``verify`` requires."""
    outlets = [outlet for _, outlet in plans.values()]
    for outlet in outlets:
        outlet.ahead = len(feed.starts)
        if outlet.least is not None:
            outlet.enough = True
    rows = few_rows(task.program, feed.rows)
    feed.run(outlets, task.folder / "vectors", task.watch, wanted=rows, keep=task.options.keep)
    judged, suspect = self_check(task, feed, rows)
    expected = {row: feed.noted[row].expected for row in rows}
    return not (suspect or blame_expectation(task.program, task.dut, judged, expected, task.options.check))


def _simulated(
    name: str, ready: Sequence[_Ready], design: Joined, folder: Path, cached: bool
) -> list[SimulatorOutcome]:
    """Return the outcome of each design in simulator ``name``, with its share of the time. Raises ``ToolError``."""
    options = ready[0].task.options
    most = _SECONDS + _SECONDS_EACH * len(ready)
    folder.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    simulation = build(name, design.design, folder / "build", timeout=most, cached=cached)
    built = time.monotonic()
    jobs = []
    for one in ready:
        (job,), _ = one.plans[name]
        jobs.append(replace(job.closed(), maker=None))
    members = map(Member, jobs, design.instances, design.interfaces)
    joint = JointJob(tuple(members), bool(jobs[0].threads))
    writable = tuple(one.task.folder for one in ready)
    answers, failed = launch.ask(
        simulation, "joint", joint, list[Answer], folder, seed=options.seed, timeout=most, writable=writable
    )
    if len(answers) != len(jobs):
        raise SimulatorFailure(f"the {name} bench answered for {len(answers)} of {len(jobs)} designs")
    clean = all(is_clean(answer, job) for answer, job in zip(answers, jobs, strict=True))
    if clean == failed:
        raise SimulatorFailure(f"the verdict and the results of the {name} bench contradict each other")
    ended, share = time.monotonic(), len(ready)
    return [
        SimulatorOutcome(
            answer, simulation.version, (built - begun) / share, (ended - built) / share, simulation.cached
        )
        for answer in answers
    ]


def _finding(one: _Ready, outcomes: dict[str, SimulatorOutcome]) -> Finding | None:
    """Return the finding of a design from its outcomes, if it passes."""
    all_of = on_common_chunks(dict(outcomes), one.plans)
    if judge(all_of, one.task.ports.output_bits)[0] is not Verdict.PASS:
        return None
    finding = finding_of(one.task, one.sampled, one.plan, one.feed, all_of)
    return finding if finding.verdict is Verdict.PASS else None


# Join designs into one: a top module with the ports of all designs contains an instance of each.


_TOP = "dais_verif_joint"
#: A file before the files of each design, so that these directives of the preceding design no longer apply.
_RESET = "`resetall\n`default_nettype wire\n`timescale 1ns/1ps\n"
#: A simulator may not read files with other suffixes, such as .vlt and .cpp, as Verilog.
_SUFFIXES = (".v", ".sv")


@dataclass(frozen=True)
class Part:
    """A design that may share a build: its files and their texts, the modules in them, and its top and ports."""

    names: tuple[str, ...]
    texts: tuple[str, ...]
    modules: frozenset[str]
    top: str
    interface: DesignInterface


@dataclass(frozen=True)
class Joined:
    """``design``: all parts in one. ``interfaces``, ``instances``: for each part, its ports and its instance in it."""

    design: RtlDesign
    interfaces: tuple[DesignInterface, ...]
    instances: tuple[str, ...]


def part_of(design: RtlDesign, interface: DesignInterface) -> Part | None:
    """Return ``design`` as a part, or None if it cannot share a build. Raises ``InputError`` for unreadable files."""
    wires = (*interface.inputs, *interface.outputs)
    plain = interface.clocking is None and not interface.ties and all(wire.name == wire.port for wire in wires)
    plain = plain and not idle_inputs(interface)  # a separate bench drives such inputs with both values
    files = tuple(plain_name(source, k) for k, source in enumerate(design.sources))
    if not plain or design.data or not all(file.endswith(_SUFFIXES) for file in files):
        return None
    try:
        texts = tuple(private_files.read(source).decode("ascii") for source in design.sources)
    except UnicodeDecodeError:
        return None
    modules: set[str] = set()
    for text in texts:
        found = modules_of(text)
        if found is None or found & modules:
            return None
        modules |= found
    if design.top not in modules or not idle_readers(texts, design.top):
        return None
    return Part(files, texts, frozenset(modules), design.top, interface)


def joined(parts: Sequence[Part], folder: Path) -> Joined:
    """Write ``parts`` into ``folder`` as one design, in which the modules of each part have unique names.

    Files are not merged or renamed, since simulators end comments and the effect of some directives at the end of a
    file.
    """
    tag = "_dv"
    while any(tag in text for part in parts for text in part.texts):
        tag += "v"
    lines, sources = [], []
    interfaces, instances, ports, inner = [], [], [], []
    for number, part in enumerate(parts):
        names = {name: f"{name}{tag}{number}" for name in part.modules}
        sources.append(_written(folder / f"part_{number}" / "directives.v", _RESET))
        for k, (file, text) in enumerate(zip(part.names, part.texts, strict=True)):
            sources.append(_written(folder / f"part_{number}" / str(k) / file, renamed(text, names)))
        own, its_top = part.interface, names[part.top]
        inputs = tuple(wire._replace(name=f"i{number}_{k}") for k, wire in enumerate(own.inputs))
        outputs = tuple(wire._replace(name=f"o{number}_{k}") for k, wire in enumerate(own.outputs))
        interfaces.append(DesignInterface(inputs, outputs))
        instances.append(f"part_{number}")
        ports += [_port("input", wire) for wire in inputs] + [_port("output", wire) for wire in outputs]
        pairs = zip((*own.inputs, *own.outputs), (*inputs, *outputs), strict=True)
        lines.append(f"  {its_top} part_{number} ({', '.join(f'.{its.name}({ours.name})' for its, ours in pairs)});")
        inner += [(its_top, port) for port in own.ports]
    top = "\n".join([f"module {_TOP} (", ",\n".join(ports), ");", *lines, "endmodule", ""])
    source = _written(folder / f"{_TOP}.v", top)
    wires = DesignInterface(
        tuple(wire for own in interfaces for wire in own.inputs),
        tuple(wire for own in interfaces for wire in own.outputs),
    )
    design = RtlDesign((source, *sources), _TOP, dut=Dut(wires, Ports((), ()), ()), inner=tuple(inner))
    return Joined(design, tuple(interfaces), tuple(instances))


def _written(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode("ascii"))
    return file


def _port(direction: str, wire: Wire) -> str:
    return f"  {direction} wire [{max(wire.width, 1) - 1}:0] {wire.name}"


# Decide whether a design may share a build with others: only if neither text can affect the other.
#
# All files of a build are one compilation unit: macros, types or parameters outside modules, names of modules and
# ``defparam`` apply to all of them, and ``$finish`` ends all. Therefore a text shares a build only if its words show
# nothing but modules of plain logic. This module refuses anything unknown, which only costs time: such a design is
# built alone.


_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<string>"(?:[^"\\\n]|\\.)*")
  | (?P<number>\d[\d_]*(?:\.\d[\d_]*)?|'[sS]?[bBoOdDhH]\s*[0-9a-fA-FxXzZ?_]+|'[01xXzZ])
  | (?P<directive>`[^\n]*)
  | (?P<system>\$[A-Za-z_$][\w$]*)
  | (?P<name>[A-Za-z_][\w$]*)
  | (?P<mark>\(\*(?!\))|\*\)|[^\s\w\\`"$])
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)

#: The number of texts whose tokens are kept: each text is read three times.
_KEPT_TEXTS = 256

_NAME = re.compile(r"[A-Za-z_][\w$]*", re.ASCII)
#: Characters that only some tools read as the end of a line, or skip.
_UNSEEN = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)")

#: Words of comments that tools obey, and the only such comments that are accepted: they switch warnings of Verilator
#: that never stop it.
_OBEYED = re.compile(r"synthesis|synopsys|pragma|cadence|ambit|translate_o|verilator", re.IGNORECASE)
_HARMLESS = re.compile(
    r"(?://|/\*)\s*verilator\s+lint_o(?:ff|n)\s+"
    r"(?:(?:WIDTH(?:EXPAND|TRUNC)?|UNUSED(?:GENVAR|LOOP|PARAM|SIGNAL)?|UNDRIVEN|DECLFILENAME|VARHIDDEN|CASE(?:X"
    r"|INCOMPLETE|OVERLAP)|UNSIGNED|CMPCONST)(?:\s*,\s*(?!\*/|$))?)+\s*(?:\*/)?\s*",
    re.ASCII,
)

#: System functions that are pure arithmetic.
_FUNCTIONS = {"$signed", "$unsigned", "$clog2", "$bits"}

#: Functions that read files of the common folder; modules that call them share a build only if these are unused.
_READERS = {"$readmemh", "$readmemb"}

#: Directives that apply until the next one, which precedes each design.
_TIME = r"1(?:00?)?\s*[munpf]?s"
_DIRECTIVE = re.compile(
    rf"`(?:timescale\s+{_TIME}\s*/\s*{_TIME}|default_nettype\s+(?:none|wire)|resetall)\s*(?://.*)?", re.ASCII
)

#: Keywords of plain logic; with all others, a text may reach other modules, end or observe the simulation, or wait.
PLAIN_WORDS = frozenset(
    """
    always always_comb always_ff always_latch and assign automatic begin bit break buf byte case casex casez continue
    default else end endcase endfunction endgenerate endmodule endtask enum for foreach function generate genvar if
    initial input inside int integer localparam logic longint module nand negedge nor not or output packed parameter
    posedge priority reg repeat return shortint signed struct task typedef union unique unique0 unsigned var void while
    wire xnor xor
    """.split()  # noqa: SIM905 - a list of so many literals is longer and reads no better
)
OTHER_WORDS = frozenset(
    """
    accept_on alias assert assume before bind bins binsof bufif0 bufif1 cell chandle checker class clocking cmos config
    const constraint context cover covergroup coverpoint cross deassign defparam design disable dist do edge endchecker
    endclass endclocking endconfig endgroup endinterface endpackage endprimitive endprogram endproperty endsequence
    endspecify endtable event eventually expect export extends extern final first_match force forever fork forkjoin
    global highz0 highz1 iff ifnone ignore_bins illegal_bins implements implies import incdir include inout instance
    interconnect interface intersect join join_any join_none large let liblist library local macromodule matches medium
    modport nettype new nexttime nmos noshowcancelled notif0 notif1 null package pmos primitive program property
    protected pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase randsequence
    rcmos real realtime ref reject_on release restrict rnmos rpmos rtran rtranif0 rtranif1 s_always s_eventually
    s_nexttime s_until s_until_with scalared sequence shortreal showcancelled small soft solve specify specparam static
    string strong strong0 strong1 super supply0 supply1 sync_accept_on sync_reject_on table tagged this throughout time
    timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior trireg type type_option until until_with
    untyped use uwire vectored virtual wait wait_order wand weak weak0 weak1 wildcard with within wor
    mailbox process randomize semaphore std
    """.split()  # noqa: SIM905 - as above
)

#: Tokens that may directly precede a statement, or an item of a module.
_BEFORE_ITEMS = frozenset(
    [";", ")", "begin", "end", "else", "endcase", "endfunction", "endgenerate", "endtask", "generate"]
)
#: Tokens after which a dot begins the name of a port, and not a part of a path, which may lead to any other design.
_BEFORE_PORTS = ("(", ",")


def modules_of(text: str) -> frozenset[str] | None:
    """Return the modules that ``text``, a file of Verilog, defines; None if it may not share a build."""
    found: set[str] = set()
    inside, before = False, ("",) * 4
    tokens = _tokens(text)
    if tokens is None:
        return None
    for kind, token in tokens:
        if kind in ("space", "comment", "directive"):
            directs = kind == "directive" and (inside or not _DIRECTIVE.fullmatch(token))
            if directs or (_OBEYED.search(token) and not _HARMLESS.fullmatch(token)):
                return None
            continue
        if not inside and token != "module":
            return None
        if token in OTHER_WORDS or (kind == "system" and token not in _FUNCTIONS | _READERS):
            return None
        if token == "module":
            if inside:
                return None
            inside = True
        elif before[-1] == "module":
            if kind != "name" or token in PLAIN_WORDS:
                return None
            found.add(token)
        elif token == "endmodule":
            inside = False
        elif not _is_plain(before, kind, token):
            return None
        before = (*before[1:], token)
    return frozenset(found) if found and not inside else None


def idle_readers(texts: Sequence[str], top: str) -> bool:
    """Return True if no module of ``texts`` that reads files is used: none is ``top``, and each is named only once."""
    readers, names = set(), Counter[str]()
    for text in texts:
        before = module = ""
        for kind, token in _tokens(text) or []:
            if kind == "name":
                names[token] += 1
                module = token if before == "module" else module
            elif kind == "system" and token in _READERS:
                readers.add(module)
            before = before if kind in ("space", "comment") else token
    return top not in readers and all(names[reader] == 1 for reader in readers)


def _is_plain(before: tuple[str, ...], kind: str, token: str) -> bool:
    """Return True if ``token`` may follow: no path, no scope, no ``.*``, which connects by name, and no delay."""
    if before[-1] == ".":
        return kind == "name"
    if before[-1] == "#":
        return token == "("
    if token == "#":
        return _is_module(before)
    if token == ":" == before[-1]:  # a scope
        return False
    return token != "." or before[-1] in _BEFORE_PORTS


def _is_module(before: tuple[str, ...]) -> bool:
    """Return True if the last of four words is the name of a module, at the start of an instance or of the module.

    After any other word, such as the label of a block, the type of a net or a keyword, ``#`` begins a delay.
    """
    labelled = before[1] == ":" and before[0] in ("begin", "end")  # then before[2] is the label
    plain = before[-2] in _BEFORE_ITEMS or before[-2] == "module" or labelled
    return plain and before[-1] not in PLAIN_WORDS and _NAME.fullmatch(before[-1]) is not None


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return ``text`` with new names, ``names``, for its modules, and for everything else that has the name of one."""
    tokens = _tokens(text) or []
    return "".join(names.get(token, token) if kind == "name" else token for kind, token in tokens)


@lru_cache(_KEPT_TEXTS)
def _tokens(text: str) -> Sequence[tuple[str, str]] | None:
    """Return the tokens of ``text`` with their kinds, including space; None if any text is not a known token."""
    if _UNSEEN.search(text):
        return None
    found = tuple(_split(text))
    return found if sum(len(token) for _, token in found) == len(text) else None


def _split(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while (match := _TOKEN.match(text, at)) is not None:
        yield match.lastgroup or "", match[0]
        at = match.end()
