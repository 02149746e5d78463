"""The record of a proof on the terminal: the claims, the methods that decided them, and the open claims."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.table import Table

from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.record.program import ProvedLink
from dais_verif.record.proof import Claim, Handshake, ProofRecord, Status
from dais_verif.record.simulation import Mismatch
from dais_verif.report.console import print_mismatch, program_line, source_line, verdict_text

__all__ = ["print_proof"]

_SHOWN = 10


def print_proof(record: ProofRecord, out: Console, *, bitwise: bool = False, mismatch: Mismatch | None = None) -> None:
    """Print ``record``. ``bitwise``: a netlist was proved. ``mismatch``: the mismatch that a simulator showed."""
    rtl, seconds = record.rtl, record.seconds
    out.print(f"program    {program_line(record.program)}", markup=False)
    out.print(f"hash       {record.program.hash}", markup=False)
    if rtl.project is not None:
        out.print(f"project    {rtl.project}", markup=False)
    through = ", as GHDL's synthesis reads it" if any(name.startswith("ghdl") for name in rtl.readers) else ""
    out.print(f"rtl        module {rtl.top}, {source_line(rtl.emitted, rtl.files)}{through}", markup=False)
    unnamed = f", {counted(len(record.ops_without_signal), 'has', 'have')} none" if record.ops_without_signal else ""
    matched = record.signals_matched_by_value
    guessed = f" ({matched} found by their values)" if matched else ""
    cached = f", {counted(record.cached_claims, 'claim')} proved by earlier runs" if record.cached_claims else ""
    machine = record.machine
    held = "" if machine is None else " and registers after the edge"
    kinds = ("point merged", "points merged") if bitwise else ("different obligation", None)
    out.print(
        f"claims     {counted(len(record.ops), 'op')} with a signal{guessed}{unnamed},"
        f" {counted(len(record.outputs), 'output')}{held}; {counted(record.obligations, *kinds)}{cached}",
        markup=False,
    )
    out.print(_methods(record))
    if record.worst is not None and record.worst.seconds >= 0.01:
        out.print(f"worst      {record.worst.claim}, {record.worst.seconds:.2f} s", markup=False)
    if record.obligations_written is not None:
        written = record.obligations_written
        out.print(f"statements {written.files} in {written.folder}, terms {written.terms}", markup=False)
    out.print("time       " + ", ".join(f"{name} {busy:.2f} s" for name, busy in seconds.items()), markup=False)
    if record.handshake is not None:
        out.print(f"handshake  {record.handshake.status.value}  {record.handshake.how}", markup=False)
        _print_trace(record.handshake, out)
    for name, why in rtl.unread.items():
        out.print(f"read       by {' and '.join(rtl.front_ends)}, not by {name}: {why}", markup=False)
    if record.sample is not None:
        out.print(f"sample     {record.sample.message}", markup=False)
    confirmation = record.confirmation
    if confirmation is not None and confirmation.verdict is Verdict.PASS:
        out.print(f"confirmed  by simulation, {confirmation.message}", markup=False)
    for name, why in ({} if confirmation is None else confirmation.unconfirmed).items():
        out.print(f"           not in {name}: {why.removeprefix(f'{name}: ')}", markup=False)
    if record.link is not None:
        _print_link(record.link, out)
    kernel = record.kernel
    if kernel is not None:
        title = "kernel" if kernel.settings is None else "network"
        out.print(f"{title:<10} {kernel.kernel}, {kernel.form}, {counted(kernel.members, 'member')}", markup=False)
        for title, text in (("laws", kernel.laws), ("facts", kernel.facts), ("members", kernel.message)):
            out.print(f"  {title:<9}{text}", markup=False)
        for one in kernel.settings or []:
            found = f"frames {one.frame.value}, network {one.network.value}, {counted(one.cycles, 'cycle')}"
            out.print(f"  {'config':<9}{one.name}: {found}", markup=False)
    _print_open(record, out)
    if mismatch is not None:
        print_mismatch(mismatch, out)
    out.print(verdict_text(record.verdict, record.message))
    if record.verdict is not Verdict.PASS:
        out.print(f"reproduce  {record.reproduce}", markup=False)
    if record.simulate is not None:
        out.print(f"simulate   {record.simulate}", markup=False)


def _print_link(link: ProvedLink, out: Console) -> None:
    facts = link.bitstream
    out.print(f"bitstream  {facts.file}, pins {facts.pins}, sha256 {facts.sha256}", markup=False)
    out.print(
        f"link       {link.link}: {link.registers} bits of registers in RTL, {link.logic_registers} in the bitstream,"
        f" {link.classes} classes of equal registers; {link.columns} columns of block RAMs; {link.claims} claims"
        f" proved{', with registers proposed by hints' if link.hinted else ''}, {link.seconds:.1f} s",
        markup=False,
    )
    if link.board is not None:
        out.print(f"board      in simulation: {link.board.value}: {link.board_message}", markup=False)


def _methods(record: ProofRecord) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("status")
    table.add_column("method")
    table.add_column("ops", justify="right")
    table.add_column("outputs", justify="right")
    counts: Counter[tuple[str, str, str]] = Counter()
    for claim in (*record.ops, *record.outputs):
        counts[_word(record, claim), claim.means if claim.status is Status.PROVED else "", claim.kind] += 1
    for status, method in dict.fromkeys((status, method) for status, method, _ in sorted(counts)):
        table.add_row(status, method, *(str(counts[status, method, kind]) for kind in ("op", "output")))
    return table


def _print_trace(handshake: Handshake, out: Console) -> None:
    """Print the pins before each edge of a run that violates the protocol."""
    for edge, pins in enumerate(handshake.trace):
        shown = "  ".join(f"{name} {value}" for name, value in pins.items())
        out.print(f"  edge {edge:>3} {shown}", markup=False)


def _name(record: ProofRecord, claim: Claim) -> str:
    """Return the subject of a claim; for a machine, the block, the output or the register."""
    machine = record.machine
    if machine is None:
        return claim.name
    if claim.kind == "output":
        return machine.outputs[claim.number]
    return machine.unproved_ops.get(str(claim.number), claim.name)


def _word(record: ProofRecord, claim: Claim) -> str:
    """Return the status of a claim; ``ignored`` for an unproved op on which a successful proof does not depend."""
    passed = record.verdict is Verdict.PASS and claim.kind == "op" and claim.status is not Status.PROVED
    return "ignored" if passed else claim.status.value


def _print_open(record: ProofRecord, out: Console) -> None:
    failed = [claim for claim in (*record.ops, *record.outputs) if claim.status is not Status.PROVED]
    for claim in failed[:_SHOWN]:
        signal = f"  signal {claim.signal}" if claim.signal else ""
        word, why = _word(record, claim), ""
        if word == "ignored":
            signal, why = (
                "",
                f"  {claim.signal} does not hold this op, and no output depends on it",
            )
        elif word == "UNKNOWN" and record.counterexample is not None:
            why = "  not examined, since the RTL is already wrong"
        out.print(f"{word:<10} {_name(record, claim)}{signal}{why}", markup=False)
    if len(failed) > _SHOWN:
        out.print(f"           ... {len(failed) - _SHOWN} more (--json lists all)", markup=False)
