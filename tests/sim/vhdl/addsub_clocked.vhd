library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use work.grid.all;

-- addsub in two stages, a port for each input and output.
entity addsub_clocked is
  port (
    clk, rst_n, ce, valid_in : in std_ulogic;
    valid_out : out std_ulogic;
    a : in signed(5 downto 0);
    b : in unsigned(3 downto 0);
    sum : out signed(8 downto 0);
    difference : out signed(6 downto 0)
  );
end entity;

architecture rtl of addsub_clocked is
  signal a_held : signed(5 downto 0);
  signal b_held : unsigned(3 downto 0);
  signal valid : std_ulogic;
begin
  process (clk)
  begin
    if rising_edge(clk) then
      if ce = '1' then
        a_held <= a;
        b_held <= b;
        sum <= resize(a_held, 9) + up(b_held, 3, 9);
        difference <= resize(a_held, 7) - up(b_held, 1, 7);
        valid <= valid_in;
        valid_out <= valid;
      end if;
      if rst_n = '0' then
        valid <= '0';
        valid_out <= '0';
      end if;
    end if;
  end process;
end architecture;
