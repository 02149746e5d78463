"""The policy of a sign-off, which states the requirements on a program and its RTL: a TOML file, or the built-in one.

Every sign-off also shows that the verification can fail; no key turns that off.
"""

from __future__ import annotations

import glob
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, Literal, NoReturn

import msgspec

from dais_verif.base.errors import PolicyError
from dais_verif.base.files import read_toml
from dais_verif.base.tables import convert_table
from dais_verif.base.toml import parse_toml
from dais_verif.record.base import to_tree
from dais_verif.record.simulation import Waiver
from dais_verif.signoff.bitstreams.table import Bitstream, problem_of_bitstream, with_files

__all__ = [
    "BUILT_IN",
    "GHDL",
    "Given",
    "Mutation",
    "Policy",
    "Rtl",
    "in_force",
    "is_simulated",
    "policy_of",
    "problem_of_mutation",
    "read_policy",
    "with_rtl",
]


# The table ``[mutation]`` of a policy: the requirements on mutants of the RTL.


_MOST_MUTANTS = 1_000_000


class Mutation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[mutation]``: the number of mutants of the RTL, and the percentage that must be killed.

    ``vectors``: the number of vectors simulated for each mutant. ``timeout``: seconds for each proof. ``floor``: the
    percentage that must be killed of the mutants that are not equivalent. ``most_unknown``: the percentage of all
    mutants that may stay unknown.
    """

    mutants: int = 200
    vectors: int = 1000
    timeout: float = 2.0
    floor: float = 95.0
    most_unknown: float = 5.0


def problem_of_mutation(mutation: Mutation) -> str:
    """Return a text that describes a problem of the table; empty if there is none."""
    if not 1 <= mutation.mutants <= _MOST_MUTANTS:
        return f"[mutation] mutants is {mutation.mutants}, must be 1 to {_MOST_MUTANTS:,}"
    if not 0 < mutation.timeout < float("inf"):
        return f"[mutation] timeout is {mutation.timeout}, must be a number of seconds above 0"
    for key in ("floor", "most_unknown"):
        if not 0 <= getattr(mutation, key) <= 100:
            return f"[mutation] {key} is {getattr(mutation, key)}, must be a percentage from 0 to 100"
    return ""


# The policy of a sign-off, which states the requirements on a program and its RTL: a TOML file, or the built-in one.


GHDL = "ghdl"

#: Stages that a waiver may cover if their result is unknown. Known errors cannot be waived.
WAIVABLE = (
    "outside",
    "check",
    "proof",
    "synthesis",
    "coverage",
    "netlist",
    "axis",
    "board",
    "diff",
    "bitstream",
    "timing",
    "mutation",
)

_SIMULATORS = ("icarus", "verilator", GHDL)
_MOST_BITS = 24
_MOST_BYTES = 256 << 10

#: The maximum number of seeds, vector files, RTL files and data files, each: every seed is one more simulation.
_MOST_OF_A_KIND = 1000

BUILT_IN = """\
# The requirements of `dais-verif signoff` without a policy. Every key is optional.

simulators = ["icarus", "verilator"]  # each simulates every vector; for VHDL: ["ghdl"]
vectors = 10000          # generated for each seed
# distinct = 1000        # at least this many must differ, if there are enough inputs; default: a tenth
seeds = [0]
inputs = []              # files of vectors (.npy, .csv), which are simulated first
exhaustive_bits = 16     # outputs that depend on at most this many input bits are checked on all of them; 0: none
overflow = "checked"     # on every vector; "proved": for all inputs; "unchecked": values wrap as in hardware
proof = "required"       # "optional": may remain undecided; "off"
proof_timeout = 20.0     # seconds for each obligation
front_end = "available"  # front ends for proofs of your RTL: slang, and Yosys if installed; or "both", "slang"
synthesis = "proved"     # RTL that synthesis reads differently (macros, translate_off, full_case); or "refused"
coverage = 0.0           # percent of bins that must be hit; 0: not required
stages = []  # "netlist", "bitstream", "timing"; for programs "axis", "board", "mutation"; for machines "diff"
allowed = []             # names that RTL may use although they have effects outside of it, such as "$random"

[rtl]                    # without files: RTL that dais-verif emits
files = []               # names, or patterns such as "src/*.v"
top = "model"
data = []                # files that the RTL reads
# ports = "ports.toml"
# clock = "clk"          # and latency, reset, enable, valid_in, valid_out, as the options of sim
# pipeline = 4           # number of pipeline stages of RTL that dais-verif emits

[netlist]
target = "ice40"
vectors = 1000

