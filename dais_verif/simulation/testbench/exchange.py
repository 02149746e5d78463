"""What a bench and its caller exchange: a job, and its answer beside it, two small JSON files in the run folder.

RTL that writes files could write an answer, too. Therefore the caller gives the bench a random key in the environment,
where RTL does not find it by accident; an answer counts only with a hash of it and this key.

Values are dataclasses and named tuples of texts, numbers and containers. They are read by the types of their fields,
without a library: loading one would cost each start of a simulator more than reading its job.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from dais_verif.base.files import write_atomically

__all__ = [
    "ANSWER",
    "DRIVER_VARIABLE",
    "JOB",
    "JOB_VARIABLE",
    "KEY_VARIABLE",
    "MAKER_VARIABLE",
    "answer",
    "answered",
    "built",
    "given",
    "new_key",
    "read",
    "require_maker",
    "take_key",
    "wait_for",
    "write",
]

#: The names of the two files.
JOB, ANSWER = "job.json", "answer.json"
#: The file of the hash of the answer.
_SEAL = "answer.seal"

#: Environment variables: the job file, the module of the bench that drives the design, the id of the process that
#: writes the job file, if the bench may start before that, and the key of the answer.
JOB_VARIABLE, DRIVER_VARIABLE, MAKER_VARIABLE = "DAIS_VERIF_JOB", "DAIS_VERIF_DRIVER", "DAIS_VERIF_MAKER"
KEY_VARIABLE = "DAIS_VERIF_ANSWER_KEY"

_FIRST_PAUSE, _LAST_PAUSE = 0.001, 0.02

Value = TypeVar("Value")


def write(path: Path, value: Any) -> None:
    """Write ``value`` as JSON."""
    write_atomically(path, json.dumps(value, default=asdict).encode())


def read(path: Path, kind: type[Value]) -> Value:
    """Return the value of type ``kind`` that ``write`` wrote."""
    value: Value = built(kind, json.loads(path.read_text()))
    return value


def new_key(folder: Path) -> str:
    """Return a key for the bench that will run in ``folder``, and remove what an earlier run answered there."""
    for name in (ANSWER, _SEAL):
        (folder / name).unlink(missing_ok=True)
    return os.urandom(32).hex()


def take_key() -> str:
    """Take the key of this simulator process out of its environment; empty if a run is repeated by hand."""
    return os.environ.pop(KEY_VARIABLE, "")


def answer(path: Path, value: Any, key: str) -> None:
    """Write the answer ``value`` of a bench that took ``key``."""
    write(path, value)
    write_atomically(path.with_name(_SEAL), _seal(path, key).encode())


def answered(folder: Path, kind: type[Value], key: str) -> Value | None:
    """Return the answer in ``folder`` if a bench that took ``key`` wrote it."""
    path = folder / ANSWER
    try:
        sealed = path.with_name(_SEAL).read_text() == _seal(path, key)
    except (OSError, UnicodeDecodeError):
        return None
    return read(path, kind) if sealed else None


def _seal(path: Path, key: str) -> str:
    return hashlib.blake2b(path.read_bytes(), key=key.encode()).hexdigest()


def given(kind: type[Value]) -> tuple[Value, Path]:
    """Wait for the job that the environment of this simulator process names; return it, and the path of its answer."""
    path, maker = Path(os.environ[JOB_VARIABLE]), os.environ.get(MAKER_VARIABLE)
    wait_for(path, int(maker) if maker else None)
    return read(path, kind), path.with_name(ANSWER)


def built(kind: Any, tree: Any) -> Any:
    """Return ``tree``, data from JSON, as a value of type ``kind``."""
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        hints = _hints(kind)
        values = tree if isinstance(tree, dict) else dict(zip(hints, tree, strict=True))
        return kind(**{name: built(hints[name], value) for name, value in values.items()})
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        (inner,) = (arg for arg in args if arg is not NoneType)
        return None if tree is None else built(inner, tree)
    if origin is tuple and args[-1] is not Ellipsis:
        return tuple(built(arg, value) for arg, value in zip(args, tree, strict=True))
    if origin in (tuple, list):
        return origin(built(args[0], value) for value in tree)
    if origin is not None and issubclass(origin, Mapping):
        return {args[0](key): built(args[1], value) for key, value in tree.items()}
    return tree


@cache
def _hints(kind: Any) -> Mapping[str, Any]:
    return get_type_hints(kind)


def require_maker(maker: int | None) -> None:
    """Raise ``EOFError`` if process ``maker`` has ended; zombies count as ended. None: no check."""
    if maker is None:
        return
    try:
        state = Path(f"/proc/{maker}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        state = "X"
    if state in "ZX":
        raise EOFError("the run that makes the vectors of this simulation has ended")


def wait_for(path: Path, maker: int | None, given_up: Callable[[], bool] = lambda: False) -> bool:
    """Return True as soon as ``path`` exists, or False once ``given_up`` returns True.

    Raises ``EOFError`` if process ``maker``, which makes the file, has ended.
    """
    pause = _FIRST_PAUSE
    require_maker(maker)
    while not path.exists():
        if given_up():
            return False
        require_maker(maker)
        time.sleep(pause)
        pause = min(2 * pause, _LAST_PAUSE)
    return True
