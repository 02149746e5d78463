"""Set parameters of a Verilog module by a wrapper module.

All tools read the wrapper like any other module, so that no tool needs an option for parameters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from dais_verif.base.errors import ParameterError
from dais_verif.base.files import write_atomically
from dais_verif.hardware.ports.discover import Interface, Port, interface_of

__all__ = ["parse_parameter", "with_parameters"]

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_VALUE = re.compile(
    r"""-?[0-9]+ | -?[0-9]*'[sS]?[bodhBODH][0-9a-fA-F_]+ | "[^"\\\n]*" | [A-Za-z_]\w*::[A-Za-z_]\w*""",
    re.ASCII | re.VERBOSE,
)

_LITERAL = re.compile(r"(-?)(?:([0-9]*)'([sS]?)([bodhBODH]))?([0-9a-fA-F_]+)", re.ASCII)


def parse_parameter(text: str) -> tuple[str, str]:
    """Return name and value of ``NAME=VALUE``; the value is a Verilog number, a quoted string or ``package::NAME``.

    Raises ``ValueError`` for any other text.
    """
    name, equals, value = text.partition("=")
    if not equals or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
        raise ValueError(f'must be NAME=VALUE with a number, 8 or 4\'b0101, a "string" or package::NAME, not {text!r}')
    return name, value


def with_parameters(
    sources: Sequence[Path], top: str, parameters: Mapping[str, str], folder: Path
) -> tuple[tuple[Path, ...], str]:
    """Write a wrapper that sets ``parameters`` of ``top`` into ``folder``; return all sources, and the wrapper's name.

    Raises ``InputError`` if ``top`` has no such parameter, or has ports that the wrapper cannot connect.
    """
    name = f"{top}_with_parameters"
    if not _NAME.fullmatch(top):
        raise ParameterError.of(
            "{parameters}: the module must have a plain name, not {top!r}; write a wrapper module for it", top=top
        )
    given = ", ".join(f".{key}({value})" for key, value in parameters.items())
    path = folder / f"{name}.sv"
    write_atomically(path, f"module {name};\n  {top} #({given}) dut ();\nendmodule\n".encode())
    offered = interface_of([*sources, path], name, "dut")
    if offered is None:
        raise ParameterError.of(
            "{parameters}: module {top} cannot be elaborated with these parameters; a simulator shows the reason",
            top=top,
        )
    _check(top, parameters, offered)
    lines = []
    for key, port in offered.ports.items():
        if port is None or port.direction == "inout" or not _NAME.fullmatch(key):
            raise ParameterError.of(
                "{parameters}: port {key} of {top} cannot be connected: it must be an input or output of bits with a "
                "plain name; write a wrapper module for it",
                key=key,
                top=top,
            )
        lines.append(f"  {_declared(port)}")
    passed = ", ".join(f".{key}({key})" for key in offered.ports)
    text = [f"module {name} (", ",\n".join(lines), ");", f"  {top} #({given}) dut ({passed});", "endmodule", ""]
    write_atomically(path, "\n".join(text).encode())
    return (*sources, path), name


def _check(top: str, parameters: Mapping[str, str], offered: Interface) -> None:
    for name, value in parameters.items():
        if name not in offered.parameters:
            known = ", ".join(offered.parameters) or "none"
            raise ParameterError.of(
                "{parameters}: module {top} has no parameter {name}; it has {known}", top=top, name=name, known=known
            )
        held, wanted = offered.parameters[name], _number(value)
        if held is False:
            raise ParameterError.of(
                "{parameters}: parameter {name} of {top} cannot be {value}", name=name, top=top, value=value
            )
        if held is not True and wanted is not None and held != wanted:
            raise ParameterError.of(
                "{parameters}: parameter {name} of {top} cannot be {value}: by its type it would be {held}",
                name=name,
                top=top,
                value=value,
                held=held,
            )


def _number(text: str) -> int | None:
    """Return the value of ``text`` if it is an integer literal without X and Z, otherwise None."""
    found = _LITERAL.fullmatch(text)
    if found is None:
        return None
    minus, width, signed, base, digits = found.groups()
    number = int(digits.replace("_", ""), {"b": 2, "o": 8, "h": 16}.get((base or "d").lower(), 10))
    bits = int(width or 32) if base else 0
    if bits and number >> bits:
        number &= (1 << bits) - 1
    if signed and number >> (bits - 1):
        number -= 1 << bits
    return -number if minus else number


def _declared(port: Port) -> str:
    kind = f"{'signed ' if port.signed else ''}[{port.width - 1}:0]"
    if port.elements is None:
        return f"{port.direction}put wire {kind} {port.name}"
    return f"{port.direction}put logic {kind} {port.name} [{port.elements[0]}:{port.elements[-1]}]"