[axis]
pipeline = 3
vectors = 1000

[board]
# target = "serial:///dev/ttyUSB0"
vectors = 10000

[bitstream]              # the FPGA bitstream, which is read back: with "bitstream" or "timing" in stages
# file = "model.bin"     # as dais-verif build makes it, from the same RTL and with all its ports
# pins = "pins.pcf"
# device = "ice40-hx8k-ct256"
vectors = 1000
clock = 12.0             # for "timing": MHz that the bitstream must allow, by icetime
margin = 10.0            # percent that is added to the clock

[mutation]               # mutants: RTL with a small change, which must be detected
mutants = 200
vectors = 1000           # for each mutant in the simulators of this policy, before a proof if one is required
timeout = 2.0            # seconds for the proof of each mutant
floor = 95.0             # percent of the mutants that are not equivalent that must be killed
most_unknown = 5.0       # percent of the mutants that may stay unknown

[diff]                   # a machine computes a program, proved frame by frame
# frame = "frame.toml"   # the cycles of the machine that are inputs and outputs of the program
# against = "prog.bin"   # the program

# [[waivers]]
# what = "proof"
# reason = "output 3 is a divider, exhausted in the lab on 2026-11-02"
# expires = 2027-01-31
# by = "Ada Lovelace"
"""


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of the file: every key has a default, and other keys are refused."""


class Rtl(_Table, frozen=True):
    """``[rtl]``: the user's RTL, or how our RTL is emitted."""

    files: tuple[str, ...] = ()
    top: str = "model"
    data: tuple[str, ...] = ()
    ports: str | None = None
    clock: str | None = None
    latency: int | Literal["auto"] | None = None
    reset: str | None = None
    enable: str | None = None
    valid_in: str | None = None
    valid_out: str | None = None
    pipeline: int | None = None

    @property
    def pins(self) -> dict[str, str]:
        """The pins of a clocked design that the table names, by the options of ``sim`` without dashes in front."""
        names = ("clock", "latency", "reset", "enable", "valid_in", "valid_out")
        given = {name.replace("_", "-"): getattr(self, name) for name in names}
        return {name: str(value) for name, value in given.items() if value is not None}


class NetlistTable(_Table, frozen=True):
    """``[netlist]``: simulate the netlist that Yosys synthesizes from the RTL."""

    target: str = "ice40"
    vectors: int = 1000


class Axis(_Table, frozen=True):
    """``[axis]``: simulate RTL emitted by dais-verif through its AXI4-Stream wrapper."""

    pipeline: int = 3
    vectors: int = 1000


class Board(_Table, frozen=True):
    """``[board]``: run the program on a board."""

    target: str | None = None
    vectors: int = 10000


class Diff(_Table, frozen=True):
    """``[diff]``: the program ``against`` which a machine is proved, and the ``frame`` file that maps its cycles."""

    frame: str | None = None
    against: str | None = None

    @property
    def files(self) -> dict[str, str]:
        """The files that the table names, by role."""
        given = {"frame": self.frame, "against": self.against}
        return {role: name for role, name in given.items() if name is not None}


class Waived(_Table, frozen=True):
    """``[[waivers]]``. ``expires``: the last day on which the waiver is valid."""

    what: str
    reason: str
    expires: date
    by: str = ""

    def told(self) -> Waiver:
        """Return the waiver as stored in records."""
        return Waiver(self.what, self.reason, self.expires.isoformat(), self.by)


class Policy(_Table, frozen=True):
    """The requirements. Paths are absolute, or relative to the working folder of the sign-off."""

    simulators: tuple[str, ...] = ("icarus", "verilator")
    vectors: int = 10000
    distinct: int | None = None
    seeds: tuple[int, ...] = (0,)
    inputs: tuple[str, ...] = ()
    exhaustive_bits: int = 16
    overflow: Literal["proved", "checked", "unchecked"] = "checked"
    proof: Literal["required", "optional", "off"] = "required"
    proof_timeout: float = 20.0
    front_end: Literal["available", "both", "slang"] = "available"
    synthesis: Literal["proved", "refused"] = "proved"
    coverage: float = 0.0
    stages: tuple[Literal["netlist", "axis", "board", "diff", "bitstream", "timing", "mutation"], ...] = ()
    allowed: tuple[str, ...] = ()
    rtl: Rtl = Rtl()
    netlist: NetlistTable = NetlistTable()
    axis: Axis = Axis()
    board: Board = Board()
    bitstream: Bitstream = Bitstream()
    mutation: Mutation = Mutation()
    diff: Diff = Diff()
    waivers: tuple[Waived, ...] = ()

    def tree(self) -> dict[str, Any]:
        """Return all keys and values as a tree for JSON."""
        tree: dict[str, Any] = to_tree(msgspec.to_builtins(self))
        return tree

    def with_seed(self, seed: int) -> Policy:
        """Return the same policy with ``seed`` as its only seed."""
        return msgspec.structs.replace(self, seeds=(seed,))


