"""Check, once for each GHDL, that its synthesis reads operators of VHDL as its own simulation computes them.

The reading of VHDL for a proof rests on a few operators of GHDL's synthesis, which differ between its versions. What
GHDL does is therefore tried, not looked up by its version: an entity with all operators is simulated for all its
inputs, and what a proof reads is evaluated for them.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from hashlib import sha256
from pathlib import Path

import numpy as np

from dais_verif.base.cache_folder import cache_dir
from dais_verif.base.errors import ProofFailure
from dais_verif.base.files import write_atomically
from dais_verif.base.toolchain import tools
from dais_verif.base.toolchain.limits import Limits, run_limited
from dais_verif.prover import slang
from dais_verif.prover.netlist import Cone
from dais_verif.prover.terms import extract, leaves, var
from dais_verif.prover.terms.evaluate import evaluate
from dais_verif.prover.vhdl import packages as vhdl_packages
from dais_verif.prover.vhdl import reading as vhdl

__all__ = ["OPERATORS", "bench_of", "misread", "require_read"]

#: Expressions of the unsigned and signed vectors ``u``, ``v``, ``s``, ``t`` of four bits, of the integers ``m``, ``n``
#: (signed) and ``k`` (natural), and of constants, by name; the result is a vector of at most eight bits.
OPERATORS = {
    **{f"unsigned {op}": f"resize(u {op} v, 8)" for op in ("+", "-", "*", "and", "or", "xor", "nand", "nor", "xnor")},
    **{f"signed {op}": f"unsigned(resize(s {op} t, 8))" for op in ("+", "-", "*")},
    **{f"unsigned {op}": f'resize(u {op} (v or "0001"), 8)' for op in ("/", "mod", "rem")},
    **{f"signed {op}": f'unsigned(resize(s {op} (t or "0001"), 8))' for op in ("/", "mod", "rem")},
    **{f"unsigned {op}": f"bit(u {op} v) & bit(u {op} k) & bit(u {op} 20)" for op in ("<", "<=", "=", "/=")},
    **{f"signed {op}": f"bit(s {op} t) & bit(s {op} n) & bit(s {op} -20)" for op in ("<", "<=", "=", "/=")},
    "narrowing resize": "unsigned(resize(s, 2)) & unsigned(resize(resize(s, 7), 3)) & resize(u, 3)",
    "shift by a signal": "shift_left(u, k) & shift_right(u, k)",
    "signed shift by a signal": "unsigned(shift_left(s, k)) & unsigned(shift_right(s, k))",
    "shift by a number": "shift_right(u, 1) & unsigned(shift_right(s, 2))",
    "shift beyond the length": "shift_left(u, 9) & unsigned(shift_right(s, 9))",
    "rotation": "rotate_left(u, k) & rotate_right(u, 7)",
    "constants": 'resize("10110" / u5 + "1011" * u5 - shift_right(u5, 1), 8)',
    "signed constants": 'unsigned(resize(s5 / "011", 4)) & unsigned(resize(s5 * s5 - s5, 4))',
    "comparisons of constants": 'bit(s5 < "00011") & bit(u5 < "00011") & bit(s5 = -3)',
    "conversions": "to_unsigned(k, 4) & unsigned(to_signed(n, 4))",
    **{f"integer {op}": f"to_unsigned((m {op} n) mod 256, 8)" for op in ("+", "-", "*")},
    **{f"integer {op}": f"to_unsigned((m {op} (2 * n + 1)) mod 256, 8)" for op in ("/", "mod", "rem")},
    **{f"integer {op} by a number": f"to_unsigned((m * n {op} (-3)) mod 256, 8)" for op in ("/", "mod", "rem")},
    "integer sign": "to_unsigned((-m - n) mod 256, 8)",
    "integer <": "bit(m < n) & bit(m <= n) & bit(m = n) & bit(m < 8) & bit(m > -9) & bit(k <= 200) & bit(k > -1)",
    "narrow integers": "to_unsigned(narrow * 3 + 40, 8) & bit(narrow < -9) & bit(narrow = -5)",
    "case": "selected & chosen",
    "arrays": "table(k mod 8) & table(7 - k / 2)",
    "slices": "resize(unsigned(model_inp(6 downto 1)) & unsigned(model_inp(7 downto 7)), 8)",
    "vectors": 'unsigned(not model_inp(3 downto 0)) & unsigned(model_inp(3 downto 0) xor "0110")',
}

_UNIT = """\
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity probe is
  port (model_inp : in std_logic_vector(7 downto 0); model_out : out std_logic_vector({top} downto 0));
end entity;
architecture rtl of probe is
  type numbers is array (0 to 7) of unsigned(3 downto 0);
  constant table : numbers := ("0011", "1010", "0000", "1111", "0110", "0101", "1001", "1100");
  constant u5 : unsigned(4 downto 0) := "01101";
  constant s5 : signed(4 downto 0) := "11101";
  signal u, v, selected, chosen : unsigned(3 downto 0);
  signal s, t : signed(3 downto 0);
  signal m, n, narrow : integer range -13 to 7;
  signal k : natural range 0 to 15;
  function bit(b : boolean) return unsigned is
  begin
    if b then
      return "1";
    else
      return "0";
    end if;
  end function;
