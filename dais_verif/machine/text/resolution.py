"""Turn the statements of a text into a machine: resolve names, and report broken rules with line numbers."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NoReturn

from dais_verif.errors import InputError, ProgramError
from dais_verif.machine.checks import input_types, output_types, validate
from dais_verif.machine.model import Block, Connection, Index, Machine, Signal, View
from dais_verif.machine.text.names import INPUTS, OUTPUTS
from dais_verif.machine.text.statements import BlockText, ConnectionText, Statements, ViewText, read_statements
from dais_verif.program import Origin, Program
from dais_verif.program.assembler import Labelled, assemble_labelled
from dais_verif.program.assembler.names import did_you_mean
from dais_verif.program.assembler.tokens import Place, Token, decoded, error_at

__all__ = ["ReadBlock", "parse_text"]

#: A function that reads the program of a block: takes a file name, and returns the bytes and their content.
ReadBlock = Callable[[str], tuple[bytes, Program | str]]

_PORT = re.compile(r"INTERNAL_(\w+?)_(inp|outp)\b")


def parse_text(data: bytes, name: str = "text", read_block: ReadBlock | None = None) -> Machine:
    """Return the valid machine that ``data`` (UTF-8) describes. Raises ``ProgramError`` with ``name``, line and column.

    ``read_block``: reads a block's file; without it, blocks in files are refused.
    """
    statements = read_statements(decoded(data, name, "'dais-verif convert' writes a machine as text"), name)
    digest = hashlib.sha256(data)
    resolution = _Resolution(statements)
    for block in statements.blocks.values():
        resolution.add_block(block, read_block, digest.update)
    machine = resolution.machine(Origin("mach", file_sha256=digest.hexdigest()))
    try:
        validate(machine)
    except ProgramError as error:
        raise _placed(str(error), statements, machine) from None
    return machine


@dataclass(frozen=True)
class _Ports:
    """The wires of a block, and their elements by the names in the block's text."""

    block: Block
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]


class _Resolution:
    def __init__(self, statements: Statements) -> None:
        self.statements = statements
        self.ports: dict[str, _Ports] = {}
        self.types = {name: signal.types for name, signal in statements.signals.items()}

    def add_block(self, text: BlockText, read: ReadBlock | None, digest: Callable[[bytes], None]) -> None:
        """Read the program of a block; its wires become signals. ``digest`` receives the content of files."""
        labelled = self.program(text, read, digest)
        block = Block(text.name, labelled.program, f"INTERNAL_{text.name}_inp", f"INTERNAL_{text.name}_outp")
        self.ports[text.name] = _Ports(block, labelled.inputs, labelled.outputs)
        for name, types_of in ((block.inputs, input_types), (block.outputs, output_types)):
            if name in self.types:
                self.refuse(
                    self.statements.signals[name].token, f"{name} is a wire of block {text.name}; write its port"
                )
            try:
                self.types[name] = types_of(block)
            except ProgramError as error:
                self.refuse(text.token, str(error))

    def program(self, text: BlockText, read: ReadBlock | None, digest: Callable[[bytes], None]) -> Labelled:
        if text.file is None:
            return assemble_labelled(text.text, self.statements.name, text.first)
        file = str(json.loads(text.file.text))
        if read is None:
            self.refuse(text.file, "a block's file must lie beside that of the machine, but this text is not in a file")
        path = PurePosixPath(file)
        if path.is_absolute() or ".." in path.parts or "\0" in file:
            self.refuse(text.file, "a block's file must lie beside that of the machine, or in a folder below it")
        try:
            data, found = read(file)
            digest(data)
            if isinstance(found, Program):
                return Labelled(found, {}, {})
            return assemble_labelled(found, file)
        except (ProgramError, InputError) as error:
            self.refuse(text.file, f"block {text.name}: {error}")

    def machine(self, origin: Origin) -> Machine:
        signals = {}
        for declared in self.statements.signals.values():
            reset = None if declared.reset is None else self.view(declared.reset)
            signals[declared.name] = Signal(
                declared.name,
                declared.types,
                declared.role,
                declared.register,
                declared.initial,
                reset,
                declared.schedule,
                declared.attributes,
            )
        blocks = {name: ports.block for name, ports in self.ports.items()}
        for block in blocks.values():
            for name in (block.inputs, block.outputs):
                signals[name] = Signal(name, self.types[name])
        connections = tuple(self.connection(text) for text in self.statements.connections)
        return Machine(blocks, signals, connections, origin)

    def connection(self, text: ConnectionText) -> Connection:
        return Connection(
            self.view(text.source),
            self.view(text.target, target=True),
            None if text.enable is None else self.view(text.enable),
            None if text.alternative is None else self.view(text.alternative),
        )

    def view(self, text: ViewText, *, target: bool = False) -> View:
        """Return the view that ``text`` describes; a name in a block is an input if ``target``, else an output."""
        signal, first, count = self.elements(text, target)
        stop = count if text.stop is None else text.stop
        if not text.start <= stop <= count:
            self.refuse(text.token, f"elements {text.start} to {stop} of {_shown(text)}, which has {count}")
        index = None if text.index is None else Index(self.view(text.index), text.stride)
        return View(signal, first + text.start, first + stop, index)

    def elements(self, text: ViewText, target: bool) -> tuple[str, int, int]:
        """Return the signal that ``text`` names, the number of its first element there, and the count of elements."""
        if text.port is None:
            if text.name not in self.statements.signals:
                blocks = f"; {text.name} is a block: write {text.name}.{INPUTS}" if text.name in self.ports else ""
                hint = blocks or did_you_mean(text.name, self.statements.signals)
                self.refuse(text.token, f"unknown signal {text.name!r}{hint}")
            return text.name, 0, len(self.types[text.name])
        ports = self.ports.get(text.name)
        if ports is None:
            self.refuse(text.token, f"unknown block {text.name!r}{did_you_mean(text.name, self.ports)}")
        labels = ports.inputs if target else ports.outputs
        signal = ports.block.inputs if target else ports.block.outputs
        if text.port in labels:
            return signal, labels[text.port], 1
        if text.port in (INPUTS, OUTPUTS):
            signal = ports.block.inputs if text.port == INPUTS else ports.block.outputs
            return signal, 0, len(self.types[signal])
        side = "input" if target else "output"
        self.refuse(text.token, f"block {text.name} has no {side} {text.port!r}{did_you_mean(text.port, labels)}")

    def refuse(self, token: Token, message: str) -> NoReturn:
        raise error_at(self.statements.name, token.place, message)


def _shown(text: ViewText) -> str:
    return text.name if text.port is None else f"{text.name}.{text.port}"


def _placed(message: str, statements: Statements, machine: Machine) -> ProgramError:
    """Return an error with the position of the connection, signal or block, and with ports named as in the text."""
    pairs = zip(statements.connections, machine.connections, strict=True)
    places = [text.token.place for text, made in pairs if str(made) in message][-1:]
    if not places:
        wires = {block.name: (block.inputs, block.outputs) for block in machine.blocks.values()}
        named = [
            *((f"signal {name}", signal.token) for name, signal in statements.signals.items()),
            *((f"block {name}", block.token) for name, block in statements.blocks.items()),
            *((f"signal {wire}", block.token) for name, block in statements.blocks.items() for wire in wires[name]),
        ]
        places = [token.place for words, token in named if re.match(rf"{re.escape(words)}(?!\w)", message)]
    in_words = _PORT.sub(lambda found: f"{found[1]}.{INPUTS if found[2] == 'inp' else OUTPUTS}", message)
    return error_at(statements.name, places[0] if places else Place(1, 1), in_words)
