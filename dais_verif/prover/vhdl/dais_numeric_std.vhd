-- The types and functions of ieee.numeric_std, for GHDL's synthesis.
--
-- GHDL's synthesis does not read the bodies of ieee.numeric_std: it has its own reading of each function, and several are
-- wrong. These bodies use its reading only of a few operators on unsigned and signed vectors of one length, which
-- dais-verif checks for each GHDL that it finds (numeric_probe.vhd).
library ieee;
use ieee.std_logic_1164.all;

package dais_numeric_std is
  type unresolved_unsigned is array (natural range <>) of std_ulogic;
  type unresolved_signed is array (natural range <>) of std_ulogic;
  alias u_unsigned is unresolved_unsigned;
  alias u_signed is unresolved_signed;
  subtype unsigned is (resolved) unresolved_unsigned;
  subtype signed is (resolved) unresolved_signed;

  -- Signs.
  function "abs" (arg : unresolved_signed) return unresolved_signed;
  function "-" (arg : unresolved_signed) return unresolved_signed;
  -- "+"
  function "+" (l, r : unresolved_unsigned) return unresolved_unsigned;
  function "+" (l : unresolved_unsigned; r : natural) return unresolved_unsigned;
  function "+" (l : natural; r : unresolved_unsigned) return unresolved_unsigned;
  function "+" (l : unresolved_unsigned; r : std_ulogic) return unresolved_unsigned;
  function "+" (l : std_ulogic; r : unresolved_unsigned) return unresolved_unsigned;
  function "+" (l, r : unresolved_signed) return unresolved_signed;
  function "+" (l : unresolved_signed; r : integer) return unresolved_signed;
  function "+" (l : integer; r : unresolved_signed) return unresolved_signed;
  function "+" (l : unresolved_signed; r : std_ulogic) return unresolved_signed;
  function "+" (l : std_ulogic; r : unresolved_signed) return unresolved_signed;
  -- "-"
  function "-" (l, r : unresolved_unsigned) return unresolved_unsigned;
  function "-" (l : unresolved_unsigned; r : natural) return unresolved_unsigned;
  function "-" (l : natural; r : unresolved_unsigned) return unresolved_unsigned;
  function "-" (l : unresolved_unsigned; r : std_ulogic) return unresolved_unsigned;
  function "-" (l : std_ulogic; r : unresolved_unsigned) return unresolved_unsigned;
  function "-" (l, r : unresolved_signed) return unresolved_signed;
  function "-" (l : unresolved_signed; r : integer) return unresolved_signed;
  function "-" (l : integer; r : unresolved_signed) return unresolved_signed;
  function "-" (l : unresolved_signed; r : std_ulogic) return unresolved_signed;
  function "-" (l : std_ulogic; r : unresolved_signed) return unresolved_signed;
  -- "*"
  function "*" (l, r : unresolved_unsigned) return unresolved_unsigned;
  function "*" (l : unresolved_unsigned; r : natural) return unresolved_unsigned;
  function "*" (l : natural; r : unresolved_unsigned) return unresolved_unsigned;
  function "*" (l, r : unresolved_signed) return unresolved_signed;
  function "*" (l : unresolved_signed; r : integer) return unresolved_signed;
  function "*" (l : integer; r : unresolved_signed) return unresolved_signed;
  -- "/"
  function "/" (l, r : unresolved_unsigned) return unresolved_unsigned;
  function "/" (l : unresolved_unsigned; r : natural) return unresolved_unsigned;
  function "/" (l : natural; r : unresolved_unsigned) return unresolved_unsigned;
  function "/" (l, r : unresolved_signed) return unresolved_signed;
  function "/" (l : unresolved_signed; r : integer) return unresolved_signed;
  function "/" (l : integer; r : unresolved_signed) return unresolved_signed;
  -- "rem"
  function "rem" (l, r : unresolved_unsigned) return unresolved_unsigned;
  function "rem" (l : unresolved_unsigned; r : natural) return unresolved_unsigned;
  function "rem" (l : natural; r : unresolved_unsigned) return unresolved_unsigned;
  function "rem" (l, r : unresolved_signed) return unresolved_signed;
  function "rem" (l : unresolved_signed; r : integer) return unresolved_signed;
  function "rem" (l : integer; r : unresolved_signed) return unresolved_signed;
  -- "mod"
  function "mod" (l, r : unresolved_unsigned) return unresolved_unsigned;
  function "mod" (l : unresolved_unsigned; r : natural) return unresolved_unsigned;
  function "mod" (l : natural; r : unresolved_unsigned) return unresolved_unsigned;
  function "mod" (l, r : unresolved_signed) return unresolved_signed;
  function "mod" (l : unresolved_signed; r : integer) return unresolved_signed;
  function "mod" (l : integer; r : unresolved_signed) return unresolved_signed;
  -- Comparisons.
  function "=" (l, r : unresolved_unsigned) return boolean;
  function "=" (l : unresolved_unsigned; r : natural) return boolean;
  function "=" (l : natural; r : unresolved_unsigned) return boolean;
  function "=" (l, r : unresolved_signed) return boolean;
  function "=" (l : unresolved_signed; r : integer) return boolean;
  function "=" (l : integer; r : unresolved_signed) return boolean;
  function "/=" (l, r : unresolved_unsigned) return boolean;
  function "/=" (l : unresolved_unsigned; r : natural) return boolean;
  function "/=" (l : natural; r : unresolved_unsigned) return boolean;
  function "/=" (l, r : unresolved_signed) return boolean;
  function "/=" (l : unresolved_signed; r : integer) return boolean;
  function "/=" (l : integer; r : unresolved_signed) return boolean;
  function "<" (l, r : unresolved_unsigned) return boolean;
  function "<" (l : unresolved_unsigned; r : natural) return boolean;
  function "<" (l : natural; r : unresolved_unsigned) return boolean;
  function "<" (l, r : unresolved_signed) return boolean;
  function "<" (l : unresolved_signed; r : integer) return boolean;
  function "<" (l : integer; r : unresolved_signed) return boolean;
  function ">" (l, r : unresolved_unsigned) return boolean;
  function ">" (l : unresolved_unsigned; r : natural) return boolean;
  function ">" (l : natural; r : unresolved_unsigned) return boolean;
  function ">" (l, r : unresolved_signed) return boolean;
  function ">" (l : unresolved_signed; r : integer) return boolean;
  function ">" (l : integer; r : unresolved_signed) return boolean;
  function "<=" (l, r : unresolved_unsigned) return boolean;
  function "<=" (l : unresolved_unsigned; r : natural) return boolean;
  function "<=" (l : natural; r : unresolved_unsigned) return boolean;
  function "<=" (l, r : unresolved_signed) return boolean;
  function "<=" (l : unresolved_signed; r : integer) return boolean;
  function "<=" (l : integer; r : unresolved_signed) return boolean;
  function ">=" (l, r : unresolved_unsigned) return boolean;
  function ">=" (l : unresolved_unsigned; r : natural) return boolean;
  function ">=" (l : natural; r : unresolved_unsigned) return boolean;
  function ">=" (l, r : unresolved_signed) return boolean;
  function ">=" (l : unresolved_signed; r : integer) return boolean;
  function ">=" (l : integer; r : unresolved_signed) return boolean;
  function minimum (l, r : unresolved_unsigned) return unresolved_unsigned;
  function minimum (l : unresolved_unsigned; r : natural) return unresolved_unsigned;
  function minimum (l : natural; r : unresolved_unsigned) return unresolved_unsigned;
  function minimum (l, r : unresolved_signed) return unresolved_signed;
  function minimum (l : unresolved_signed; r : integer) return unresolved_signed;
  function minimum (l : integer; r : unresolved_signed) return unresolved_signed;
  function maximum (l, r : unresolved_unsigned) return unresolved_unsigned;
  function maximum (l : unresolved_unsigned; r : natural) return unresolved_unsigned;
  function maximum (l : natural; r : unresolved_unsigned) return unresolved_unsigned;
  function maximum (l, r : unresolved_signed) return unresolved_signed;
  function maximum (l : unresolved_signed; r : integer) return unresolved_signed;
  function maximum (l : integer; r : unresolved_signed) return unresolved_signed;
  function "?=" (l, r : unresolved_unsigned) return std_ulogic;
  function "?=" (l : unresolved_unsigned; r : natural) return std_ulogic;
  function "?=" (l : natural; r : unresolved_unsigned) return std_ulogic;
  function "?=" (l, r : unresolved_signed) return std_ulogic;
  function "?=" (l : unresolved_signed; r : integer) return std_ulogic;
  function "?=" (l : integer; r : unresolved_signed) return std_ulogic;
  function "?/=" (l, r : unresolved_unsigned) return std_ulogic;
  function "?/=" (l : unresolved_unsigned; r : natural) return std_ulogic;
  function "?/=" (l : natural; r : unresolved_unsigned) return std_ulogic;
  function "?/=" (l, r : unresolved_signed) return std_ulogic;
  function "?/=" (l : unresolved_signed; r : integer) return std_ulogic;
  function "?/=" (l : integer; r : unresolved_signed) return std_ulogic;
  function "?<" (l, r : unresolved_unsigned) return std_ulogic;
  function "?<" (l : unresolved_unsigned; r : natural) return std_ulogic;
  function "?<" (l : natural; r : unresolved_unsigned) return std_ulogic;
  function "?<" (l, r : unresolved_signed) return std_ulogic;
  function "?<" (l : unresolved_signed; r : integer) return std_ulogic;
  function "?<" (l : integer; r : unresolved_signed) return std_ulogic;
  function "?>" (l, r : unresolved_unsigned) return std_ulogic;
  function "?>" (l : unresolved_unsigned; r : natural) return std_ulogic;
  function "?>" (l : natural; r : unresolved_unsigned) return std_ulogic;
  function "?>" (l, r : unresolved_signed) return std_ulogic;
  function "?>" (l : unresolved_signed; r : integer) return std_ulogic;
  function "?>" (l : integer; r : unresolved_signed) return std_ulogic;
  function "?<=" (l, r : unresolved_unsigned) return std_ulogic;
  function "?<=" (l : unresolved_unsigned; r : natural) return std_ulogic;
  function "?<=" (l : natural; r : unresolved_unsigned) return std_ulogic;
  function "?<=" (l, r : unresolved_signed) return std_ulogic;
  function "?<=" (l : unresolved_signed; r : integer) return std_ulogic;
  function "?<=" (l : integer; r : unresolved_signed) return std_ulogic;
  function "?>=" (l, r : unresolved_unsigned) return std_ulogic;
  function "?>=" (l : unresolved_unsigned; r : natural) return std_ulogic;
  function "?>=" (l : natural; r : unresolved_unsigned) return std_ulogic;
  function "?>=" (l, r : unresolved_signed) return std_ulogic;
  function "?>=" (l : unresolved_signed; r : integer) return std_ulogic;
  function "?>=" (l : integer; r : unresolved_signed) return std_ulogic;
  -- Shifts.
  function shift_left (arg : unresolved_unsigned; count : natural) return unresolved_unsigned;
  function shift_right (arg : unresolved_unsigned; count : natural) return unresolved_unsigned;
  function rotate_left (arg : unresolved_unsigned; count : natural) return unresolved_unsigned;
  function rotate_right (arg : unresolved_unsigned; count : natural) return unresolved_unsigned;
  function shift_left (arg : unresolved_signed; count : natural) return unresolved_signed;
  function shift_right (arg : unresolved_signed; count : natural) return unresolved_signed;
  function rotate_left (arg : unresolved_signed; count : natural) return unresolved_signed;
  function rotate_right (arg : unresolved_signed; count : natural) return unresolved_signed;
  function "sll" (arg : unresolved_unsigned; count : integer) return unresolved_unsigned;
  function "sll" (arg : unresolved_signed; count : integer) return unresolved_signed;
  function "srl" (arg : unresolved_unsigned; count : integer) return unresolved_unsigned;
  function "srl" (arg : unresolved_signed; count : integer) return unresolved_signed;
  function "rol" (arg : unresolved_unsigned; count : integer) return unresolved_unsigned;
  function "rol" (arg : unresolved_signed; count : integer) return unresolved_signed;
  function "ror" (arg : unresolved_unsigned; count : integer) return unresolved_unsigned;
  function "ror" (arg : unresolved_signed; count : integer) return unresolved_signed;
  function "sla" (arg : unresolved_unsigned; count : integer) return unresolved_unsigned;
  function "sla" (arg : unresolved_signed; count : integer) return unresolved_signed;
  function "sra" (arg : unresolved_unsigned; count : integer) return unresolved_unsigned;
  function "sra" (arg : unresolved_signed; count : integer) return unresolved_signed;
  -- Lengths and integers.
  function resize (arg : unresolved_unsigned; new_size : natural) return unresolved_unsigned;
  function resize (arg, size_res : unresolved_unsigned) return unresolved_unsigned;
  function resize (arg : unresolved_signed; new_size : natural) return unresolved_signed;
  function resize (arg, size_res : unresolved_signed) return unresolved_signed;
  function to_integer (arg : unresolved_unsigned) return natural;
  function to_integer (arg : unresolved_signed) return integer;
  function to_unsigned (arg, size : natural) return unresolved_unsigned;
  function to_unsigned (arg : natural; size_res : unresolved_unsigned) return unresolved_unsigned;
  function to_signed (arg : integer; size : natural) return unresolved_signed;
  function to_signed (arg : integer; size_res : unresolved_signed) return unresolved_signed;
  -- Logic.
  function "not" (l : unresolved_unsigned) return unresolved_unsigned;
  function "and" (l, r : unresolved_unsigned) return unresolved_unsigned;
  function "and" (l : std_ulogic; r : unresolved_unsigned) return unresolved_unsigned;
  function "and" (l : unresolved_unsigned; r : std_ulogic) return unresolved_unsigned;
  function "or" (l, r : unresolved_unsigned) return unresolved_unsigned;
  function "or" (l : std_ulogic; r : unresolved_unsigned) return unresolved_unsigned;
  function "or" (l : unresolved_unsigned; r : std_ulogic) return unresolved_unsigned;
  function "nand" (l, r : unresolved_unsigned) return unresolved_unsigned;
  function "nand" (l : std_ulogic; r : unresolved_unsigned) return unresolved_unsigned;
  function "nand" (l : unresolved_unsigned; r : std_ulogic) return unresolved_unsigned;
  function "nor" (l, r : unresolved_unsigned) return unresolved_unsigned;
  function "nor" (l : std_ulogic; r : unresolved_unsigned) return unresolved_unsigned;
  function "nor" (l : unresolved_unsigned; r : std_ulogic) return unresolved_unsigned;
  function "xor" (l, r : unresolved_unsigned) return unresolved_unsigned;
  function "xor" (l : std_ulogic; r : unresolved_unsigned) return unresolved_unsigned;
  function "xor" (l : unresolved_unsigned; r : std_ulogic) return unresolved_unsigned;
  function "xnor" (l, r : unresolved_unsigned) return unresolved_unsigned;
  function "xnor" (l : std_ulogic; r : unresolved_unsigned) return unresolved_unsigned;
  function "xnor" (l : unresolved_unsigned; r : std_ulogic) return unresolved_unsigned;
  function "and" (l : unresolved_unsigned) return std_ulogic;
  function "nand" (l : unresolved_unsigned) return std_ulogic;
  function "or" (l : unresolved_unsigned) return std_ulogic;
  function "nor" (l : unresolved_unsigned) return std_ulogic;
  function "xor" (l : unresolved_unsigned) return std_ulogic;
  function "xnor" (l : unresolved_unsigned) return std_ulogic;
  function "not" (l : unresolved_signed) return unresolved_signed;
  function "and" (l, r : unresolved_signed) return unresolved_signed;
  function "and" (l : std_ulogic; r : unresolved_signed) return unresolved_signed;
  function "and" (l : unresolved_signed; r : std_ulogic) return unresolved_signed;
  function "or" (l, r : unresolved_signed) return unresolved_signed;
  function "or" (l : std_ulogic; r : unresolved_signed) return unresolved_signed;
  function "or" (l : unresolved_signed; r : std_ulogic) return unresolved_signed;
  function "nand" (l, r : unresolved_signed) return unresolved_signed;
  function "nand" (l : std_ulogic; r : unresolved_signed) return unresolved_signed;
  function "nand" (l : unresolved_signed; r : std_ulogic) return unresolved_signed;
  function "nor" (l, r : unresolved_signed) return unresolved_signed;
  function "nor" (l : std_ulogic; r : unresolved_signed) return unresolved_signed;
  function "nor" (l : unresolved_signed; r : std_ulogic) return unresolved_signed;
  function "xor" (l, r : unresolved_signed) return unresolved_signed;
  function "xor" (l : std_ulogic; r : unresolved_signed) return unresolved_signed;
  function "xor" (l : unresolved_signed; r : std_ulogic) return unresolved_signed;
  function "xnor" (l, r : unresolved_signed) return unresolved_signed;
  function "xnor" (l : std_ulogic; r : unresolved_signed) return unresolved_signed;
  function "xnor" (l : unresolved_signed; r : std_ulogic) return unresolved_signed;
  function "and" (l : unresolved_signed) return std_ulogic;
  function "nand" (l : unresolved_signed) return std_ulogic;
  function "or" (l : unresolved_signed) return std_ulogic;
  function "nor" (l : unresolved_signed) return std_ulogic;
  function "xor" (l : unresolved_signed) return std_ulogic;
  function "xnor" (l : unresolved_signed) return std_ulogic;
  -- Searches and values.
  function find_leftmost (arg : unresolved_unsigned; y : std_ulogic) return integer;
  function find_rightmost (arg : unresolved_unsigned; y : std_ulogic) return integer;
  function to_01 (s : unresolved_unsigned; xmap : std_ulogic := '0') return unresolved_unsigned;
  function to_x01 (s : unresolved_unsigned) return unresolved_unsigned;
  function to_x01z (s : unresolved_unsigned) return unresolved_unsigned;
  function to_ux01 (s : unresolved_unsigned) return unresolved_unsigned;
  function find_leftmost (arg : unresolved_signed; y : std_ulogic) return integer;
  function find_rightmost (arg : unresolved_signed; y : std_ulogic) return integer;
  function to_01 (s : unresolved_signed; xmap : std_ulogic := '0') return unresolved_signed;
  function to_x01 (s : unresolved_signed) return unresolved_signed;
  function to_x01z (s : unresolved_signed) return unresolved_signed;
  function to_ux01 (s : unresolved_signed) return unresolved_signed;
