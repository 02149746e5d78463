"""Valid names of modules and signals in Verilog."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dais_verif.base.errors import RequestError

__all__ = ["Names", "is_module_name", "require_module_name"]

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*")

_WORDS = """
accept_on alias always always_comb always_ff always_latch and assert assign assume automatic before begin bind bins
binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class clocking cmos config const
constraint context continue cover covergroup coverpoint cross deassign default defparam design disable dist do edge
else end endcase endchecker endclass endclocking endconfig endfunction endgenerate endgroup endinterface endmodule
endpackage endprimitive endprogram endproperty endsequence endspecify endtable endtask enum event eventually expect
export extends extern final first_match for force foreach forever fork forkjoin function generate genvar global
highz0 highz1 if iff ifnone ignore_bins illegal_bins implements implies import incdir include initial inout input
inside instance int integer interconnect interface intersect join join_any join_none large let liblist library local
localparam logic longint macromodule matches medium modport module nand negedge nettype new nexttime nmos nor
noshowcancelled not notif0 notif1 null or output package packed parameter pmos posedge primitive priority program
property protected pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase
randsequence rcmos real realtime ref reg reject_on release repeat restrict return rnmos rpmos rtran rtranif0
rtranif1 s_always s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal showcancelled
signed small soft solve specify specparam static string strong strong0 strong1 struct super supply0 supply1
sync_accept_on sync_reject_on table tagged task this throughout time timeprecision timeunit tran tranif0 tranif1 tri
tri0 tri1 triand trior trireg type typedef union unique unique0 unsigned until until_with untyped use uwire var
vectored virtual void wait wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor
"""

#: Keywords, which cannot be module names: of Verilog-2005 and, since Verilator reads both, of SystemVerilog.
_KEYWORDS = frozenset(_WORDS.split())


def is_module_name(text: object) -> bool:
    """Return True if a module can have the name ``text``."""
    return isinstance(text, str) and _IDENTIFIER.fullmatch(text) is not None and text not in _KEYWORDS


def require_module_name(top: str) -> None:
    """Raise ``RequestError`` unless ``top`` can be the name of a module."""
    if not is_module_name(top):
        raise RequestError.of(
            "{top} must be a Verilog module name (letters, digits, _ and $, and no keyword), not {value!r}.", value=top
        )


class Names:
    """The names of one scope, which are unique identifiers."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def take(self, wanted: str) -> str:
        """Return a free name, and mark it as taken: ``wanted`` itself if possible."""
        name = re.sub(r"[^A-Za-z0-9_]", "_", wanted)
        while not is_module_name(name):
            name = f"s_{name}"
        free, number = name, 2
        while free in self._taken:
            free, number = f"{name}_{number}", number + 1
        self._taken.add(free)
        return free

    def take_all(self, wanted: Iterable[str]) -> dict[str, str]:
        """Return a name for each of ``wanted``; names that are identifiers stay as they are, and others avoid them."""
        names = list(wanted)
        first = [name for name in names if re.fullmatch(r"\w+", name, re.ASCII) and is_module_name(name)]
        found = {name: self.take(name) for name in dict.fromkeys([*first, *names])}
        return {name: found[name] for name in names}
