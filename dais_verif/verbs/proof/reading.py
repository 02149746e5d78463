"""The front ends that read RTL for a proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dais_verif.base.errors import InputError, ProofError, RequestError, ToolError
from dais_verif.base.toolchain import tools
from dais_verif.base.toolchain.limits import Limits
from dais_verif.base.toolchain.private_files import shown
from dais_verif.base.toolchain.rtl_files import is_vhdl
from dais_verif.hardware.ports.verilog import included_by
from dais_verif.hardware.synthesis.elaboration import elaborated
from dais_verif.prover.vhdl.reading import in_verilog
from dais_verif.simulation.simulators.build import RtlDesign

if TYPE_CHECKING:
    from dais_verif.prover.netlist import Netlist

__all__ = ["FRONT_ENDS", "RtlReader"]

_BOTH = ("slang", "yosys")
#: The possible choices, and their front ends.
FRONT_ENDS = {"slang": ("slang",), "yosys": ("yosys",), "both": _BOTH, "available": _BOTH}

#: Limits for Yosys and GHDL: seconds, megabytes.
_LIMITS = Limits(600, 4096)


def _is_vhdl(design: RtlDesign) -> bool:
    return any(map(is_vhdl, design.sources))


@dataclass(frozen=True)
class RtlReader:
    """One front end, or two whose results are compared. ``folder``: where Yosys may work.

    ``bitwise``: the design is a netlist. ``foreign``: the design is user RTL. ``machine``: the design has state, which
    may be in memories.
    """

    front_end: str
    folder: Path
    bitwise: bool = False
    foreign: bool = False
    machine: bool = False

    @classmethod
    def of(cls, front_end: str, design: RtlDesign, folder: Path, **how: bool) -> RtlReader:
        """Return the reader of ``design``. ``how``: the other fields.

        VHDL has one reader, GHDL: slang and Yosys would read the same text, made from GHDL's netlist. Raises
        ``RequestError`` if two are required.
        """
        if _is_vhdl(design) and front_end == "both":
            raise RequestError.of(
                "{front_end} must not be 'both' for VHDL, which only GHDL reads; leave {front_end} out",
            )
        return cls("slang" if _is_vhdl(design) and front_end == "available" else front_end, folder, **how)

    @property
    def lenient(self) -> bool:
        """True if Yosys may be missing, or refuse the RTL."""
        return self.front_end == "available"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the front ends; the netlist of the first one is proved first."""
        return FRONT_ENDS[self.front_end]

    def what_reads(self, design: RtlDesign) -> tuple[str, ...]:
        """Return the front ends of the proof. Raises ``ToolError`` if Yosys or GHDL is needed and missing."""
        versions = []
        if "yosys" in self.names:
            try:
                versions = [f"yosys {tools.yosys().version}"]
            except ToolError:
                if not self.lenient:
                    raise
        return (self.front_end, *versions, *([f"ghdl {tools.ghdl().version}"] if _is_vhdl(design) else []))

    def front_ends(self, design: RtlDesign) -> tuple[str, ...]:
        """Return the independent readers of the RTL: of VHDL only GHDL, whose netlist slang or Yosys gets."""
        return ("ghdl",) if _is_vhdl(design) else self.names

    def files(self, design: RtlDesign) -> dict[str, Path]:
        """Return the files that the RTL reads, by their names in the RTL."""
        return {file.name: file.path for file in design.data}

    def in_verilog(self, design: RtlDesign) -> RtlDesign:
        """Return the design in Verilog; GHDL's synthesis converts VHDL. Raises ``InputError`` or ``ToolError``."""
        if not _is_vhdl(design):
            return design
        if not all(map(is_vhdl, design.sources)):
            raise ProofError("RTL in two languages, VHDL and Verilog; a proof can read only one of them")
        from dais_verif.verbs.proof.vhdl_probe import require_read

        require_read(self.folder.with_name("ghdl_probe"), _LIMITS)
        form = in_verilog(design.sources, design.top, design.data, self.folder.with_name("ghdl"), _LIMITS)
        return replace(design, sources=(form,), data=())

    def doubted(self, design: RtlDesign) -> Netlist:
        """Return ``design``, in Verilog, with other readings of its operators. Raises ``InputError``."""
        from dais_verif.prover import slang

        return slang.elaborate(design.sources, design.top, self.files(design), self.bitwise, doubting=True)

    @contextmanager
    def readable(self, name: str, design: RtlDesign) -> Iterator[Callable[[], Netlist]]:
        """Yield a function that reads ``design``, in Verilog, with one front end: at every call, in any thread.

        Yosys runs beforehand, in the caller's thread: Ctrl-C reaches the main thread, which kills its processes. Raises
        ``InputError`` for RTL that is refused, ``ToolError`` if a tool is missing or fails.
        """
        if name == "slang":
            from dais_verif.prover import slang

            yield lambda: slang.elaborate(design.sources, design.top, self.files(design), self.bitwise)
            return
        from dais_verif.prover import slang, yosys

        if self.lenient or self.names == ("yosys",):  # no other front end might notice constructs that Yosys misreads
            slang.refuse_misread(design.sources, design.top, self.files(design))
        form = elaborated(design.sources, design.top, design.data, self.folder, _LIMITS, words=self.machine)

        def read() -> Netlist:
            if self.names == ("yosys",):  # Yosys ignores sensitivity lists and delays
                slang.refuse_events(design.sources, design.top, self.files(design))
            try:
                return yosys.elaborate(form, design.top)._replace(included=included_by(design.sources))
            except InputError as error:
                raise ProofError(shown(str(error), design.sources)) from None

        try:
            yield read
        finally:
            form.unlink()  # the file is large, and the script in the same folder can write it again
