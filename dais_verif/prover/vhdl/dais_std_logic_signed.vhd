-- The functions of ieee.std_logic_signed, which is no standard, by those of dais_numeric_std. Integers are cut as there.
library ieee;
use ieee.std_logic_1164.all;
use work.dais_numeric_std.all;

package dais_std_logic_signed is
  function "+" (l : std_logic_vector; r : std_logic_vector) return std_logic_vector;
  function "+" (l : std_logic_vector; r : integer) return std_logic_vector;
  function "+" (l : integer; r : std_logic_vector) return std_logic_vector;
  function "+" (l : std_logic_vector; r : std_logic) return std_logic_vector;
  function "+" (l : std_logic; r : std_logic_vector) return std_logic_vector;
  function "-" (l : std_logic_vector; r : std_logic_vector) return std_logic_vector;
  function "-" (l : std_logic_vector; r : integer) return std_logic_vector;
  function "-" (l : integer; r : std_logic_vector) return std_logic_vector;
  function "-" (l : std_logic_vector; r : std_logic) return std_logic_vector;
  function "-" (l : std_logic; r : std_logic_vector) return std_logic_vector;
  function "+" (l : std_logic_vector) return std_logic_vector;
  function "-" (l : std_logic_vector) return std_logic_vector;
  function "abs" (l : std_logic_vector) return std_logic_vector;
  function "*" (l : std_logic_vector; r : std_logic_vector) return std_logic_vector;
  function "<" (l : std_logic_vector; r : std_logic_vector) return boolean;
  function "<" (l : std_logic_vector; r : integer) return boolean;
  function "<" (l : integer; r : std_logic_vector) return boolean;
  function "<=" (l : std_logic_vector; r : std_logic_vector) return boolean;
  function "<=" (l : std_logic_vector; r : integer) return boolean;
  function "<=" (l : integer; r : std_logic_vector) return boolean;
  function ">" (l : std_logic_vector; r : std_logic_vector) return boolean;
  function ">" (l : std_logic_vector; r : integer) return boolean;
  function ">" (l : integer; r : std_logic_vector) return boolean;
  function ">=" (l : std_logic_vector; r : std_logic_vector) return boolean;
  function ">=" (l : std_logic_vector; r : integer) return boolean;
  function ">=" (l : integer; r : std_logic_vector) return boolean;
  function "=" (l : std_logic_vector; r : std_logic_vector) return boolean;
  function "=" (l : std_logic_vector; r : integer) return boolean;
  function "=" (l : integer; r : std_logic_vector) return boolean;
  function "/=" (l : std_logic_vector; r : std_logic_vector) return boolean;
  function "/=" (l : std_logic_vector; r : integer) return boolean;
  function "/=" (l : integer; r : std_logic_vector) return boolean;
  function shl (arg : std_logic_vector; count : std_logic_vector) return std_logic_vector;
  function shr (arg : std_logic_vector; count : std_logic_vector) return std_logic_vector;
  function conv_integer (arg : std_logic_vector) return integer;
end package;

