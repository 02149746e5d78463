"""Map a program to a user's module as a ``Dut``: find, check and assign every port."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from dais_verif.counts import counted
from dais_verif.dut import elements
from dais_verif.dut.discover import Port
from dais_verif.dut.elements import FROM_FILE, MOST_LISTED, Sizing, in_words
from dais_verif.dut.interface import Clocking, DesignInterface, Wire
from dais_verif.dut.placement import Dut
from dais_verif.dut.ports_file import PortsFile, Side
from dais_verif.errors import InputError, PortError
from dais_verif.program import FixedType, Program
from dais_verif.program.ports import Element, Ports

__all__ = ["bind", "with_pins"]

#: The name of the output of a module that XLS writes.
_XLS_OUT = "out"


def bind(program: Program, said: PortsFile, found: Sequence[Port] | None, *, open_inputs: bool = False) -> Dut:
    """Return the interface of a module that implements ``program``.

    ``said``: the ports as the user describes them. ``found``: the ports of the module; None: they are unknown, and
    assumed to be as ``said`` describes them. ``open_inputs``: allow inputs that ``said`` does not mention.

    Raises ``InputError`` with the expected and the actual ports if the module does not match.
    """
    xls = found is not None and _is_of_xls(said, found)
    if xls:
        said = _as_xls_names(said, found or ())
    inputs, wires_in = _side(program, said.inputs, found, "input", said.where)
    outputs, wires_out = _side(program, said.outputs, found, "output", said.where)
    interface = DesignInterface(wires_in, wires_out, said.clocking, said.ties)
    if found is not None:
        _check_pins(interface, found)
        if not open_inputs:
            _check_driven(interface, found)
    how = " and ".join(dict.fromkeys([inputs.how, outputs.how])) + (", and named as by XLS" if xls else "")
    return Dut(interface, Ports(inputs.elements, outputs.elements), outputs.types, how)


def _is_of_xls(said: PortsFile, found: Sequence[Port]) -> bool:
    """Return True if XLS wrote the module: the user names no ports, and the only output is the return value ``out``."""
    unsaid = said.inputs == PortsFile().inputs and said.outputs == PortsFile().outputs
    return unsaid and [port.name for port in found if port.direction == "out"] == [_XLS_OUT]


def _as_xls_names(said: PortsFile, found: Sequence[Port]) -> PortsFile:
    """Return ``said`` with the names that XLS gives: the input is named like the function's only parameter."""
    pins = {*(said.clocking.driven if said.clocking else []), *(name for name, _ in said.ties)}
    data = [port.name for port in found if port.direction == "in" and port.name not in pins]
    inputs = Side(data[0]) if len(data) == 1 else said.inputs
    return replace(said, inputs=inputs, outputs=Side(_XLS_OUT))


def _side(
    program: Program, side: Side, found: Sequence[Port] | None, what: str, where: str
) -> tuple[Sizing, tuple[Wire, ...]]:
    is_input = what == "input"
    count = program.n_in if is_input else program.n_out
    if side.types is not None:
        stated = elements.stated_inputs if is_input else elements.stated_outputs
        candidates = [stated(program, side.types, where)]
    else:
        candidates = (elements.sizings_of_inputs if is_input else elements.sizings_of_outputs)(program)
    names = side.names(count)
    known = None if found is None else _usable(found, "in" if is_input else "out")
    if names is None:
        return _packed(side.port, candidates, known, found, what)
    if len(names) != count:
        shown = ", ".join(names[:MOST_LISTED]) + (", ..." if len(names) > MOST_LISTED else "")
        raise PortError(
            f"{where}: [{what}s] ports names {counted(len(names), 'port')} ({shown}), and the program has"
            f" {counted(count, what)}: name one port for each, in the order of the program"
        )
    return _apart(names, candidates, known, found, what)


def _usable(found: Sequence[Port], direction: str) -> dict[str, int]:
    return {name: width for port in found if port.direction == direction for name, width in port.wires.items()}


def _clock_hint(found: Sequence[Port] | None) -> str:
    """Name the option for the clock, with which ports are found by position, if an input may be the clock."""
    single = [port.name for port in found or () if port.direction == "in" and port.width == 1]
    return f", or, if {single[0]} is its clock, give {{clock}} {single[0]}" if single else ""


def _packed(
    name: str, candidates: Sequence[Sizing], known: Mapping[str, int] | None, found: Sequence[Port] | None, what: str
) -> tuple[Sizing, tuple[Wire, ...]]:
    """Assign all elements to one port."""
    first = candidates[0]
    if known is None:
        return first, (Wire(name, 0, first.bits),)
    if name not in known:
        raise PortError.of(
            "the design has no {what} port {name}; the program needs {name} with {bits} ({first}); the design "
            "has {found}: name its ports in a {ports} file" + _clock_hint(found),
            what=what,
            name=name,
            bits=counted(max(first.bits, 1), "bit"),
            first=_in_words(first, what),
            found=_listed(found),
        )
    fitting = [sizing for sizing in candidates if max(sizing.bits, 1) == known[name]]
    if not fitting:
        others = "".join(f", or {max(other.bits, 1)} by {other.how}" for other in candidates[1:])
        hint = _types_hint(first, [known[name]], what) if len(first.elements) == 1 else ""
        raise PortError.of(
            "port {name} of the design has {known}; the program needs {bits} by {how}{others} ({first}){hint}",
            name=name,
            known=counted(known[name], "bit"),
            bits=max(first.bits, 1),
            how=first.how,
            others=others,
            first=_in_words(first, what),
            hint=hint
            or PortError.of(
                ": if the design uses other types, state them under [{what}s] in a {ports} file", what=what
            ),
        )
    return fitting[0], (Wire(name, 0, fitting[0].bits),)