@dataclass(frozen=True)
class Given:
    """A policy, and the text that it was read from."""

    policy: Policy
    text: str


def is_simulated(target: str | None) -> bool:
    """Return True if ``target`` of a board is a simulation, which shows nothing about a board."""
    return target is not None and target.lower().startswith("sim:")


def with_rtl(given: Given, rtl: Rtl, simulators: tuple[str, ...] | None) -> Given:
    """Return the policy with ``rtl``, and with ``simulators`` unless None. Raises ``InputError`` if it is invalid."""
    policy = msgspec.structs.replace(given.policy, rtl=rtl, simulators=simulators or given.policy.simulators)
    return Given(policy_of(policy.tree(), "the policy, with the RTL of the command line"), given.text)


def in_force(waivers: tuple[Waived, ...], today: date) -> tuple[dict[str, Waived], list[str]]:
    """Return the waivers that are valid on the day ``today``, by stage, and a line for each expired one."""
    good = {waiver.what: waiver for waiver in waivers if waiver.expires >= today}
    late = [
        f"the waiver of {waiver.what} expired on {waiver.expires}: it waives nothing"
        for waiver in waivers
        if waiver.expires < today
    ]
    return good, late


def read_policy(path: Path | None) -> Given:
    """Return the policy in the TOML file ``path``, or the built-in policy if None.

    Its paths are relative to the folder of the file. Raises ``InputError`` that names the unusable key.
    """
    if path is None:
        return Given(_Reader("the built-in policy").policy(BUILT_IN), BUILT_IN)
    text = read_toml(path, _MOST_BYTES, "policy")
    reader = _Reader(f"policy {str(path)!r}")
    policy = reader.policy(text)
    empty = next((name for name in policy.rtl.files if not _matching(path.parent, name)), None)
    if empty is not None:
        reader.refuse(f"[rtl] files: nothing matches {empty!r}")
    return Given(_from(policy, path.parent), text)


def policy_of(tree: Any, name: str) -> Policy:
    """Return the policy in ``tree``, as ``Policy.tree`` returns it. Raises ``InputError`` if it is not a policy."""
    reader = _Reader(name)
    policy = reader.convert(tree)
    reader.check(policy)
    return policy


def _matching(folder: Path, name: str) -> list[str]:
    """Return the files that match ``name`` in ``folder`` if it has wildcards, otherwise the path of ``name``."""
    path = str(folder / name)
    return sorted(glob.glob(path, recursive=True)) if glob.has_magic(name) and not Path(path).exists() else [path]


def _from(policy: Policy, folder: Path) -> Policy:
    """Return ``policy`` with paths in ``folder``, to which the paths in the policy are relative."""

    def seen(name: str) -> str:
        return str(folder / name)

    rtl = msgspec.structs.replace(
        policy.rtl,
        files=tuple(file for name in policy.rtl.files for file in _matching(folder, name)),
        data=tuple(map(seen, policy.rtl.data)),
        ports=None if policy.rtl.ports is None else seen(policy.rtl.ports),
    )
    diff = Diff(**{role: seen(name) for role, name in policy.diff.files.items()})
    bits = with_files(policy.bitstream, {role: seen(name) for role, name in policy.bitstream.files.items()})
    return msgspec.structs.replace(policy, rtl=rtl, inputs=tuple(map(seen, policy.inputs)), diff=diff, bitstream=bits)