begin
  u <= unsigned(model_inp(3 downto 0));
  v <= unsigned(model_inp(7 downto 4));
  s <= signed(model_inp(3 downto 0));
  t <= signed(model_inp(7 downto 4));
  m <= to_integer(s);
  n <= to_integer(t);
  k <= to_integer(v);
  narrow <= to_integer(s) - 5 when s < 0 else to_integer(t) - 5 when t < 0 else to_integer(s);
  process (all)
  begin
    case model_inp(2 downto 0) is
      when "000" => selected <= "0001";
      when "011" | "110" => selected <= v;
      when others => selected <= not u;
    end case;
    case m is
      when -8 to -5 => chosen <= "0010";
      when 0 | 3 | 5 => chosen <= v;
      when others => chosen <= "1000";
    end case;
  end process;
{assignments}
end architecture;
"""

_BENCH = """\
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use std.textio.all;
entity probe_bench is
end entity;
architecture simulation of probe_bench is
  signal x : std_logic_vector(7 downto 0) := (others => '0');
  signal y : std_logic_vector({top} downto 0);
begin
  tried : entity work.probe port map (model_inp => x, model_out => y);
  process
    variable l : line;
  begin
    for i in 0 to 255 loop
      x <= std_logic_vector(to_unsigned(i, 8));
      wait for 1 ns;
      write(l, string'("probe ") & to_string(y));
      writeline(output, l);
    end loop;
    wait;
  end process;
end architecture;
"""

_WIDTH = 8
_STANDARD = "--std=08"


def require_read(folder: Path, limits: Limits) -> None:
    """Raise ``ToolError`` if GHDL misreads an operator; ``folder``: where it may work.

    The answer is kept in the cache, under the hash of GHDL and of all that the answer depends on.
    """
    ghdl = tools.ghdl()
    parts = [
        ghdl.ghdl.resolve().read_bytes(),
        ghdl.version.encode(),
        *map(str.encode, _texts()),
        *vhdl_packages.texts(),
    ]
    key = sha256(b"".join(sha256(part).digest() for part in parts)).hexdigest()
    kept = cache_dir() / "ghdl" / f"{key}.json"
    try:
        wrong = json.loads(kept.read_bytes())
    except (OSError, ValueError):
        wrong = misread(folder, limits)
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(kept, json.dumps(wrong).encode())
    if wrong:
        raise ProofFailure(
            f"GHDL {ghdl.version} reads VHDL for a proof otherwise than it simulates it: {', '.join(wrong)};"
            " install another release, such as 2.0.0 or 5.0.1"
        )


def bench_of(count: int) -> str:
    """Return a bench that runs an entity with ``count`` operators on all inputs, and prints its outputs."""
    return _BENCH.format(top=count * _WIDTH - 1)


def _texts() -> tuple[str, str]:
    count = len(OPERATORS)
    lines = [
        f"  model_out({_WIDTH * n + _WIDTH - 1} downto {_WIDTH * n})"
        f" <= std_logic_vector(resize({expression}, {_WIDTH}));"
        for n, expression in enumerate(OPERATORS.values())
    ]
    return _UNIT.format(top=count * _WIDTH - 1, assignments="\n".join(lines)), bench_of(count)


def misread(
    folder: Path, limits: Limits, operators: Collection[str] = OPERATORS, texts: tuple[str, str] | None = None
) -> list[str]:
    """Return the ``operators`` that the installed GHDL misreads. ``texts``: an entity with them, and its bench."""
    folder.mkdir(parents=True, exist_ok=True)
    unit, bench = folder / "probe.vhd", folder / "probe_bench.vhd"
    for path, text in zip((unit, bench), texts or _texts(), strict=True):
        path.write_text(text, encoding="ascii")
    ghdl, log = str(tools.ghdl().ghdl), folder / "simulation.log"
    run_limited("ghdl", [ghdl, "-a", _STANDARD, "-fsynopsys", unit.name, bench.name], folder / "analysis.log", limits)
    run_limited(
        "ghdl", [ghdl, "--elab-run", _STANDARD, "-fsynopsys", "probe_bench", "--ieee-asserts=disable"], log, limits
    )
    said = [line.removeprefix("probe ") for line in log.read_text(encoding="ascii").splitlines() if "probe " in line]
    if [len(line) for line in said] != [len(operators) * _WIDTH] * (1 << _WIDTH):
        raise ProofFailure(f"GHDL's simulation of its operators ended early (output: {log})")
    form = vhdl.in_verilog([unit], "probe", [], folder / "ghdl", limits)
    count = len(operators)
    tables = [[int(bits[_place(n, count)], 2) for bits in said] for n in range(count)]
    read = [_read(form, ones, count) for ones in (False, True)]
    return [name for n, name in enumerate(operators) if any(one[n] != tables[n] for one in read)]


def _place(number: int, count: int) -> slice:
    """Return the bits of the output of an operator in the whole output, as text."""
    end = (count - number) * _WIDTH
    return slice(end - _WIDTH, end)


def _read(form: Path, ones: bool, count: int) -> list[list[int]]:
    """Return the values that a proof reads for all inputs, by operator, with undefined bits at 0 or at 1."""
    netlist = slang.elaborate([form], "probe", {})
    entry, output = netlist.signals["model_inp"], netlist.signals["model_out"]
    word = var(_WIDTH, "x")
    cone = Cone(lambda signal, low, width: extract(word, low, width) if signal is entry else None)
    terms = [cone.read(output, n * _WIDTH, _WIDTH) for n in range(count)]
    rows = 1 << _WIDTH
    given = {leaf: np.full(rows, (1 << leaf.width) - 1 if ones else 0, dtype=object) for leaf in leaves(*terms)}
    values = evaluate(terms, {**given, word: np.arange(rows).astype(object)})
    return [[int(value) for value in np.broadcast_to(column, (rows,))] for column in values]
