"""VHDL whose simulation differs from its synthesis is refused by its text; other VHDL is accepted."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import pytest
from support.said import raises

from dais_verif.base.errors import StateError
from dais_verif.prover.vhdl.events import _signals, begins_slice, refuse_events, refuse_misread

HEAD = """library ieee; use ieee.std_logic_1164.all;
entity model is port (clk, rst : in std_logic; a, b : in std_logic_vector(3 downto 0); y : out std_logic); end;
architecture rtl of model is
  signal q, r, c2 : std_logic; signal s : std_logic_vector(3 downto 0); -- a wait after all
  signal t : work.p.pair; alias d : std_logic_vector(3 downto 0) is b;
  impure function of_b(x : std_logic_vector) return std_logic is begin return x(0) xor b(0); end;
  procedure calls_of_b(signal x : in std_logic_vector; signal o : out std_logic) is begin
    if x(0) = '1' then o <= of_b(x); end if; end;
  procedure swap(x : in bits; variable y : out bits) is begin y(0) := x(1); y(1) := x(0); end;
  procedure next_of(x : in bits; y : out bits) is begin y := x + 1; end procedure next_of;
  procedure both(constant x : bits; y, z : inout bits) is begin y := x; z := y; end;
  procedure passed(signal x : in std_logic_vector; signal o : out std_logic) is begin o <= x(0); end;
