library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use work.grid.all;

entity addsub is
  port (
    model_inp : in  std_logic_vector(9 downto 0);
    model_out : out std_logic_vector(15 downto 0)
  );
end entity;

architecture rtl of addsub is
  signal op_0, op_2 : signed(5 downto 0);
  signal op_1, op_3 : unsigned(3 downto 0);
  signal op_4 : signed(8 downto 0);
  signal op_5 : signed(6 downto 0);
begin
  op_0 <= signed(model_inp(5 downto 0));
  op_1 <= unsigned(model_inp(9 downto 6));
  op_2 <= op_0;
  op_3 <= op_1;
  op_4 <= resize(op_2, 9) + up(op_3, 3, 9);
  op_5 <= resize(op_2, 7) - up(op_3, 1, 7);
  model_out <= std_logic_vector(op_5) & std_logic_vector(op_4);
end architecture;
