"""Check a machine: its content, and possible overflow and wrong indices, in any state."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from dais_verif.base.verdict import Verdict
from dais_verif.record.check import CheckRecord, MachineSummary, NamedOp, Overflow, PortWidths, WidthSummary
from dais_verif.record.program import ProgramInfo
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.ports import bits_of
from dais_verif.spec.machine.step import Step, conflict_of, step_of
from dais_verif.spec.program.graph import dead_ops, depths
from dais_verif.spec.program.ranges import PromiseStatus, analyse
from dais_verif.verbs.machines.requests import require_no_options

if TYPE_CHECKING:
    from dais_verif.verbs.check import CheckRequest

__all__ = ["check_machine"]


def check_machine(machine: Machine, request: CheckRequest) -> CheckRecord:
    """Return the content of ``machine``, and which ops of its blocks and which indices intervals prove safe.

    Registers may hold any value of their types, whether it is reachable or not, so an op that is not safe is UNKNOWN
    unless it breaks its promise for all values.
    """
    require_no_options(layout=request.layout)
    step = step_of(machine)
    analysis = analyse(step.program)
    possible, certain = (
        [_named(step, index) for index in analysis.promises(status)]
        for status in (PromiseStatus.POSSIBLE, PromiseStatus.CERTAIN)
    )
    overflow = Overflow(
        proved_impossible=len(analysis.promises(PromiseStatus.SAFE)),
        possible=possible,
        certain=certain,
        inputs="types",
    )
    conflict = conflict_of(machine)
    verdict, message = _judged(overflow)
    if conflict is not None and verdict is Verdict.PASS:
        verdict, message = Verdict.UNKNOWN, f"{conflict}; run and sim check each cycle"
    programs = [block.program for block in machine.blocks.values()]
    ops = [op for program in programs for op in program.ops]
    counted = Counter((op.spec.number, op.spec.mnemonic) for op in ops)
    widths = [op.type.width for op in ops]
    return CheckRecord(
        verdict=verdict,
        message=message,
        program=ProgramInfo.of_machine(machine),
        warnings=[] if conflict is None else [conflict],
        spec_version=machine.origin.spec_version,
        firmware_version=machine.origin.firmware_version,
        tables=[len(table) for program in programs for table in program.tables],
        opcodes={f"{number} {mnemonic}": counted[number, mnemonic] for number, mnemonic in sorted(counted)},
        width=WidthSummary(max(widths, default=0), widths.count(0), sum(widths)),
        widths=dict(sorted(Counter(widths).items())),
        depth=max(depths(step.program), default=0),
        ports=PortWidths(*(sum(bits_of(s.types) for s in some) for some in (machine.inputs, machine.outputs))),
        dead_ops=[],
        meaningless_data=[],
        overflow=overflow,
        machine=_summary(machine),
    )


def _summary(machine: Machine) -> MachineSummary:
    registers = machine.registers
    return MachineSummary(
        blocks={block.name: block.program.n_ops for block in machine.blocks.values()},
        dead_ops={block.name: len(dead_ops(block.program)) for block in machine.blocks.values()},
        inputs={signal.name: len(signal.types) for signal in machine.inputs},
        outputs={signal.name: len(signal.types) for signal in machine.outputs},
        registers=len(registers),
        state_bits=sum(bits_of(signal.types) for signal in registers),
        uninitialised=[signal.name for signal in registers if signal.initial is None and bits_of(signal.types)],
        connections=len(machine.connections),
    )


def _named(step: Step, index: int) -> NamedOp:
    """Return the record entry of an op of a block, or of an index check."""
    op, owner = step.program.ops[index], step.owners[index]
    if owner is not None:
        return NamedOp(op=owner[1], mnemonic=op.spec.mnemonic, type=str(op.type), block=owner[0])
    view = step.checks.get(index)
    word = op.spec.mnemonic if view is None else f"index {view.index} of {view}"
    return NamedOp(op=index, mnemonic=word, type=str(op.type), block="connections")


def _judged(overflow: Overflow) -> tuple[Verdict, str]:
    if overflow.certain:
        return Verdict.PROGRAM_INVALID, "see certain overflow"
    if overflow.possible:
        text = "ops or indices are not safe in every state that types allow; run and sim check each cycle"
        return Verdict.UNKNOWN, f"{len(overflow.possible)} {text}"
    return Verdict.PASS, "the machine is valid, and no promise can be broken in any state"