package body dais_std_logic_signed is
  function bit_of (b : std_logic; length : natural) return unsigned is
    variable found : unsigned(length - 1 downto 0) := (others => '0');
  begin
    found(0) := b;
    return found;
  end;

  function "+" (l : std_logic_vector; r : std_logic_vector) return std_logic_vector is begin
    return std_logic_vector(signed(l) + signed(r));
  end;

  function "+" (l : std_logic_vector; r : integer) return std_logic_vector is begin
    return std_logic_vector(signed(l) + to_signed(r, l'length));
  end;

  function "+" (l : integer; r : std_logic_vector) return std_logic_vector is begin
    return std_logic_vector(to_signed(l, r'length) + signed(r));
  end;

  function "+" (l : std_logic_vector; r : std_logic) return std_logic_vector is begin
    return std_logic_vector(unsigned(l) + bit_of(r, l'length));
  end;

  function "+" (l : std_logic; r : std_logic_vector) return std_logic_vector is begin
    return std_logic_vector(bit_of(l, r'length) + unsigned(r));
  end;

  function "-" (l : std_logic_vector; r : std_logic_vector) return std_logic_vector is begin
    return std_logic_vector(signed(l) - signed(r));
  end;

  function "-" (l : std_logic_vector; r : integer) return std_logic_vector is begin
    return std_logic_vector(signed(l) - to_signed(r, l'length));
  end;

  function "-" (l : integer; r : std_logic_vector) return std_logic_vector is begin
    return std_logic_vector(to_signed(l, r'length) - signed(r));
  end;

  function "-" (l : std_logic_vector; r : std_logic) return std_logic_vector is begin
    return std_logic_vector(unsigned(l) - bit_of(r, l'length));
  end;

  function "-" (l : std_logic; r : std_logic_vector) return std_logic_vector is begin
    return std_logic_vector(bit_of(l, r'length) - unsigned(r));
  end;

  function "+" (l : std_logic_vector) return std_logic_vector is begin
    return l;
  end;

  function "-" (l : std_logic_vector) return std_logic_vector is begin
    return std_logic_vector(-signed(l));
  end;

  function "abs" (l : std_logic_vector) return std_logic_vector is begin
    return std_logic_vector(abs signed(l));
  end;

  function "*" (l : std_logic_vector; r : std_logic_vector) return std_logic_vector is begin
    return std_logic_vector(signed(l) * signed(r));
  end;

  function "<" (l : std_logic_vector; r : std_logic_vector) return boolean is begin
    return signed(l) < signed(r);
  end;

  function "<" (l : std_logic_vector; r : integer) return boolean is begin
    return signed(l) < to_signed(r, l'length);
  end;

  function "<" (l : integer; r : std_logic_vector) return boolean is begin
    return to_signed(l, r'length) < signed(r);
  end;

  function "<=" (l : std_logic_vector; r : std_logic_vector) return boolean is begin
    return signed(l) <= signed(r);
  end;

  function "<=" (l : std_logic_vector; r : integer) return boolean is begin
    return signed(l) <= to_signed(r, l'length);
  end;

  function "<=" (l : integer; r : std_logic_vector) return boolean is begin
    return to_signed(l, r'length) <= signed(r);
  end;

  function ">" (l : std_logic_vector; r : std_logic_vector) return boolean is begin
    return signed(l) > signed(r);
  end;

  function ">" (l : std_logic_vector; r : integer) return boolean is begin
    return signed(l) > to_signed(r, l'length);
  end;

  function ">" (l : integer; r : std_logic_vector) return boolean is begin
    return to_signed(l, r'length) > signed(r);
  end;

  function ">=" (l : std_logic_vector; r : std_logic_vector) return boolean is begin
    return signed(l) >= signed(r);
  end;

  function ">=" (l : std_logic_vector; r : integer) return boolean is begin
    return signed(l) >= to_signed(r, l'length);
  end;

  function ">=" (l : integer; r : std_logic_vector) return boolean is begin
    return to_signed(l, r'length) >= signed(r);
  end;

  function "=" (l : std_logic_vector; r : std_logic_vector) return boolean is begin
    return signed(l) = signed(r);
  end;

  function "=" (l : std_logic_vector; r : integer) return boolean is begin
    return signed(l) = to_signed(r, l'length);
  end;

  function "=" (l : integer; r : std_logic_vector) return boolean is begin
    return to_signed(l, r'length) = signed(r);
  end;

  function "/=" (l : std_logic_vector; r : std_logic_vector) return boolean is begin
    return signed(l) /= signed(r);
  end;

  function "/=" (l : std_logic_vector; r : integer) return boolean is begin
    return signed(l) /= to_signed(r, l'length);
  end;

  function "/=" (l : integer; r : std_logic_vector) return boolean is begin
    return to_signed(l, r'length) /= signed(r);
  end;

  function shl (arg : std_logic_vector; count : std_logic_vector) return std_logic_vector is begin
    return std_logic_vector(shift_left(signed(arg), to_integer(unsigned(count))));
  end;

  function shr (arg : std_logic_vector; count : std_logic_vector) return std_logic_vector is begin
    return std_logic_vector(shift_right(signed(arg), to_integer(unsigned(count))));
  end;

  function conv_integer (arg : std_logic_vector) return integer is begin
    return to_integer(signed(arg));
  end;
end package body;
