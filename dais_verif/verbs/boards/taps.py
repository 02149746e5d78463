"""Search for a wrong op on a board (``hil --blame``): build bitstreams with taps and load them one after the other."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from dais_verif.base.errors import BoardError, BoardFailure, DaisError, InputError, RequestError, ToolError
from dais_verif.base.files import read_plain
from dais_verif.campaigns.fuzzing.command import Command
from dais_verif.hardware.synthesis.bitstream import BITSTREAM, PINS
from dais_verif.record.build import BUILD_RECORD, BuildRecord
from dais_verif.record.simulation import Blame, Mismatch, TapsRead
from dais_verif.simulation.boards.compare import BOARD
from dais_verif.simulation.boards.identity import require_fits
from dais_verif.simulation.boards.link import Target
from dais_verif.simulation.boards.session import Session
from dais_verif.simulation.boards.taps import Located, Reading, TappedRow, Where, locate, read_taps
from dais_verif.spec.program import Program
from dais_verif.spec.program.listing import in_words
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.opcodes import Code
from dais_verif.spec.program.ports import ports_of
from dais_verif.spec.program.taps import tapped
from dais_verif.stimulus import Vectors
from dais_verif.verbs.bitstream.build import NONE, BuildRequest, build
from dais_verif.verbs.boards.links import board_link
from dais_verif.verbs.pipelines import PipelineRequest
from dais_verif.verbs.progress import Progress

__all__ = ["TapsSearch", "read_built"]

#: Seconds for the command that loads a bitstream.
_LOADING = 600.0
#: Seconds for each tool in a build of a bitstream.
_BUILDING = 900.0
#: The most vectors for a bitstream with taps, and the most ops that the oracle may evaluate for these vectors.
_MOST_ROWS, _ORACLE_OPS = 64, 200_000
_MOST_RECORD_BYTES = 1 << 26
#: Nextpnr's name of the logic cell; each bit of a result needs at least one.
_CELLS = "ICESTORM_LC"


def read_built(folder: Path, program: Program) -> BuildRecord:
    """Return the record of the build in ``folder``. Raises ``InputError`` unless it built ``program`` with a link."""
    record = BuildRecord.from_json(read_plain(folder / BUILD_RECORD, _MOST_RECORD_BYTES))
    if record.program.hash != program.hash:
        raise BoardError.of("{blame} {folder!r} is a build of another program", folder=str(folder))
    if record.wrap == NONE:
        raise BoardError.of(
            "{blame} {folder!r} is a build without a link, so a board with it cannot be accessed", folder=str(folder)
        )
    return record


@dataclass
class TapsSearch:
    """The search for the wrong op on a board that runs the bitstream of ``built``, in the folder ``given``.

    ``load``: the command that loads a bitstream; None: the board is simulated, and is created again from the bitstream.
    ``folder``: where bitstreams with taps are built.
    """

    program: Program
    vectors: Vectors
    target: Target
    given: Path
    built: BuildRecord
    load: Command | None
    timeout: float
    folder: Path
    progress: Progress
    reads: list[TapsRead] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._row: TappedRow | None = None
        self._seen: dict[int, TappedRow] = {}

    @classmethod
    def of(
        cls,
        program: Program,
        vectors: Vectors,
        target: Target,
        given: Path,
        load: str | None,
        timeout: float,
        folder: Path,
        progress: Progress,
    ) -> TapsSearch:
        """Return a search that has not begun. Raises ``InputError`` if the folder ``given`` cannot be used for it."""
        if target.scheme == "sim" and target.bitstream is None:
            raise RequestError.of("{blame} is for boards that run a bitstream, and {text} runs RTL.", text=target.text)
        if target.scheme != "sim" and load is None:
            raise RequestError.of(
                "{load} is the command that loads a bitstream onto the board, such as 'iceprog {place}': {blame} "
                "needs it.",
                place="{bitstream}",
            )
        command = None if load is None else Command.of("load", load, ("bitstream",))
        return cls(program, vectors, target, given, read_built(given, program), command, timeout, folder, progress)

    def blame(self, mismatch: Mismatch) -> Blame:
        """Return the result of the search, added to earlier findings. Errors become findings, too."""
        again = "" if mismatch.blame is None else f"{mismatch.blame.text}; "
        self._rows = self._chosen(mismatch.row)
        self._output = mismatch.output
        try:
            found = locate(self.program, mismatch.output, self._read, self._room())
            blame = self._told(found, mismatch)
        except DaisError as error:
            blame = Blame(BOARD, f"the taps found nothing: {self.progress.spelled(error)}")
        finally:
            self._give_back()
        return replace(blame, text=again + blame.text)

    def _chosen(self, row: int) -> list[int]:
        """Return the vectors to try, the failed one first."""
        most = max(1, min(_MOST_ROWS, _ORACLE_OPS // max(self.program.n_ops, 1)))
        step = max(1, self.vectors.rows // most)
        return [row, *(other for other in range(0, self.vectors.rows, step) if other != row)][:most]

    def _room(self) -> int:
        """Return an upper limit of the bits of taps: each takes at least one cell of the device."""
        used, available = self.built.used.get(_CELLS, (0, 0))
        return max(available - used, 1)

    def _read(self, ops: Sequence[int]) -> Reading | None:
        number = len(self.reads) + 1
        folder = self.folder / f"taps-{number}"
        with_taps = tapped(self.program, ops)
        self.progress.notice(f"building a bitstream with taps of {len(ops)} ops, number {number}")
        failure = self._built(with_taps, folder)
        if failure is not None:
            self.reads.append(TapsRead(list(ops), self._rows[0], failure=self.progress.spelled(failure)))
            return None
        bitstream = folder / BITSTREAM
        target = self._loaded(bitstream)
        with board_link(target, with_taps, folder, self.timeout, self.progress) as (link, _):
            session = Session(link, self.timeout)
            identity = session.identify()
            require_fits(identity, with_taps, ports_of(with_taps), target.text)
            rows = [self._row.row] if self._row is not None else self._rows
            batch = Batch.concatenate([self.vectors.slice(row, row + 1) for row in rows])
            found = read_taps(self.program, ops, batch, rows, session, identity)
        shown = next((one for one in found if one.wrong or self._output in one.wrong_outputs), found[0])
        if shown.wrong or self._output in shown.wrong_outputs:
            self._row = shown
        self._seen.update(dict.fromkeys(ops, shown))
        sha256 = hashlib.sha256(bitstream.read_bytes()).hexdigest()
        self.reads.append(TapsRead(list(ops), shown.row, sorted(shown.wrong), str(folder), sha256))
        return Reading(shown.wrong, self._output in shown.wrong_outputs)

    def _built(self, with_taps: Program, folder: Path) -> DaisError | None:
        """Build the bitstream; return the error if it does not fit, is too slow, or cannot be routed."""
        failure: DaisError | None = None
        for seed in (self.built.seed, self.built.seed + 1):  # nextpnr may run without end for one of them
            try:
                build(self._request(with_taps, folder, seed), progress=self.progress)
                return None
            except InputError as error:
                return error
            except ToolError as error:
                failure = error
        return failure

    def _request(self, with_taps: Program, folder: Path, seed: int) -> BuildRequest:
        built = self.built
        pipeline = PipelineRequest(
            stages=built.stages,
            max_depth=built.max_depth,
            delay_model=None if built.delay_model is None else Path(built.delay_model),
        )
        return BuildRequest(
            program=with_taps,
            device=built.device,
            output=folder,
            pipeline=pipeline,
            wrap=built.wrap,
            pins=self.given / PINS,
            clock=built.timing.required,
            seed=seed,
            bram=built.bram,
            timeout=_BUILDING,
        )

    def _loaded(self, bitstream: Path) -> Target:
        """Load ``bitstream``, and return the target of the board that then runs it."""
        if self.load is None:
            loaded = self.target.bitstream
            assert loaded is not None
            return self.target._replace(bitstream=loaded._replace(file=str(bitstream)))
        self.progress.notice(f"loading {bitstream}")
        ending = self.load.run({"bitstream": bitstream}, bitstream.parent, _LOADING)
        if ending.status != 0:
            raise BoardFailure.of(
                "the command of {load} {how}: {last}", how=ending.words, last=ending.last_line or "it printed nothing"
            )
        return self.target

    def _give_back(self) -> None:
        """Load the bitstream that was on the board before."""
        if self.load is not None and self.reads:
            try:
                self.load.run({"bitstream": self.given / BITSTREAM}, self.folder, _LOADING)
            except DaisError as error:
                self.progress.warning(f"the board may still run a bitstream with taps: {error}")

    def _told(self, found: Located, mismatch: Mismatch) -> Blame:
        loaded = sum(read.failure is None for read in self.reads)
        many = "a bitstream with taps" if loaded == 1 else f"{loaded} bitstreams with taps"
        if found.where is Where.OP and found.op is not None:
            return self._told_op(found.op, many, mismatch)
        if found.where is Where.OUTPUT:
            where = f"output {mismatch.output} is assembled wrongly, or corrupted on its way to the link"
            return Blame("output", f"all ops that it depends on are right in {many}: {where}")
        if found.where is Where.NO_ROOM:
            ops = f"ops {found.between[0]} to {found.between[-1]}" if found.between else "any op"
            why = next((read.failure for read in reversed(self.reads) if read.failure is not None), "")
            return Blame(BOARD, f"no bitstream can be made with the taps that tell {ops} apart: {why}")
        return Blame(
            BOARD,
            f"{many} of the same RTL, on the same board, {'is' if loaded == 1 else 'are'} right: the fault is in the"
            " bitstream on the board, which `prove --bitstream` checks, or in a cell or wire that only it uses",
        )

    def _told_op(self, index: int, many: str, mismatch: Mismatch) -> Blame:
        op, seen = self.program.ops[index], self._seen[index]
        operands = dict.fromkeys(i for i in op.operands if self.program.ops[i].code != Code.CONST)
        read = [f"%{i} = {self._seen[i].expected[i].real}" for i in operands if i in self._seen]
        whose = f"; its operands are right: {', '.join(read)}" if read else ""
        where = "" if seen.row == mismatch.row else f" on vector {seen.row}"
        return Blame(
            "op",
            f"{op}, {in_words(self.program, op)}, is the first op whose value diverges{where}, by {many}{whose}",
            index,
            op.spec.mnemonic,
            str(op.type),
            seen.expected[index],
            seen.found[index],
        )
