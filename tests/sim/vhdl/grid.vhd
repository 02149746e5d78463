library ieee;
use ieee.numeric_std.all;

package grid is
  -- An unsigned value on a finer grid, with a sign.
  function up(value : unsigned; places, width : natural) return signed;
end package;

package body grid is
  function up(value : unsigned; places, width : natural) return signed is
  begin
    return signed(shift_left(resize(value, width), places));
  end function;
end package body;