class _Reader:
    def __init__(self, name: str) -> None:
        self._name = name

    def policy(self, text: str) -> Policy:
        try:
            tree = parse_toml(text)
        except ValueError as error:
            raise PolicyError(f"{self._name} is not valid TOML: {error}") from None
        policy = self.convert(tree, builtin_types=(datetime, date, time))
        self.check(policy)
        for stage in ("netlist", "axis", "board", "mutation"):
            if stage not in policy.stages and getattr(policy, stage) != getattr(Policy(), stage):
                self.refuse(f'[{stage}] demands nothing: add "{stage}" to stages, or leave the table out')
        return policy

    def convert(self, tree: object, **options: Any) -> Policy:
        try:
            return convert_table(tree, Policy, **options)
        except ValueError as error:  # also raised for a lone surrogate in a text
            self.refuse(str(error))

    def check(self, policy: Policy) -> None:
        """Check the rules that types do not express. Raises ``InputError`` for the first one that is broken."""
        for simulator in policy.simulators:
            if simulator not in _SIMULATORS:
                self.refuse(f"simulators holds {simulator!r}, must be one of {', '.join(_SIMULATORS)}")
        if len(set(policy.simulators)) < len(policy.simulators):
            self.refuse("simulators names a simulator twice")
        if GHDL in policy.simulators and len(policy.simulators) > 1:
            self.refuse("simulators: ghdl is for VHDL, and the others are for Verilog, so they cannot be combined")
        if len(set(policy.seeds)) < len(policy.seeds):
            self.refuse("seeds holds a seed twice")
        self._numbers(policy)
        if policy.rtl.files and policy.rtl.pipeline is not None:
            self.refuse("[rtl] pipeline is for what dais-verif emits; for files, name the clock")
        if not policy.rtl.files and (policy.rtl.pins or policy.rtl.ports or policy.rtl.data):
            self.refuse("[rtl] names pins, ports or data, which are only for RTL files; name the files")
        if policy.rtl.files and "axis" in policy.stages:
            self.refuse("stages: axis wraps RTL that dais-verif emits, but [rtl] files names other RTL")
        if "board" in policy.stages and policy.board.target is None:
            self.refuse('stages: board needs [board] target, such as "serial:///dev/ttyUSB0"')
        if len(policy.diff.files) != (2 if "diff" in policy.stages else 0):
            self.refuse('stages: "diff" needs [diff] frame and against, and [diff] needs "diff" in stages')
        if "mutation" in policy.stages and (GHDL in policy.simulators or not policy.simulators):
            self.refuse("stages: mutation needs a Verilog simulator in simulators: icarus or verilator")
        if wrong := problem_of_bitstream(policy.bitstream, policy.stages) or problem_of_mutation(policy.mutation):
            self.refuse(wrong)
        self._waivers(policy)

    def _numbers(self, policy: Policy) -> None:
        counts = {
            "vectors": policy.vectors,
            "distinct": policy.distinct or 0,
            "exhaustive_bits": policy.exhaustive_bits,
            "[netlist] vectors": policy.netlist.vectors,
            "[axis] vectors": policy.axis.vectors,
            "[board] vectors": policy.board.vectors,
            "[bitstream] vectors": policy.bitstream.vectors,
            "[mutation] vectors": policy.mutation.vectors,
            **{f"seeds[{k}]": seed for k, seed in enumerate(policy.seeds)},
        }
        lengths = {
            "seeds": policy.seeds,
            "inputs": policy.inputs,
            "files": policy.rtl.files,
            "data": policy.rtl.data,
        }
        for key, many in lengths.items():
            if len(many) > _MOST_OF_A_KIND:
                self.refuse(f"{key} has {len(many)} entries, must have at most {_MOST_OF_A_KIND}")
        for key, value in counts.items():
            if value < 0:
                self.refuse(f"{key} is {value}, must be at least 0")
        if policy.distinct is not None and policy.distinct > policy.vectors and not policy.inputs and policy.vectors:
            self.refuse(f"distinct is {policy.distinct}, must be at most the vectors, {policy.vectors}")
        if policy.exhaustive_bits > _MOST_BITS:
            self.refuse(f"exhaustive_bits is {policy.exhaustive_bits}, must be at most {_MOST_BITS}")
        if not 0 < policy.proof_timeout < float("inf"):
            self.refuse(f"proof_timeout is {policy.proof_timeout}, must be a number of seconds above 0")
        if not 0 <= policy.coverage <= 100:
            self.refuse(f"coverage is {policy.coverage}, must be a percentage from 0 to 100")

    def _waivers(self, policy: Policy) -> None:
        for number, waiver in enumerate(policy.waivers):
            if waiver.what not in WAIVABLE:
                self.refuse(
                    f"waivers[{number}] what is {waiver.what!r}; only these can be waived: {', '.join(WAIVABLE)}"
                )
            if not waiver.reason.strip():
                self.refuse(f"waivers[{number}] has no reason; say why it may be signed off without {waiver.what}")
        named = [waiver.what for waiver in policy.waivers]
        if len(set(named)) < len(named):
            self.refuse("waivers: two are for the same stage; keep one")

    def refuse(self, problem: str) -> NoReturn:
        raise PolicyError(f"{self._name}: {problem}; `dais-verif signoff --show-policy` shows all keys")