begin
"""

C2 = "c2 <= clk;"
CLOCKED = "process (clk) begin if rising_edge(clk) then q <= r; end if; end process;"


def looked_at(body: str, folder: Path) -> None:
    (folder / "m.vhd").write_text(f"{HEAD}{body}\nend;\n")
    refuse_events([folder / "m.vhd"])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("y <= a(0) after 5 ns;", "a delay"),
        ("Y <= a(0) AFTER 5 ns;", "a delay"),
        ("process (a) begin y <= a(0) xor b(0); end process;", "reads 'b'"),
        ("process (a(0), b) begin y <= a(0) xor b(0); end process;", "signals"),
        ("process (a) begin if b(0) = '1' then y <= a(0); else y <= a(1); end if; end process;", "reads 'b'"),
        ("process (clk) begin if rising_edge(clk) then q <= a(0); end if; y <= q; end process;", "reads 'q'"),
        ("process (clk) begin if rst = '1' then q <= '0'; elsif rising_edge(clk) then q <= r; end if; end process;",
         "reads 'rst'"),
        ("process begin y <= a(0); wait on a; end process;", ""),
        ("process begin y <= a(0); wait for 5 ns; end process;", ""),
        ("process (a) begin case b is when \"0000\" => y <= '0'; when others => y <= a(0); end case; end process;",
         "reads 'b'"),
        ("process (a) begin y <= '1' when a = b else '0'; end process;", "reads 'b'"),
        ("c2 <= clk; process (c2) begin if rising_edge(c2) then q <= a(0); end if; end process;", "clock 'c2'"),
        ("c2 <= clk; process (c2) begin if c2'event and c2 = '1' then q <= r; end if; end process;", "clock 'c2'"),
        ("c2 <= clk; u : entity work.reg port map (clk => c2, d => q);"
         " process (clk) begin if rising_edge(clk) then q <= r; end if; end process;", "clock 'c2'"),
        (f"{C2} u : entity work.reg port map (c2, q); {CLOCKED}", ""),
        (f"u : entity work.reg port map (to_x01(clk), q); {CLOCKED}", ""),
        (f"{C2} u : entity work.reg port map (clk => to_x01(c2), d => q); {CLOCKED}", "clock 'c2'"),
        (f"{C2} u : entity work.reg port map (clk(0) => c2, d => q); {CLOCKED}", "clock 'c2'"),
        (f"u : entity work.buf port map (i => a(0), clk => c2); c2 <= a(0); {CLOCKED}", "clock 'c2'"),
        ("s(0) <= clk; process (s) begin if rising_edge(s(0)) then q <= r; end if; end process;", "clock 's'"),
        (f"(c2, r) <= a(1 downto 0); {CLOCKED.replace('clk', 'c2')}", "clock 'c2'"),
        (f"with rst select c2 <= clk when '0', '0' when others; {CLOCKED.replace('clk', 'c2')}", "clock 'c2'"),
        ("c2 <= clk; process begin wait until c2 = '1'; q <= r; end process;", "clock 'c2'"),
        ("y <= a(0)'delayed;", "'delayed'"),
        ("process (a) begin y <= a(0) when b <= 3 else '0'; end process;", "reads 'b'"),
        ("process (a) begin for i in 0 to 3 loop exit when b <= i; y <= a(i); end loop; end process;", "reads 'b'"),
        ("process (a) begin y <= f(a, n => b <= 3); end process;", "reads 'b'"),
        ("process (a) begin s(to_integer(b)) <= a(0); end process;", "reads 'b'"),
        ("process (t.x) begin y <= t.x xor t.z; end process;", "reads 't'"),
        ("process (a) begin y <= a(0) xor d(0); end process;", "reads 'b'"),
        ("y <= of_b(a);", "'of_b' reads signals"),
        ("calls_of_b(a, y);", "'calls_of_b' reads signals"),
        ("process (a) begin y <= of_b(a); end process;", ""),
        ("process (all) begin swap(v, v); end process;", ""),
        ("process (all) begin swap(y => v, x => v(3 downto 0)); end process;", ""),
        ("process (all) begin both(v, w.a, w.b); end process;", ""),
        ("bb : block is signal n : wired bit; begin end block;", "'wired'"),
        ("bb : block is subtype n is work.p.wired bit; begin end block;", "'wired'"),
        ("y <= << signal .top.u.q : std_logic >>;", ""),
    ],
)  # fmt: skip
def test_what_simulates_otherwise(body: str, message: str, tmp_path: Path) -> None:
    with raises(StateError, match=message):
        looked_at(body, tmp_path)


@pytest.mark.parametrize(
    "body",
    [
        "y <= a(0); s <= a and b;",
        "process (a) begin s(2) <= a(0); s(3 downto 0) <= a; lab : y <= a(1); end process;",
        "process (t.x, t.z) begin y <= t.x xor t.z; end process;",
        "process (d) begin y <= d(0); end process;",
        "process (a) variable b : bit; begin b := a(0); y <= b; end process;",
        "process (all) begin y <= of_b(a); end process;",
        "passed(a, y);",
        "process (all) begin swap(v, w); next_of(v, v); both(v + 1, v, w); end process;",
        "bb : block is signal n : resolved std_ulogic; signal m : natural range 0 to 3; begin end block;",
        "process (a) begin if a = b\"0011\" then y <= '0'; else y <= a(0); end if; end process;",
        "process (all) begin y <= a(0) xor b(0); end process;",
        "process (a, b) begin y <= a(0) xor b(0); end process;",
        "process (a, b) variable v : std_logic; begin v := a(0); if v = '1' then y <= b(0); else y <= v; end if;"
        " end process;",
        "process (clk) begin if rising_edge(clk) then if rst = '1' then q <= '0'; else q <= a(0); end if; end if;"
        " end process;",
        "process (clk, rst) begin if rst = '1' then q <= '0'; elsif rising_edge(clk) then q <= a(0); end if;"
        " end process;",
        "process (clk) is begin if clk'event and clk = '1' then q <= '1' when a = b else r; end if; end process;",
        "process (a) begin y <= '0'; for i in b'range loop if a(i) = '1' then y <= '1'; end if; end loop; end process;",
        "process begin wait until rising_edge(clk); q <= a(0); end process;",
        "u : entity work.reg port map (clk => clk, d => q);"
        " process (clk) begin if rising_edge(clk) then q <= r; end if; end process;",
        f"u : entity work.logic port map (i => a(0), o => r); {CLOCKED} y <= '1' when (a, b) <= (b, a) else '0';",
        "u : entity work.logic port map (a(0), b(0), y);",  # there is no clock
        "process (a) begin case a is when \"0000\" => y <= '0'; when others => y <= a(1); end case; end process;",
    ],
)
def test_what_simulates_alike(body: str, tmp_path: Path) -> None:
    looked_at(body, tmp_path)


def test_a_port_of_an_entity_in_another_file(tmp_path: Path) -> None:
    entity, architecture = HEAD.split("architecture")
    (tmp_path / "e.vhd").write_text(entity)
    (tmp_path / "a.vhd").write_text(f"architecture{architecture}process (a) begin y <= b(0); end process;\nend;\n")
    with pytest.raises(StateError, match=r"a\.vhd:\d+: .*reads 'b'"):
        refuse_events([tmp_path / "e.vhd", tmp_path / "a.vhd"])


ALIAS = HEAD.replace("begin\n", "  alias c3 : std_logic is c2;\nbegin\n")


def test_a_clock_by_another_name_in_an_alias(tmp_path: Path) -> None:
    (tmp_path / "m.vhd").write_text(f"{ALIAS}{C2} {CLOCKED.replace('clk', 'c3')}\nend;\n")
    with pytest.raises(StateError, match="clock 'c2'"):
        refuse_events([tmp_path / "m.vhd"])


def test_signals_of_a_package(tmp_path: Path) -> None:
    (tmp_path / "p.vhd").write_text(
        "package p is procedure f (signal x : in bit);\n type t is record a : bit; end record; signal g : bit; end p;"
    )
    with raises(StateError):
        refuse_events([tmp_path / "p.vhd"])
    (tmp_path / "p.vhd").write_text("package p is procedure f (signal x : in bit); end p; entity e is end;")
    refuse_events([tmp_path / "p.vhd"])


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("process (all) begin case? a is when \"0---\" => y <= '0'; when others => y <= '1'; end case?; end process;",
         "case"),
        ("with a select? y <= '0' when \"0---\", '1' when others;", "select"),
        ("y <= a ?= \"0---\";", "="),
        ("y <= a ?/= b;", "/="),
        ("y <= '1' when a(0) = 'H' else '0';", "'H'"),
        ("s <= \"01L1\";", "L"),
        ("y <= '1' when a'path_name'length > 9 else '0';", "path_name"),
        ("y <= '1' when a'Instance_Name'length > 9 else '0';", "instance_name"),
        ("y <= '1' when std_match(a, \"0---\") else '0';", "std_match"),
    ],
)  # fmt: skip
def test_a_match_with_any_value_is_refused(body: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "m.vhd").write_text(f"{HEAD}\n\n{body}\nend;\n")
    with pytest.raises(StateError, match=rf"m\.vhd:16: .*{what}"):
        refuse_misread([tmp_path / "m.vhd"])


@pytest.mark.parametrize(
    ("text", "slice_"),
    [
        ("(n + 3 downto n);", True),
        ("(f(1 to 2));", False),
        ("(n\n -- to\n to 3)", True),
        ("(n) & b(1 to 2);", False),
        ("n", False),
    ],
)
def test_the_bounds_of_a_slice(text: str, slice_: bool) -> None:
    assert begins_slice(f"\n\ny <= a{text}", 3, 7) == slice_


def test_the_time_grows_as_the_number_of_signals() -> None:
    """Eight times as many signals took 60 times as long, when each declaration copied the rest of the file."""
    times = []
    for count in (2000, 16000):
        words = [word for n in range(count) for word in ("signal", f"w{n}", ":", "bit", ";")]
        begin = process_time()
        assert len(_signals(words)) == count
        times.append(process_time() - begin)
    assert times[1] < 25 * times[0]