end package;

library ieee;
use ieee.std_logic_1164.all;

package body dais_numeric_std is
  subtype bits is std_ulogic_vector;

  -- The operators of GHDL that are used.

  function add (l, r : bits) return bits is begin
    return bits(ieee.numeric_std."+"(ieee.numeric_std.unsigned(l), ieee.numeric_std.unsigned(r)));
  end;

  function subtract (l, r : bits) return bits is begin
    return bits(ieee.numeric_std."-"(ieee.numeric_std.unsigned(l), ieee.numeric_std.unsigned(r)));
  end;

  function multiply_u (l, r : bits) return bits is begin
    return bits(ieee.numeric_std."*"(ieee.numeric_std.unsigned(l), ieee.numeric_std.unsigned(r)));
  end;

  function multiply_s (l, r : bits) return bits is begin
    return bits(ieee.numeric_std."*"(ieee.numeric_std.signed(l), ieee.numeric_std.signed(r)));
  end;

  function quotient_u (l, r : bits) return bits is begin
    return bits(ieee.numeric_std."/"(ieee.numeric_std.unsigned(l), ieee.numeric_std.unsigned(r)));
  end;

  -- GHDL does not evaluate "rem" of constants.
  function remainder_u (l, r : bits) return bits is
    variable product : bits(2 * l'length - 1 downto 0);
  begin
    product := multiply_u(quotient_u(l, r), r);
    return subtract(l, product(l'length - 1 downto 0));
  end;

  function less_u (l, r : bits) return boolean is begin
    return ieee.numeric_std."<"(ieee.numeric_std.unsigned(l), ieee.numeric_std.unsigned(r));
  end;

  function less_s (l, r : bits) return boolean is begin
    return ieee.numeric_std."<"(ieee.numeric_std.signed(l), ieee.numeric_std.signed(r));
  end;

  function same (l, r : bits) return boolean is begin
    return ieee.numeric_std."="(ieee.numeric_std.unsigned(l), ieee.numeric_std.unsigned(r));
  end;

  function left (arg : bits; count : natural) return bits is begin
    return bits(ieee.numeric_std.shift_left(ieee.numeric_std.unsigned(arg), count));
  end;

  function right (arg : bits; count : natural) return bits is begin
    return bits(ieee.numeric_std.shift_right(ieee.numeric_std.unsigned(arg), count));
  end;

  function filled (arg : bits; size : natural) return bits is begin
    return bits(ieee.numeric_std.resize(ieee.numeric_std.unsigned(arg), size));
  end;

  function widened (arg : bits; size : natural) return bits is begin
    return bits(ieee.numeric_std.resize(ieee.numeric_std.signed(arg), size));
  end;

  -- Lengths.

  -- Return the bits with numbers from the length minus 1 down to 0.
  function plain (arg : bits) return bits is
    variable result : bits(arg'length - 1 downto 0);
  begin
    result := arg;
    return result;
  end;

  -- Return the lowest bits, or all bits and zeros.
  function fit_u (arg : bits; size : natural) return bits is
    alias a : bits(arg'length - 1 downto 0) is arg;
  begin
    if arg'length = 0 then
      return bits'(size - 1 downto 0 => '0');
    elsif size <= arg'length then
      return a(size - 1 downto 0);
    else
      return filled(a, size);
    end if;
  end;

  -- Return the lowest bits, or all bits and copies of the sign.
  function fit_s (arg : bits; size : natural) return bits is
    alias a : bits(arg'length - 1 downto 0) is arg;
  begin
    if arg'length = 0 then
      return bits'(size - 1 downto 0 => '0');
    elsif size <= arg'length then
      return a(size - 1 downto 0);
    else
      return widened(a, size);
    end if;
  end;

  -- Return the sign and the lowest other bits, or all bits and copies of the sign.
  function narrow_s (arg : bits; size : natural) return bits is
    alias a : bits(arg'length - 1 downto 0) is arg;
  begin
    if size > 0 and size < arg'length then
      return a(arg'length - 1) & a(size - 2 downto 0);
    else
      return fit_s(arg, size);
    end if;
  end;

  function of_integer (arg : integer; size : natural) return bits is
    variable number : integer;
  begin
    number := arg;
    return fit_s(bits(ieee.numeric_std.to_signed(number, 32)), size);
  end;

  function of_bit (arg : std_ulogic; size : natural) return bits is
    variable result : bits(size - 1 downto 0) := (others => '0');
  begin
    result(0) := arg;
    return result;
  end;

  -- Return a length for a vector of that many bits, signed or not, and for any integer.
  function width_with (length : natural) return natural is begin
    return maximum(length, 32) + 1;
  end;

  -- Return true if a signed vector of that many bits can be the integer.
  function is_within (arg : integer; size : natural) return boolean is
    constant number : bits(31 downto 0) := of_integer(arg, 32);
  begin
    return size >= 32 or same(fit_s(fit_u(number, minimum(size, 32)), 32), number);
  end;

  -- An integer that does not hold the vector stops a simulation; here it is unknown.

  function to_natural (arg : bits) return natural is
    alias a : bits(arg'length - 1 downto 0) is arg;
    variable number : bits(30 downto 0);
  begin
    if arg'length <= 31 then
      return ieee.numeric_std.to_integer(ieee.numeric_std.unsigned(a));
    end if;
    number := fit_u(a, 31);
    if a(arg'length - 1 downto 31) /= (arg'length - 1 downto 31 => '0') then
      number := (others => 'X');
    end if;
    return ieee.numeric_std.to_integer(ieee.numeric_std.unsigned(number));
  end;

  function to_number (arg : bits) return integer is
    alias a : bits(arg'length - 1 downto 0) is arg;
    variable number : bits(31 downto 0);
  begin
    if arg'length <= 32 then
      return ieee.numeric_std.to_integer(ieee.numeric_std.signed(a));
    end if;
    number := fit_s(a, 32);
    if a(arg'length - 1 downto 31) /= (arg'length - 1 downto 31 => a(arg'length - 1)) then
      number := (others => 'X');
    end if;
    return ieee.numeric_std.to_integer(ieee.numeric_std.signed(number));
  end;

  -- Signed division, by magnitudes.

  function with_sign (arg : bits; negative : std_ulogic) return bits is
    variable result : bits(arg'length - 1 downto 0);
  begin
    result := arg;
    if negative = '1' then
      result := subtract((arg'length - 1 downto 0 => '0'), arg);
    end if;
    return result;
  end;

  function magnitude (arg : bits) return bits is begin
    return with_sign(arg, arg(arg'left));
  end;

  function quotient_s (l, r : bits) return bits is begin
    return with_sign(quotient_u(magnitude(l), magnitude(r)), l(l'left) xor r(r'left));
  end;

  function remainder_s (l, r : bits) return bits is begin
    return with_sign(remainder_u(magnitude(l), magnitude(r)), l(l'left));
  end;

  function modulus_s (l, r : bits) return bits is
    variable rest : bits(l'length - 1 downto 0);
  begin
    rest := remainder_s(l, r);
    if l(l'left) /= r(r'left) and not same(rest, (l'length - 1 downto 0 => '0')) then
      rest := add(rest, r);
    end if;
    return rest;
  end;

  -- Return an integer divided by a vector, in the length of the vector. numeric_std divides in the length of the longer
  -- one; there, the least integer of a length divided by -1 is itself.
  function quotient_n (l : integer; r : bits) return bits is
    constant size : natural := width_with(r'length);
    constant low : bits(r'length - 2 downto 0) := (others => '0');
    variable dividend, power : bits(size - 1 downto 0);
    variable result : bits(r'length - 1 downto 0);
  begin
    result := narrow_s(quotient_s(of_integer(l, size), fit_s(r, size)), r'length);
    dividend := of_integer(l, size);
    power := magnitude(dividend);
    if l < 0 and same(r, (r'length - 1 downto 0 => '1'))
      and same(power and subtract(power, of_integer(1, size)), (size - 1 downto 0 => '0'))
      and same('0' & power(r'length - 2 downto 0), '0' & low)
    then
      result := '1' & low;
    end if;
    return result;
  end;

  -- Shifts.

  function right_s (arg : bits; count : natural) return bits is
    variable wide : bits(2 * arg'length - 1 downto 0);
    variable steps : natural;
  begin
    steps := count;
    if count > arg'length then
      steps := arg'length;
    end if;
    wide := right(widened(arg, 2 * arg'length), steps);
    return wide(arg'length - 1 downto 0);
  end;

  -- Return the bits rotated to the left.
  function turned (arg : bits; count : natural) return bits is
    variable steps : natural;
  begin
    steps := count mod arg'length;
    return left(arg, steps) or right(arg, arg'length - steps);
  end;

  -- Reductions.

  function all_and (arg : bits) return std_ulogic is
    variable result : std_ulogic := '1';
  begin
    for n in arg'range loop
      result := result and arg(n);
    end loop;
    return result;
  end;

  function all_or (arg : bits) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    for n in arg'range loop
      result := result or arg(n);
    end loop;
    return result;
  end;

  function all_xor (arg : bits) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    for n in arg'range loop
      result := result xor arg(n);
    end loop;
    return result;
  end;

  function "abs" (arg : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(magnitude(bits(arg)));
  end;

  function "-" (arg : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(subtract((arg'length - 1 downto 0 => '0'), bits(arg)));
  end;

  -- "+"

  function "+" (l, r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(add(fit_u(bits(l), maximum(l'length, r'length)), fit_u(bits(r), maximum(l'length, r'length))));
  end;

  function "+" (l : unresolved_unsigned; r : natural) return unresolved_unsigned is begin
    return unresolved_unsigned(add(bits(l), of_integer(r, l'length)));
  end;

  function "+" (l : natural; r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(add(of_integer(l, r'length), bits(r)));
  end;

  function "+" (l : unresolved_unsigned; r : std_ulogic) return unresolved_unsigned is begin
    return unresolved_unsigned(add(bits(l), of_bit(r, l'length)));
  end;

  function "+" (l : std_ulogic; r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(add(of_bit(l, r'length), bits(r)));
  end;

  function "+" (l, r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(add(fit_s(bits(l), maximum(l'length, r'length)), fit_s(bits(r), maximum(l'length, r'length))));
  end;

  function "+" (l : unresolved_signed; r : integer) return unresolved_signed is begin
    return unresolved_signed(add(bits(l), of_integer(r, l'length)));
  end;

  function "+" (l : integer; r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(add(of_integer(l, r'length), bits(r)));
  end;

  function "+" (l : unresolved_signed; r : std_ulogic) return unresolved_signed is begin
    return unresolved_signed(add(bits(l), of_bit(r, l'length)));
  end;

  function "+" (l : std_ulogic; r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(add(of_bit(l, r'length), bits(r)));
  end;

  -- "-"

  function "-" (l, r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(subtract(fit_u(bits(l), maximum(l'length, r'length)), fit_u(bits(r), maximum(l'length, r'length))));
  end;

  function "-" (l : unresolved_unsigned; r : natural) return unresolved_unsigned is begin
    return unresolved_unsigned(subtract(bits(l), of_integer(r, l'length)));
  end;

  function "-" (l : natural; r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(subtract(of_integer(l, r'length), bits(r)));
  end;

  function "-" (l : unresolved_unsigned; r : std_ulogic) return unresolved_unsigned is begin
    return unresolved_unsigned(subtract(bits(l), of_bit(r, l'length)));
  end;

  function "-" (l : std_ulogic; r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(subtract(of_bit(l, r'length), bits(r)));
  end;

  function "-" (l, r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(subtract(fit_s(bits(l), maximum(l'length, r'length)), fit_s(bits(r), maximum(l'length, r'length))));
  end;

  function "-" (l : unresolved_signed; r : integer) return unresolved_signed is begin
    return unresolved_signed(subtract(bits(l), of_integer(r, l'length)));
  end;

  function "-" (l : integer; r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(subtract(of_integer(l, r'length), bits(r)));
  end;

  function "-" (l : unresolved_signed; r : std_ulogic) return unresolved_signed is begin
    return unresolved_signed(subtract(bits(l), of_bit(r, l'length)));
  end;

  function "-" (l : std_ulogic; r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(subtract(of_bit(l, r'length), bits(r)));
  end;

  -- "*"

  function "*" (l, r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(multiply_u(bits(l), bits(r)));
  end;

  function "*" (l : unresolved_unsigned; r : natural) return unresolved_unsigned is begin
    return unresolved_unsigned(multiply_u(bits(l), of_integer(r, l'length)));
  end;

  function "*" (l : natural; r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(multiply_u(of_integer(l, r'length), bits(r)));
  end;

  function "*" (l, r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(multiply_s(bits(l), bits(r)));
  end;

  function "*" (l : unresolved_signed; r : integer) return unresolved_signed is begin
    return unresolved_signed(multiply_s(bits(l), of_integer(r, l'length)));
  end;

  function "*" (l : integer; r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(multiply_s(of_integer(l, r'length), bits(r)));
  end;

  -- "/"

  function "/" (l, r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(fit_u(quotient_u(fit_u(bits(l), maximum(l'length, r'length)), fit_u(bits(r), maximum(l'length, r'length))), l'length));
  end;

  function "/" (l : unresolved_unsigned; r : natural) return unresolved_unsigned is begin
    return unresolved_unsigned(fit_u(quotient_u(fit_u(bits(l), width_with(l'length)), of_integer(r, width_with(l'length))), l'length));
  end;

  function "/" (l : natural; r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(fit_u(quotient_u(of_integer(l, width_with(r'length)), fit_u(bits(r), width_with(r'length))), r'length));
  end;

  function "/" (l, r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(fit_u(quotient_s(fit_s(bits(l), maximum(l'length, r'length)), fit_s(bits(r), maximum(l'length, r'length))), l'length));
  end;

  function "/" (l : unresolved_signed; r : integer) return unresolved_signed is
    variable result : unresolved_signed(l'length - 1 downto 0) := (others => '0');
  begin
    if is_within(r, l'length) then
      result := unresolved_signed(quotient_s(bits(l), of_integer(r, l'length)));
    end if;
    return result;
  end;

  function "/" (l : integer; r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(quotient_n(l, bits(r)));
  end;

  -- "rem"

  function "rem" (l, r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(fit_u(remainder_u(fit_u(bits(l), maximum(l'length, r'length)), fit_u(bits(r), maximum(l'length, r'length))), r'length));
  end;

  function "rem" (l : unresolved_unsigned; r : natural) return unresolved_unsigned is begin
    return unresolved_unsigned(fit_u(remainder_u(fit_u(bits(l), width_with(l'length)), of_integer(r, width_with(l'length))), l'length));
  end;

  function "rem" (l : natural; r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(fit_u(remainder_u(of_integer(l, width_with(r'length)), fit_u(bits(r), width_with(r'length))), r'length));
  end;

  function "rem" (l, r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(fit_u(remainder_s(fit_s(bits(l), maximum(l'length, r'length)), fit_s(bits(r), maximum(l'length, r'length))), r'length));
  end;

  function "rem" (l : unresolved_signed; r : integer) return unresolved_signed is begin
    return unresolved_signed(narrow_s(remainder_s(fit_s(bits(l), width_with(l'length)), of_integer(r, width_with(l'length))), l'length));
  end;

  function "rem" (l : integer; r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(narrow_s(remainder_s(of_integer(l, width_with(r'length)), fit_s(bits(r), width_with(r'length))), r'length));
  end;

  -- "mod"

  function "mod" (l, r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(fit_u(remainder_u(fit_u(bits(l), maximum(l'length, r'length)), fit_u(bits(r), maximum(l'length, r'length))), r'length));
  end;

  function "mod" (l : unresolved_unsigned; r : natural) return unresolved_unsigned is begin
    return unresolved_unsigned(fit_u(remainder_u(fit_u(bits(l), width_with(l'length)), of_integer(r, width_with(l'length))), l'length));
  end;

  function "mod" (l : natural; r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(fit_u(remainder_u(of_integer(l, width_with(r'length)), fit_u(bits(r), width_with(r'length))), r'length));
  end;

  function "mod" (l, r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(fit_u(modulus_s(fit_s(bits(l), maximum(l'length, r'length)), fit_s(bits(r), maximum(l'length, r'length))), r'length));
  end;

  function "mod" (l : unresolved_signed; r : integer) return unresolved_signed is begin
    return unresolved_signed(narrow_s(modulus_s(fit_s(bits(l), width_with(l'length)), of_integer(r, width_with(l'length))), l'length));
  end;

  function "mod" (l : integer; r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(narrow_s(modulus_s(of_integer(l, width_with(r'length)), fit_s(bits(r), width_with(r'length))), r'length));
  end;

  -- Comparisons.

  function "=" (l, r : unresolved_unsigned) return boolean is begin
    return same(fit_u(bits(l), maximum(l'length, r'length)), fit_u(bits(r), maximum(l'length, r'length)));
  end;

  function "=" (l : unresolved_unsigned; r : natural) return boolean is begin
    return same(fit_u(bits(l), width_with(l'length)), of_integer(r, width_with(l'length)));
  end;

  function "=" (l : natural; r : unresolved_unsigned) return boolean is begin
    return same(of_integer(l, width_with(r'length)), fit_u(bits(r), width_with(r'length)));
  end;

  function "=" (l, r : unresolved_signed) return boolean is begin
    return same(fit_s(bits(l), maximum(l'length, r'length)), fit_s(bits(r), maximum(l'length, r'length)));
  end;

  function "=" (l : unresolved_signed; r : integer) return boolean is begin
    return same(fit_s(bits(l), width_with(l'length)), of_integer(r, width_with(l'length)));
  end;

  function "=" (l : integer; r : unresolved_signed) return boolean is begin
    return same(of_integer(l, width_with(r'length)), fit_s(bits(r), width_with(r'length)));
  end;

  function "/=" (l, r : unresolved_unsigned) return boolean is begin
    return not same(fit_u(bits(l), maximum(l'length, r'length)), fit_u(bits(r), maximum(l'length, r'length)));
  end;

  function "/=" (l : unresolved_unsigned; r : natural) return boolean is begin
    return not same(fit_u(bits(l), width_with(l'length)), of_integer(r, width_with(l'length)));
  end;

  function "/=" (l : natural; r : unresolved_unsigned) return boolean is begin
    return not same(of_integer(l, width_with(r'length)), fit_u(bits(r), width_with(r'length)));
  end;

  function "/=" (l, r : unresolved_signed) return boolean is begin
    return not same(fit_s(bits(l), maximum(l'length, r'length)), fit_s(bits(r), maximum(l'length, r'length)));
  end;

  function "/=" (l : unresolved_signed; r : integer) return boolean is begin
    return not same(fit_s(bits(l), width_with(l'length)), of_integer(r, width_with(l'length)));
  end;

  function "/=" (l : integer; r : unresolved_signed) return boolean is begin
    return not same(of_integer(l, width_with(r'length)), fit_s(bits(r), width_with(r'length)));
  end;

  function "<" (l, r : unresolved_unsigned) return boolean is begin
    return less_u(fit_u(bits(l), maximum(l'length, r'length)), fit_u(bits(r), maximum(l'length, r'length)));
  end;

  function "<" (l : unresolved_unsigned; r : natural) return boolean is begin
    return less_u(fit_u(bits(l), width_with(l'length)), of_integer(r, width_with(l'length)));
  end;

  function "<" (l : natural; r : unresolved_unsigned) return boolean is begin
    return less_u(of_integer(l, width_with(r'length)), fit_u(bits(r), width_with(r'length)));
  end;

  function "<" (l, r : unresolved_signed) return boolean is begin
    return less_s(fit_s(bits(l), maximum(l'length, r'length)), fit_s(bits(r), maximum(l'length, r'length)));
  end;

  function "<" (l : unresolved_signed; r : integer) return boolean is begin
    return less_s(fit_s(bits(l), width_with(l'length)), of_integer(r, width_with(l'length)));
  end;

  function "<" (l : integer; r : unresolved_signed) return boolean is begin
    return less_s(of_integer(l, width_with(r'length)), fit_s(bits(r), width_with(r'length)));
  end;

  function ">" (l, r : unresolved_unsigned) return boolean is begin
    return less_u(fit_u(bits(r), maximum(l'length, r'length)), fit_u(bits(l), maximum(l'length, r'length)));
  end;

  function ">" (l : unresolved_unsigned; r : natural) return boolean is begin
    return less_u(of_integer(r, width_with(l'length)), fit_u(bits(l), width_with(l'length)));
  end;

  function ">" (l : natural; r : unresolved_unsigned) return boolean is begin
    return less_u(fit_u(bits(r), width_with(r'length)), of_integer(l, width_with(r'length)));
  end;

  function ">" (l, r : unresolved_signed) return boolean is begin
    return less_s(fit_s(bits(r), maximum(l'length, r'length)), fit_s(bits(l), maximum(l'length, r'length)));
  end;

  function ">" (l : unresolved_signed; r : integer) return boolean is begin
    return less_s(of_integer(r, width_with(l'length)), fit_s(bits(l), width_with(l'length)));
  end;

  function ">" (l : integer; r : unresolved_signed) return boolean is begin
    return less_s(fit_s(bits(r), width_with(r'length)), of_integer(l, width_with(r'length)));
  end;

  function "<=" (l, r : unresolved_unsigned) return boolean is begin
    return not less_u(fit_u(bits(r), maximum(l'length, r'length)), fit_u(bits(l), maximum(l'length, r'length)));
  end;

  function "<=" (l : unresolved_unsigned; r : natural) return boolean is begin
    return not less_u(of_integer(r, width_with(l'length)), fit_u(bits(l), width_with(l'length)));
  end;

  function "<=" (l : natural; r : unresolved_unsigned) return boolean is begin
    return not less_u(fit_u(bits(r), width_with(r'length)), of_integer(l, width_with(r'length)));
  end;

  function "<=" (l, r : unresolved_signed) return boolean is begin
    return not less_s(fit_s(bits(r), maximum(l'length, r'length)), fit_s(bits(l), maximum(l'length, r'length)));
  end;

  function "<=" (l : unresolved_signed; r : integer) return boolean is begin
    return not less_s(of_integer(r, width_with(l'length)), fit_s(bits(l), width_with(l'length)));
  end;

  function "<=" (l : integer; r : unresolved_signed) return boolean is begin
    return not less_s(fit_s(bits(r), width_with(r'length)), of_integer(l, width_with(r'length)));
  end;

  function ">=" (l, r : unresolved_unsigned) return boolean is begin
    return not less_u(fit_u(bits(l), maximum(l'length, r'length)), fit_u(bits(r), maximum(l'length, r'length)));
  end;

  function ">=" (l : unresolved_unsigned; r : natural) return boolean is begin
    return not less_u(fit_u(bits(l), width_with(l'length)), of_integer(r, width_with(l'length)));
  end;

  function ">=" (l : natural; r : unresolved_unsigned) return boolean is begin
    return not less_u(of_integer(l, width_with(r'length)), fit_u(bits(r), width_with(r'length)));
  end;

  function ">=" (l, r : unresolved_signed) return boolean is begin
    return not less_s(fit_s(bits(l), maximum(l'length, r'length)), fit_s(bits(r), maximum(l'length, r'length)));
  end;

  function ">=" (l : unresolved_signed; r : integer) return boolean is begin
    return not less_s(fit_s(bits(l), width_with(l'length)), of_integer(r, width_with(l'length)));
  end;

  function ">=" (l : integer; r : unresolved_signed) return boolean is begin
    return not less_s(of_integer(l, width_with(r'length)), fit_s(bits(r), width_with(r'length)));
  end;

  function minimum (l, r : unresolved_unsigned) return unresolved_unsigned is
    variable result : unresolved_unsigned(maximum(l'length, r'length) - 1 downto 0);
  begin
    result := resize(r, maximum(l'length, r'length));
    if l <= r then
      result := resize(l, maximum(l'length, r'length));
    end if;
    return result;
  end;

  function minimum (l : unresolved_unsigned; r : natural) return unresolved_unsigned is begin
    return minimum(l, to_unsigned(r, l'length));
  end;

  function minimum (l : natural; r : unresolved_unsigned) return unresolved_unsigned is begin
    return minimum(to_unsigned(l, r'length), r);
  end;

  function minimum (l, r : unresolved_signed) return unresolved_signed is
    variable result : unresolved_signed(maximum(l'length, r'length) - 1 downto 0);
  begin
    result := resize(r, maximum(l'length, r'length));
    if l <= r then
      result := resize(l, maximum(l'length, r'length));
    end if;
    return result;
  end;

  function minimum (l : unresolved_signed; r : integer) return unresolved_signed is begin
    return minimum(l, to_signed(r, l'length));
  end;

  function minimum (l : integer; r : unresolved_signed) return unresolved_signed is begin
    return minimum(to_signed(l, r'length), r);
  end;

  function maximum (l, r : unresolved_unsigned) return unresolved_unsigned is
    variable result : unresolved_unsigned(maximum(l'length, r'length) - 1 downto 0);
  begin
    result := resize(r, maximum(l'length, r'length));
    if l >= r then
      result := resize(l, maximum(l'length, r'length));
    end if;
    return result;
  end;

  function maximum (l : unresolved_unsigned; r : natural) return unresolved_unsigned is begin
    return maximum(l, to_unsigned(r, l'length));
  end;

  function maximum (l : natural; r : unresolved_unsigned) return unresolved_unsigned is begin
    return maximum(to_unsigned(l, r'length), r);
  end;

  function maximum (l, r : unresolved_signed) return unresolved_signed is
    variable result : unresolved_signed(maximum(l'length, r'length) - 1 downto 0);
  begin
    result := resize(r, maximum(l'length, r'length));
    if l >= r then
      result := resize(l, maximum(l'length, r'length));
    end if;
    return result;
  end;

  function maximum (l : unresolved_signed; r : integer) return unresolved_signed is begin
    return maximum(l, to_signed(r, l'length));
  end;

  function maximum (l : integer; r : unresolved_signed) return unresolved_signed is begin
    return maximum(to_signed(l, r'length), r);
  end;

  function "?=" (l, r : unresolved_unsigned) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l = r then
      result := '1';
    end if;
    return result;
  end;

  function "?=" (l : unresolved_unsigned; r : natural) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l = r then
      result := '1';
    end if;
    return result;
  end;

  function "?=" (l : natural; r : unresolved_unsigned) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l = r then
      result := '1';
    end if;
    return result;
  end;

  function "?=" (l, r : unresolved_signed) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l = r then
      result := '1';
    end if;
    return result;
  end;

  function "?=" (l : unresolved_signed; r : integer) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l = r then
      result := '1';
    end if;
    return result;
  end;

  function "?=" (l : integer; r : unresolved_signed) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l = r then
      result := '1';
    end if;
    return result;
  end;

  function "?/=" (l, r : unresolved_unsigned) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l /= r then
      result := '1';
    end if;
    return result;
  end;

  function "?/=" (l : unresolved_unsigned; r : natural) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l /= r then
      result := '1';
    end if;
    return result;
  end;

  function "?/=" (l : natural; r : unresolved_unsigned) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l /= r then
      result := '1';
    end if;
    return result;
  end;

  function "?/=" (l, r : unresolved_signed) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l /= r then
      result := '1';
    end if;
    return result;
  end;

  function "?/=" (l : unresolved_signed; r : integer) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l /= r then
      result := '1';
    end if;
    return result;
  end;

  function "?/=" (l : integer; r : unresolved_signed) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l /= r then
      result := '1';
    end if;
    return result;
  end;

  function "?<" (l, r : unresolved_unsigned) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l < r then
      result := '1';
    end if;
    return result;
  end;

  function "?<" (l : unresolved_unsigned; r : natural) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l < r then
      result := '1';
    end if;
    return result;
  end;

  function "?<" (l : natural; r : unresolved_unsigned) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l < r then
      result := '1';
    end if;
    return result;
  end;

  function "?<" (l, r : unresolved_signed) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l < r then
      result := '1';
    end if;
    return result;
  end;

  function "?<" (l : unresolved_signed; r : integer) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l < r then
      result := '1';
    end if;
    return result;
  end;

  function "?<" (l : integer; r : unresolved_signed) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l < r then
      result := '1';
    end if;
    return result;
  end;

  function "?>" (l, r : unresolved_unsigned) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l > r then
      result := '1';
    end if;
    return result;
  end;

  function "?>" (l : unresolved_unsigned; r : natural) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l > r then
      result := '1';
    end if;
    return result;
  end;

  function "?>" (l : natural; r : unresolved_unsigned) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l > r then
      result := '1';
    end if;
    return result;
  end;

  function "?>" (l, r : unresolved_signed) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l > r then
      result := '1';
    end if;
    return result;
  end;

  function "?>" (l : unresolved_signed; r : integer) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l > r then
      result := '1';
    end if;
    return result;
  end;

  function "?>" (l : integer; r : unresolved_signed) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l > r then
      result := '1';
    end if;
    return result;
  end;

  function "?<=" (l, r : unresolved_unsigned) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l <= r then
      result := '1';
    end if;
    return result;
  end;

  function "?<=" (l : unresolved_unsigned; r : natural) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l <= r then
      result := '1';
    end if;
    return result;
  end;

  function "?<=" (l : natural; r : unresolved_unsigned) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l <= r then
      result := '1';
    end if;
    return result;
  end;

  function "?<=" (l, r : unresolved_signed) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l <= r then
      result := '1';
    end if;
    return result;
  end;

  function "?<=" (l : unresolved_signed; r : integer) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l <= r then
      result := '1';
    end if;
    return result;
  end;

  function "?<=" (l : integer; r : unresolved_signed) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l <= r then
      result := '1';
    end if;
    return result;
  end;

  function "?>=" (l, r : unresolved_unsigned) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l >= r then
      result := '1';
    end if;
    return result;
  end;

  function "?>=" (l : unresolved_unsigned; r : natural) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l >= r then
      result := '1';
    end if;
    return result;
  end;

  function "?>=" (l : natural; r : unresolved_unsigned) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l >= r then
      result := '1';
    end if;
    return result;
  end;

  function "?>=" (l, r : unresolved_signed) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l >= r then
      result := '1';
    end if;
    return result;
  end;

  function "?>=" (l : unresolved_signed; r : integer) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l >= r then
      result := '1';
    end if;
    return result;
  end;

  function "?>=" (l : integer; r : unresolved_signed) return std_ulogic is
    variable result : std_ulogic := '0';
  begin
    if l >= r then
      result := '1';
    end if;
    return result;
  end;

  -- Shifts.

  function shift_left (arg : unresolved_unsigned; count : natural) return unresolved_unsigned is begin
    return unresolved_unsigned(left(bits(arg), count));
  end;

  function shift_right (arg : unresolved_unsigned; count : natural) return unresolved_unsigned is begin
    return unresolved_unsigned(right(bits(arg), count));
  end;

  function rotate_left (arg : unresolved_unsigned; count : natural) return unresolved_unsigned is begin
    return unresolved_unsigned(turned(bits(arg), count));
  end;

  function rotate_right (arg : unresolved_unsigned; count : natural) return unresolved_unsigned is begin
    return unresolved_unsigned(turned(bits(arg), arg'length - count mod arg'length));
  end;

  function shift_left (arg : unresolved_signed; count : natural) return unresolved_signed is begin
    return unresolved_signed(left(bits(arg), count));
  end;

  function shift_right (arg : unresolved_signed; count : natural) return unresolved_signed is begin
    return unresolved_signed(right_s(bits(arg), count));
  end;

  function rotate_left (arg : unresolved_signed; count : natural) return unresolved_signed is begin
    return unresolved_signed(turned(bits(arg), count));
  end;

  function rotate_right (arg : unresolved_signed; count : natural) return unresolved_signed is begin
    return unresolved_signed(turned(bits(arg), arg'length - count mod arg'length));
  end;

  function "sll" (arg : unresolved_unsigned; count : integer) return unresolved_unsigned is
    variable result : unresolved_unsigned(arg'length - 1 downto 0);
  begin
    if count >= 0 then
      result := unresolved_unsigned(left(bits(arg), count));
    else
      result := unresolved_unsigned(right(bits(arg), -count));
    end if;
    return result;
  end;

  function "sll" (arg : unresolved_signed; count : integer) return unresolved_signed is
    variable result : unresolved_signed(arg'length - 1 downto 0);
  begin
    if count >= 0 then
      result := unresolved_signed(left(bits(arg), count));
    else
      result := unresolved_signed(right(bits(arg), -count));
    end if;
    return result;
  end;

  function "srl" (arg : unresolved_unsigned; count : integer) return unresolved_unsigned is
    variable result : unresolved_unsigned(arg'length - 1 downto 0);
  begin
    if count >= 0 then
      result := unresolved_unsigned(right(bits(arg), count));
    else
      result := unresolved_unsigned(left(bits(arg), -count));
    end if;
    return result;
  end;

  function "srl" (arg : unresolved_signed; count : integer) return unresolved_signed is
    variable result : unresolved_signed(arg'length - 1 downto 0);
  begin
    if count >= 0 then
      result := unresolved_signed(right(bits(arg), count));
    else
      result := unresolved_signed(left(bits(arg), -count));
    end if;
    return result;
  end;

  function "rol" (arg : unresolved_unsigned; count : integer) return unresolved_unsigned is
    variable result : unresolved_unsigned(arg'length - 1 downto 0);
  begin
    if count >= 0 then
      result := rotate_left(arg, count);
    else
      result := rotate_right(arg, -count);
    end if;
    return result;
  end;

  function "rol" (arg : unresolved_signed; count : integer) return unresolved_signed is
    variable result : unresolved_signed(arg'length - 1 downto 0);
  begin
    if count >= 0 then
      result := rotate_left(arg, count);
    else
      result := rotate_right(arg, -count);
    end if;
    return result;
  end;

  function "ror" (arg : unresolved_unsigned; count : integer) return unresolved_unsigned is
    variable result : unresolved_unsigned(arg'length - 1 downto 0);
  begin
    if count >= 0 then
      result := rotate_right(arg, count);
    else
      result := rotate_left(arg, -count);
    end if;
    return result;
  end;

  function "ror" (arg : unresolved_signed; count : integer) return unresolved_signed is
    variable result : unresolved_signed(arg'length - 1 downto 0);
  begin
    if count >= 0 then
      result := rotate_right(arg, count);
    else
      result := rotate_left(arg, -count);
    end if;
    return result;
  end;

  function "sla" (arg : unresolved_unsigned; count : integer) return unresolved_unsigned is
    variable result : unresolved_unsigned(arg'length - 1 downto 0);
  begin
    if count >= 0 then
      result := shift_left(arg, count);
    else
      result := shift_right(arg, -count);
    end if;
    return result;
  end;

  function "sla" (arg : unresolved_signed; count : integer) return unresolved_signed is
    variable result : unresolved_signed(arg'length - 1 downto 0);
  begin
    if count >= 0 then
      result := shift_left(arg, count);
    else
      result := shift_right(arg, -count);
    end if;
    return result;
  end;

  function "sra" (arg : unresolved_unsigned; count : integer) return unresolved_unsigned is
    variable result : unresolved_unsigned(arg'length - 1 downto 0);
  begin
    if count >= 0 then
      result := shift_right(arg, count);
    else
      result := shift_left(arg, -count);
    end if;
    return result;
  end;

  function "sra" (arg : unresolved_signed; count : integer) return unresolved_signed is
    variable result : unresolved_signed(arg'length - 1 downto 0);
  begin
    if count >= 0 then
      result := shift_right(arg, count);
    else
      result := shift_left(arg, -count);
    end if;
    return result;
  end;

  -- Lengths and integers.

  function resize (arg : unresolved_unsigned; new_size : natural) return unresolved_unsigned is begin
    return unresolved_unsigned(fit_u(bits(arg), new_size));
  end;

  function resize (arg, size_res : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(fit_u(bits(arg), size_res'length));
  end;

  function resize (arg : unresolved_signed; new_size : natural) return unresolved_signed is begin
    return unresolved_signed(narrow_s(bits(arg), new_size));
  end;

  function resize (arg, size_res : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(narrow_s(bits(arg), size_res'length));
  end;

  function to_integer (arg : unresolved_unsigned) return natural is begin
    return to_natural(bits(arg));
  end;

  function to_integer (arg : unresolved_signed) return integer is begin
    return to_number(bits(arg));
  end;

  function to_unsigned (arg, size : natural) return unresolved_unsigned is begin
    return unresolved_unsigned(of_integer(arg, size));
  end;

  function to_unsigned (arg : natural; size_res : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(of_integer(arg, size_res'length));
  end;

  function to_signed (arg : integer; size : natural) return unresolved_signed is begin
    return unresolved_signed(of_integer(arg, size));
  end;

  function to_signed (arg : integer; size_res : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(of_integer(arg, size_res'length));
  end;

  -- Logic.

  function "not" (l : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(not plain(bits(l)));
  end;

  function "and" (l, r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(plain(bits(l)) and plain(bits(r)));
  end;

  function "and" (l : std_ulogic; r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(bits'(r'length - 1 downto 0 => l) and plain(bits(r)));
  end;

  function "and" (l : unresolved_unsigned; r : std_ulogic) return unresolved_unsigned is begin
    return unresolved_unsigned(plain(bits(l)) and bits'(l'length - 1 downto 0 => r));
  end;

  function "or" (l, r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(plain(bits(l)) or plain(bits(r)));
  end;

  function "or" (l : std_ulogic; r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(bits'(r'length - 1 downto 0 => l) or plain(bits(r)));
  end;

  function "or" (l : unresolved_unsigned; r : std_ulogic) return unresolved_unsigned is begin
    return unresolved_unsigned(plain(bits(l)) or bits'(l'length - 1 downto 0 => r));
  end;

  function "nand" (l, r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(plain(bits(l)) nand plain(bits(r)));
  end;

  function "nand" (l : std_ulogic; r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(bits'(r'length - 1 downto 0 => l) nand plain(bits(r)));
  end;

  function "nand" (l : unresolved_unsigned; r : std_ulogic) return unresolved_unsigned is begin
    return unresolved_unsigned(plain(bits(l)) nand bits'(l'length - 1 downto 0 => r));
  end;

  function "nor" (l, r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(plain(bits(l)) nor plain(bits(r)));
  end;

  function "nor" (l : std_ulogic; r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(bits'(r'length - 1 downto 0 => l) nor plain(bits(r)));
  end;

  function "nor" (l : unresolved_unsigned; r : std_ulogic) return unresolved_unsigned is begin
    return unresolved_unsigned(plain(bits(l)) nor bits'(l'length - 1 downto 0 => r));
  end;

  function "xor" (l, r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(plain(bits(l)) xor plain(bits(r)));
  end;

  function "xor" (l : std_ulogic; r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(bits'(r'length - 1 downto 0 => l) xor plain(bits(r)));
  end;

  function "xor" (l : unresolved_unsigned; r : std_ulogic) return unresolved_unsigned is begin
    return unresolved_unsigned(plain(bits(l)) xor bits'(l'length - 1 downto 0 => r));
  end;

  function "xnor" (l, r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(plain(bits(l)) xnor plain(bits(r)));
  end;

  function "xnor" (l : std_ulogic; r : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(bits'(r'length - 1 downto 0 => l) xnor plain(bits(r)));
  end;

  function "xnor" (l : unresolved_unsigned; r : std_ulogic) return unresolved_unsigned is begin
    return unresolved_unsigned(plain(bits(l)) xnor bits'(l'length - 1 downto 0 => r));
  end;

  function "and" (l : unresolved_unsigned) return std_ulogic is begin
    return all_and(bits(l));
  end;

  function "nand" (l : unresolved_unsigned) return std_ulogic is begin
    return not all_and(bits(l));
  end;

  function "or" (l : unresolved_unsigned) return std_ulogic is begin
    return all_or(bits(l));
  end;

  function "nor" (l : unresolved_unsigned) return std_ulogic is begin
    return not all_or(bits(l));
  end;

  function "xor" (l : unresolved_unsigned) return std_ulogic is begin
    return all_xor(bits(l));
  end;

  function "xnor" (l : unresolved_unsigned) return std_ulogic is begin
    return not all_xor(bits(l));
  end;

  function "not" (l : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(not plain(bits(l)));
  end;

  function "and" (l, r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(plain(bits(l)) and plain(bits(r)));
  end;

  function "and" (l : std_ulogic; r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(bits'(r'length - 1 downto 0 => l) and plain(bits(r)));
  end;

  function "and" (l : unresolved_signed; r : std_ulogic) return unresolved_signed is begin
    return unresolved_signed(plain(bits(l)) and bits'(l'length - 1 downto 0 => r));
  end;

  function "or" (l, r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(plain(bits(l)) or plain(bits(r)));
  end;

  function "or" (l : std_ulogic; r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(bits'(r'length - 1 downto 0 => l) or plain(bits(r)));
  end;

  function "or" (l : unresolved_signed; r : std_ulogic) return unresolved_signed is begin
    return unresolved_signed(plain(bits(l)) or bits'(l'length - 1 downto 0 => r));
  end;

  function "nand" (l, r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(plain(bits(l)) nand plain(bits(r)));
  end;

  function "nand" (l : std_ulogic; r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(bits'(r'length - 1 downto 0 => l) nand plain(bits(r)));
  end;

  function "nand" (l : unresolved_signed; r : std_ulogic) return unresolved_signed is begin
    return unresolved_signed(plain(bits(l)) nand bits'(l'length - 1 downto 0 => r));
  end;

  function "nor" (l, r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(plain(bits(l)) nor plain(bits(r)));
  end;

  function "nor" (l : std_ulogic; r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(bits'(r'length - 1 downto 0 => l) nor plain(bits(r)));
  end;

  function "nor" (l : unresolved_signed; r : std_ulogic) return unresolved_signed is begin
    return unresolved_signed(plain(bits(l)) nor bits'(l'length - 1 downto 0 => r));
  end;

  function "xor" (l, r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(plain(bits(l)) xor plain(bits(r)));
  end;

  function "xor" (l : std_ulogic; r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(bits'(r'length - 1 downto 0 => l) xor plain(bits(r)));
  end;

  function "xor" (l : unresolved_signed; r : std_ulogic) return unresolved_signed is begin
    return unresolved_signed(plain(bits(l)) xor bits'(l'length - 1 downto 0 => r));
  end;

  function "xnor" (l, r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(plain(bits(l)) xnor plain(bits(r)));
  end;

  function "xnor" (l : std_ulogic; r : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(bits'(r'length - 1 downto 0 => l) xnor plain(bits(r)));
  end;

  function "xnor" (l : unresolved_signed; r : std_ulogic) return unresolved_signed is begin
    return unresolved_signed(plain(bits(l)) xnor bits'(l'length - 1 downto 0 => r));
  end;

  function "and" (l : unresolved_signed) return std_ulogic is begin
    return all_and(bits(l));
  end;

  function "nand" (l : unresolved_signed) return std_ulogic is begin
    return not all_and(bits(l));
  end;

  function "or" (l : unresolved_signed) return std_ulogic is begin
    return all_or(bits(l));
  end;

  function "nor" (l : unresolved_signed) return std_ulogic is begin
    return not all_or(bits(l));
  end;

  function "xor" (l : unresolved_signed) return std_ulogic is begin
    return all_xor(bits(l));
  end;

  function "xnor" (l : unresolved_signed) return std_ulogic is begin
    return not all_xor(bits(l));
  end;

  -- Searches and values.

  function find_leftmost (arg : unresolved_unsigned; y : std_ulogic) return integer is
    variable found : integer := -1;
  begin
    for n in arg'reverse_range loop
      if arg(n) = y then
        found := n;
      end if;
    end loop;
    return found;
  end;

  function find_rightmost (arg : unresolved_unsigned; y : std_ulogic) return integer is
    variable found : integer := -1;
  begin
    for n in arg'range loop
      if arg(n) = y then
        found := n;
      end if;
    end loop;
    return found;
  end;

  function to_01 (s : unresolved_unsigned; xmap : std_ulogic := '0') return unresolved_unsigned is begin
    return unresolved_unsigned(plain(bits(s)));
  end;

  function to_x01 (s : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(plain(bits(s)));
  end;

  function to_x01z (s : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(plain(bits(s)));
  end;

  function to_ux01 (s : unresolved_unsigned) return unresolved_unsigned is begin
    return unresolved_unsigned(plain(bits(s)));
  end;

  function find_leftmost (arg : unresolved_signed; y : std_ulogic) return integer is
    variable found : integer := -1;
  begin
    for n in arg'reverse_range loop
      if arg(n) = y then
        found := n;
      end if;
    end loop;
    return found;
  end;

  function find_rightmost (arg : unresolved_signed; y : std_ulogic) return integer is
    variable found : integer := -1;
  begin
    for n in arg'range loop
      if arg(n) = y then
        found := n;
      end if;
    end loop;
    return found;
  end;

  function to_01 (s : unresolved_signed; xmap : std_ulogic := '0') return unresolved_signed is begin
    return unresolved_signed(plain(bits(s)));
  end;

  function to_x01 (s : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(plain(bits(s)));
  end;

  function to_x01z (s : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(plain(bits(s)));
  end;

  function to_ux01 (s : unresolved_signed) return unresolved_signed is begin
    return unresolved_signed(plain(bits(s)));
  end;
end package body;
