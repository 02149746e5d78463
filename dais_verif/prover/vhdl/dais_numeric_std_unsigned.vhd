-- The functions of ieee.numeric_std_unsigned, by those of dais_numeric_std.
library ieee;
use ieee.std_logic_1164.all;
use work.dais_numeric_std.all;

package dais_numeric_std_unsigned is
  function "+" (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic_vector;
  function "+" (l : std_ulogic_vector; r : natural) return std_ulogic_vector;
  function "+" (l : natural; r : std_ulogic_vector) return std_ulogic_vector;
  function "+" (l : std_ulogic_vector; r : std_ulogic) return std_ulogic_vector;
  function "+" (l : std_ulogic; r : std_ulogic_vector) return std_ulogic_vector;
  function "-" (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic_vector;
  function "-" (l : std_ulogic_vector; r : natural) return std_ulogic_vector;
  function "-" (l : natural; r : std_ulogic_vector) return std_ulogic_vector;
  function "-" (l : std_ulogic_vector; r : std_ulogic) return std_ulogic_vector;
  function "-" (l : std_ulogic; r : std_ulogic_vector) return std_ulogic_vector;
  function "*" (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic_vector;
  function "*" (l : std_ulogic_vector; r : natural) return std_ulogic_vector;
  function "*" (l : natural; r : std_ulogic_vector) return std_ulogic_vector;
  function "/" (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic_vector;
  function "/" (l : std_ulogic_vector; r : natural) return std_ulogic_vector;
  function "/" (l : natural; r : std_ulogic_vector) return std_ulogic_vector;
  function "rem" (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic_vector;
  function "rem" (l : std_ulogic_vector; r : natural) return std_ulogic_vector;
  function "rem" (l : natural; r : std_ulogic_vector) return std_ulogic_vector;
  function "mod" (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic_vector;
  function "mod" (l : std_ulogic_vector; r : natural) return std_ulogic_vector;
  function "mod" (l : natural; r : std_ulogic_vector) return std_ulogic_vector;
  function "=" (l : std_ulogic_vector; r : std_ulogic_vector) return boolean;
  function "?=" (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic;
  function "=" (l : std_ulogic_vector; r : natural) return boolean;
  function "?=" (l : std_ulogic_vector; r : natural) return std_ulogic;
  function "=" (l : natural; r : std_ulogic_vector) return boolean;
  function "?=" (l : natural; r : std_ulogic_vector) return std_ulogic;
  function "/=" (l : std_ulogic_vector; r : std_ulogic_vector) return boolean;
  function "?/=" (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic;
  function "/=" (l : std_ulogic_vector; r : natural) return boolean;
  function "?/=" (l : std_ulogic_vector; r : natural) return std_ulogic;
  function "/=" (l : natural; r : std_ulogic_vector) return boolean;
  function "?/=" (l : natural; r : std_ulogic_vector) return std_ulogic;
  function "<" (l : std_ulogic_vector; r : std_ulogic_vector) return boolean;
  function "?<" (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic;
  function "<" (l : std_ulogic_vector; r : natural) return boolean;
  function "?<" (l : std_ulogic_vector; r : natural) return std_ulogic;
  function "<" (l : natural; r : std_ulogic_vector) return boolean;
  function "?<" (l : natural; r : std_ulogic_vector) return std_ulogic;
  function ">" (l : std_ulogic_vector; r : std_ulogic_vector) return boolean;
  function "?>" (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic;
  function ">" (l : std_ulogic_vector; r : natural) return boolean;
  function "?>" (l : std_ulogic_vector; r : natural) return std_ulogic;
  function ">" (l : natural; r : std_ulogic_vector) return boolean;
  function "?>" (l : natural; r : std_ulogic_vector) return std_ulogic;
  function "<=" (l : std_ulogic_vector; r : std_ulogic_vector) return boolean;
  function "?<=" (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic;
  function "<=" (l : std_ulogic_vector; r : natural) return boolean;
  function "?<=" (l : std_ulogic_vector; r : natural) return std_ulogic;
  function "<=" (l : natural; r : std_ulogic_vector) return boolean;
  function "?<=" (l : natural; r : std_ulogic_vector) return std_ulogic;
  function ">=" (l : std_ulogic_vector; r : std_ulogic_vector) return boolean;
  function "?>=" (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic;
  function ">=" (l : std_ulogic_vector; r : natural) return boolean;
  function "?>=" (l : std_ulogic_vector; r : natural) return std_ulogic;
  function ">=" (l : natural; r : std_ulogic_vector) return boolean;
  function "?>=" (l : natural; r : std_ulogic_vector) return std_ulogic;
  function minimum (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic_vector;
  function minimum (l : std_ulogic_vector; r : natural) return std_ulogic_vector;
  function minimum (l : natural; r : std_ulogic_vector) return std_ulogic_vector;
  function maximum (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic_vector;
  function maximum (l : std_ulogic_vector; r : natural) return std_ulogic_vector;
  function maximum (l : natural; r : std_ulogic_vector) return std_ulogic_vector;
  function shift_left (arg : std_ulogic_vector; count : natural) return std_ulogic_vector;
  function shift_right (arg : std_ulogic_vector; count : natural) return std_ulogic_vector;
  function rotate_left (arg : std_ulogic_vector; count : natural) return std_ulogic_vector;
  function rotate_right (arg : std_ulogic_vector; count : natural) return std_ulogic_vector;
  function "sla" (arg : std_ulogic_vector; count : integer) return std_ulogic_vector;
  function "sra" (arg : std_ulogic_vector; count : integer) return std_ulogic_vector;
  function resize (arg : std_ulogic_vector; new_size : natural) return std_ulogic_vector;
  function resize (arg, size_res : std_ulogic_vector) return std_ulogic_vector;
  function to_integer (arg : std_ulogic_vector) return natural;
  function find_leftmost (arg : std_ulogic_vector; y : std_ulogic) return integer;
  function find_rightmost (arg : std_ulogic_vector; y : std_ulogic) return integer;
  function to_stdlogicvector (arg, size : natural) return std_ulogic_vector;
  function to_stdlogicvector (arg : natural; size_res : std_ulogic_vector) return std_ulogic_vector;
  function to_stdulogicvector (arg, size : natural) return std_ulogic_vector;
  function to_stdulogicvector (arg : natural; size_res : std_ulogic_vector) return std_ulogic_vector;
end package;

package body dais_numeric_std_unsigned is

  function "+" (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic_vector is begin
    return std_ulogic_vector(unresolved_unsigned(l) + unresolved_unsigned(r));
  end;

  function "+" (l : std_ulogic_vector; r : natural) return std_ulogic_vector is begin
    return std_ulogic_vector(unresolved_unsigned(l) + r);
  end;

  function "+" (l : natural; r : std_ulogic_vector) return std_ulogic_vector is begin
    return std_ulogic_vector(l + unresolved_unsigned(r));
  end;

  function "+" (l : std_ulogic_vector; r : std_ulogic) return std_ulogic_vector is begin
    return std_ulogic_vector(unresolved_unsigned(l) + r);
  end;

  function "+" (l : std_ulogic; r : std_ulogic_vector) return std_ulogic_vector is begin
    return std_ulogic_vector(l + unresolved_unsigned(r));
  end;

  function "-" (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic_vector is begin
    return std_ulogic_vector(unresolved_unsigned(l) - unresolved_unsigned(r));
  end;

  function "-" (l : std_ulogic_vector; r : natural) return std_ulogic_vector is begin
    return std_ulogic_vector(unresolved_unsigned(l) - r);
  end;

  function "-" (l : natural; r : std_ulogic_vector) return std_ulogic_vector is begin
    return std_ulogic_vector(l - unresolved_unsigned(r));
  end;

  function "-" (l : std_ulogic_vector; r : std_ulogic) return std_ulogic_vector is begin
    return std_ulogic_vector(unresolved_unsigned(l) - r);
  end;

  function "-" (l : std_ulogic; r : std_ulogic_vector) return std_ulogic_vector is begin
    return std_ulogic_vector(l - unresolved_unsigned(r));
  end;

  function "*" (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic_vector is begin
    return std_ulogic_vector(unresolved_unsigned(l) * unresolved_unsigned(r));
  end;

  function "*" (l : std_ulogic_vector; r : natural) return std_ulogic_vector is begin
    return std_ulogic_vector(unresolved_unsigned(l) * r);
  end;

  function "*" (l : natural; r : std_ulogic_vector) return std_ulogic_vector is begin
    return std_ulogic_vector(l * unresolved_unsigned(r));
  end;

  function "/" (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic_vector is begin
    return std_ulogic_vector(unresolved_unsigned(l) / unresolved_unsigned(r));
  end;

  function "/" (l : std_ulogic_vector; r : natural) return std_ulogic_vector is begin
    return std_ulogic_vector(unresolved_unsigned(l) / r);
  end;

  function "/" (l : natural; r : std_ulogic_vector) return std_ulogic_vector is begin
    return std_ulogic_vector(l / unresolved_unsigned(r));
  end;

  function "rem" (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic_vector is begin
    return std_ulogic_vector(unresolved_unsigned(l) rem unresolved_unsigned(r));
  end;

  function "rem" (l : std_ulogic_vector; r : natural) return std_ulogic_vector is begin
    return std_ulogic_vector(unresolved_unsigned(l) rem r);
  end;

  function "rem" (l : natural; r : std_ulogic_vector) return std_ulogic_vector is begin
    return std_ulogic_vector(l rem unresolved_unsigned(r));
  end;

  function "mod" (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic_vector is begin
    return std_ulogic_vector(unresolved_unsigned(l) mod unresolved_unsigned(r));
  end;

  function "mod" (l : std_ulogic_vector; r : natural) return std_ulogic_vector is begin
    return std_ulogic_vector(unresolved_unsigned(l) mod r);
  end;

  function "mod" (l : natural; r : std_ulogic_vector) return std_ulogic_vector is begin
    return std_ulogic_vector(l mod unresolved_unsigned(r));
  end;

  function "=" (l : std_ulogic_vector; r : std_ulogic_vector) return boolean is begin
    return unresolved_unsigned(l) = unresolved_unsigned(r);
  end;

  function "?=" (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic is begin
    return unresolved_unsigned(l) ?= unresolved_unsigned(r);
  end;

  function "=" (l : std_ulogic_vector; r : natural) return boolean is begin
    return unresolved_unsigned(l) = r;
  end;

  function "?=" (l : std_ulogic_vector; r : natural) return std_ulogic is begin
    return unresolved_unsigned(l) ?= r;
  end;

  function "=" (l : natural; r : std_ulogic_vector) return boolean is begin
    return l = unresolved_unsigned(r);
  end;

  function "?=" (l : natural; r : std_ulogic_vector) return std_ulogic is begin
    return l ?= unresolved_unsigned(r);
  end;

  function "/=" (l : std_ulogic_vector; r : std_ulogic_vector) return boolean is begin
    return unresolved_unsigned(l) /= unresolved_unsigned(r);
  end;

  function "?/=" (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic is begin
    return unresolved_unsigned(l) ?/= unresolved_unsigned(r);
  end;

  function "/=" (l : std_ulogic_vector; r : natural) return boolean is begin
    return unresolved_unsigned(l) /= r;
  end;

  function "?/=" (l : std_ulogic_vector; r : natural) return std_ulogic is begin
    return unresolved_unsigned(l) ?/= r;
  end;

  function "/=" (l : natural; r : std_ulogic_vector) return boolean is begin
    return l /= unresolved_unsigned(r);
  end;

  function "?/=" (l : natural; r : std_ulogic_vector) return std_ulogic is begin
    return l ?/= unresolved_unsigned(r);
  end;

  function "<" (l : std_ulogic_vector; r : std_ulogic_vector) return boolean is begin
    return unresolved_unsigned(l) < unresolved_unsigned(r);
  end;

  function "?<" (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic is begin
    return unresolved_unsigned(l) ?< unresolved_unsigned(r);
  end;

  function "<" (l : std_ulogic_vector; r : natural) return boolean is begin
    return unresolved_unsigned(l) < r;
  end;

  function "?<" (l : std_ulogic_vector; r : natural) return std_ulogic is begin
    return unresolved_unsigned(l) ?< r;
  end;

  function "<" (l : natural; r : std_ulogic_vector) return boolean is begin
    return l < unresolved_unsigned(r);
  end;

  function "?<" (l : natural; r : std_ulogic_vector) return std_ulogic is begin
    return l ?< unresolved_unsigned(r);
  end;

  function ">" (l : std_ulogic_vector; r : std_ulogic_vector) return boolean is begin
    return unresolved_unsigned(l) > unresolved_unsigned(r);
  end;

  function "?>" (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic is begin
    return unresolved_unsigned(l) ?> unresolved_unsigned(r);
  end;

  function ">" (l : std_ulogic_vector; r : natural) return boolean is begin
    return unresolved_unsigned(l) > r;
  end;

  function "?>" (l : std_ulogic_vector; r : natural) return std_ulogic is begin
    return unresolved_unsigned(l) ?> r;
  end;

  function ">" (l : natural; r : std_ulogic_vector) return boolean is begin
    return l > unresolved_unsigned(r);
  end;

  function "?>" (l : natural; r : std_ulogic_vector) return std_ulogic is begin
    return l ?> unresolved_unsigned(r);
  end;

  function "<=" (l : std_ulogic_vector; r : std_ulogic_vector) return boolean is begin
    return unresolved_unsigned(l) <= unresolved_unsigned(r);
  end;

  function "?<=" (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic is begin
    return unresolved_unsigned(l) ?<= unresolved_unsigned(r);
  end;

  function "<=" (l : std_ulogic_vector; r : natural) return boolean is begin
    return unresolved_unsigned(l) <= r;
  end;

  function "?<=" (l : std_ulogic_vector; r : natural) return std_ulogic is begin
    return unresolved_unsigned(l) ?<= r;
  end;

  function "<=" (l : natural; r : std_ulogic_vector) return boolean is begin
    return l <= unresolved_unsigned(r);
  end;

  function "?<=" (l : natural; r : std_ulogic_vector) return std_ulogic is begin
    return l ?<= unresolved_unsigned(r);
  end;

  function ">=" (l : std_ulogic_vector; r : std_ulogic_vector) return boolean is begin
    return unresolved_unsigned(l) >= unresolved_unsigned(r);
  end;

  function "?>=" (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic is begin
    return unresolved_unsigned(l) ?>= unresolved_unsigned(r);
  end;

  function ">=" (l : std_ulogic_vector; r : natural) return boolean is begin
    return unresolved_unsigned(l) >= r;
  end;

  function "?>=" (l : std_ulogic_vector; r : natural) return std_ulogic is begin
    return unresolved_unsigned(l) ?>= r;
  end;

  function ">=" (l : natural; r : std_ulogic_vector) return boolean is begin
    return l >= unresolved_unsigned(r);
  end;

  function "?>=" (l : natural; r : std_ulogic_vector) return std_ulogic is begin
    return l ?>= unresolved_unsigned(r);
  end;

  function minimum (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic_vector is begin
    return std_ulogic_vector(minimum(unresolved_unsigned(l), unresolved_unsigned(r)));
  end;

  function minimum (l : std_ulogic_vector; r : natural) return std_ulogic_vector is begin
    return std_ulogic_vector(minimum(unresolved_unsigned(l), r));
  end;

  function minimum (l : natural; r : std_ulogic_vector) return std_ulogic_vector is begin
    return std_ulogic_vector(minimum(l, unresolved_unsigned(r)));
  end;

  function maximum (l : std_ulogic_vector; r : std_ulogic_vector) return std_ulogic_vector is begin
    return std_ulogic_vector(maximum(unresolved_unsigned(l), unresolved_unsigned(r)));
  end;

  function maximum (l : std_ulogic_vector; r : natural) return std_ulogic_vector is begin
    return std_ulogic_vector(maximum(unresolved_unsigned(l), r));
  end;

  function maximum (l : natural; r : std_ulogic_vector) return std_ulogic_vector is begin
    return std_ulogic_vector(maximum(l, unresolved_unsigned(r)));
  end;

  function shift_left (arg : std_ulogic_vector; count : natural) return std_ulogic_vector is begin
    return std_ulogic_vector(shift_left(unresolved_unsigned(arg), count));
  end;

  function shift_right (arg : std_ulogic_vector; count : natural) return std_ulogic_vector is begin
    return std_ulogic_vector(shift_right(unresolved_unsigned(arg), count));
  end;

  function rotate_left (arg : std_ulogic_vector; count : natural) return std_ulogic_vector is begin
    return std_ulogic_vector(rotate_left(unresolved_unsigned(arg), count));
  end;

  function rotate_right (arg : std_ulogic_vector; count : natural) return std_ulogic_vector is begin
    return std_ulogic_vector(rotate_right(unresolved_unsigned(arg), count));
  end;

  function "sla" (arg : std_ulogic_vector; count : integer) return std_ulogic_vector is begin
    return std_ulogic_vector(unresolved_unsigned(arg) sla count);
  end;

  function "sra" (arg : std_ulogic_vector; count : integer) return std_ulogic_vector is begin
    return std_ulogic_vector(unresolved_unsigned(arg) sra count);
  end;

  function resize (arg : std_ulogic_vector; new_size : natural) return std_ulogic_vector is begin
    return std_ulogic_vector(resize(unresolved_unsigned(arg), new_size));
  end;

  function resize (arg, size_res : std_ulogic_vector) return std_ulogic_vector is begin
    return std_ulogic_vector(resize(unresolved_unsigned(arg), size_res'length));
  end;

  function to_integer (arg : std_ulogic_vector) return natural is begin
    return to_integer(unresolved_unsigned(arg));
  end;

  function find_leftmost (arg : std_ulogic_vector; y : std_ulogic) return integer is begin
    return find_leftmost(unresolved_unsigned(arg), y);
  end;

  function find_rightmost (arg : std_ulogic_vector; y : std_ulogic) return integer is begin
    return find_rightmost(unresolved_unsigned(arg), y);
  end;

  function to_stdlogicvector (arg, size : natural) return std_ulogic_vector is begin
    return std_ulogic_vector(to_unsigned(arg, size));
  end;

  function to_stdlogicvector (arg : natural; size_res : std_ulogic_vector) return std_ulogic_vector is begin
    return std_ulogic_vector(to_unsigned(arg, size_res'length));
  end;

  function to_stdulogicvector (arg, size : natural) return std_ulogic_vector is begin
    return std_ulogic_vector(to_unsigned(arg, size));
  end;

  function to_stdulogicvector (arg : natural; size_res : std_ulogic_vector) return std_ulogic_vector is begin
    return std_ulogic_vector(to_unsigned(arg, size_res'length));
  end;
end package body;