def _apart(
    names: Sequence[str],
    candidates: Sequence[Sizing],
    known: Mapping[str, int] | None,
    found: Sequence[Port] | None,
    what: str,
) -> tuple[Sizing, tuple[Wire, ...]]:
    """Assign one port per element."""
    problems: list[str] = []
    for sizing in candidates:
        wrong = _differences(names, sizing.elements, known)
        if not wrong:
            return _wired(names, sizing, known)
        problems = problems or wrong
    shown = "; ".join(problems[:MOST_LISTED])
    more = f"; and {len(problems) - MOST_LISTED} more" if len(problems) > MOST_LISTED else ""
    widths = [
        (known or {}).get(name, element.width) for name, element in zip(names, candidates[0].elements, strict=True)
    ]
    raise PortError.of(
        "the design does not fit the program: {shown}{more}; the design has {found}{hint}",
        shown=shown,
        more=more,
        found=_listed(found),
        hint=_types_hint(candidates[0], widths, what),
    )


def _types_hint(sizing: Sizing, widths: Sequence[int], what: str) -> str | InputError:
    """Return a hint on how to state types for ports of these ``widths``; empty if no port is wider than its element."""
    own = list(map(str, sizing.types))
    wide = [
        str(FixedType(kind.k, kind.i + max(width - kind.width, 0), kind.f))
        for kind, width in zip(sizing.types, widths, strict=True)
    ]
    if sizing.how == FROM_FILE or wide == own:
        return ""
    first = next(j for j, kind in enumerate(wide) if kind != own[j])
    listed = ", ".join(f'"{kind}"' for kind in wide[:MOST_LISTED]) + (", ..." if len(wide) > MOST_LISTED else "")
    return PortError.of(
        "; if a port has more bits on purpose, state its type under [{what}s] in a {ports} file, as in types ="
        " {types}: {kind} has {bits}, {fraction} of them fractional",
        what=what,
        types=f'"{wide[0]}"' if len(set(wide)) == 1 else f"[{listed}]",
        kind=wide[first],
        bits=counted(widths[first], "bit"),
        fraction=sizing.types[first].f,
    )


def _differences(names: Sequence[str], wanted: Iterable[Element], known: Mapping[str, int] | None) -> list[str]:
    wrong = []
    for name, element in zip(names, wanted, strict=True):
        if known is None or element.width == 0:
            continue  # an element without bits needs no port
        if name not in known:
            wrong.append(f"port {name} is missing, must have {counted(element.width, 'bit')}")
        elif known[name] != element.width:
            wrong.append(f"port {name} has {counted(known[name], 'bit')}, must have {element.width}")
    return wrong


def _wired(names: Sequence[str], sizing: Sizing, known: Mapping[str, int] | None) -> tuple[Sizing, tuple[Wire, ...]]:
    placed, kinds, wires, offset = [], [], [], 0
    for name, element, kind in zip(names, sizing.elements, sizing.types, strict=True):
        # The port of an element without bits carries 0, or a value that is not read.
        width = element.width or (known or {}).get(name, 0)
        placed.append(element._replace(offset=offset, width=width))
        kinds.append(kind if element.width else FixedType(0, width, 0))
        if width:
            wires.append(Wire(name, offset, width))
        offset += width
    return Sizing(tuple(placed), tuple(kinds), sizing.how), tuple(wires)


def _check_pins(interface: DesignInterface, found: Sequence[Port]) -> None:
    """Raise ``InputError`` unless every pin exists and has the correct direction."""
    ports = {port.name: port for port in found}
    driven = _driven(interface)
    read = [interface.clocking.valid_out] if interface.clocking and interface.clocking.valid_out else []
    for name, direction in [*((name, "in") for name in driven), *((name, "out") for name in read)]:
        if name not in ports or ports[name].direction != direction:
            raise PortError(f"the design has no {direction}put {name}; it has {_listed(found)}")
        if ports[name].width != 1 and name not in dict(interface.ties):
            raise PortError(f"port {name} of the design has {counted(ports[name].width, 'bit')}, must have 1")
    for name, value in interface.ties:
        if value.bit_length() > ports[name].width:
            raise PortError(f"[tie] {name} = {value} does not fit: the port has {counted(ports[name].width, 'bit')}")


def _driven(interface: DesignInterface) -> list[str]:
    return [*(interface.clocking.driven if interface.clocking else []), *(name for name, _ in interface.ties)]


def _check_driven(interface: DesignInterface, found: Sequence[Port]) -> None:
    """Raise ``InputError`` if an input of the design is not driven."""
    taken = {*_driven(interface), *(wire.name for wire in interface.inputs)}
    for port in found:
        for name in port.wires if port.direction != "out" else ():
            if name not in taken:
                raise PortError.of(
                    "nothing drives port {port} of the design: name it as {clock}, {reset}, {enable} or "
                    "{valid_in}, or give it a value under [tie] in a {ports} file",
                    port=port,
                )


def _in_words(sizing: Sizing, what: str) -> str:
    return f"{what}s {in_words(sizing.elements)}" if sizing.elements else f"no {what}s"


def _listed(found: Sequence[Port] | None) -> str:
    if not found:
        return "no ports"
    return ", ".join(map(str, found[:MOST_LISTED])) + (", ..." if len(found) > MOST_LISTED else "")


def with_pins(said: PortsFile, pins: Clocking | None) -> PortsFile:
    """Return ``said`` with the pins of the command line, which take precedence."""
    return said if pins is None else PortsFile(said.inputs, said.outputs, pins, said.ties)
