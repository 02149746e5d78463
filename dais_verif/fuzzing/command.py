"""Run commands of users, with placeholders for files, within limits; only exit code and last line are used.

A command is split into words once, before file names are inserted: names are data, and no shell reads them.
"""

from __future__ import annotations

import re
import shlex
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dais_verif.errors import Argument, RequestError, ToolError
from dais_verif.toolchain.process import Session, describe_exit, last_error

__all__ = ["Command", "Ending"]


#: The largest file, and log, that a command may write, in blocks of 512 bytes: 1 GB.
_MOST_BLOCKS = 1 << 21


@dataclass(frozen=True)
class Ending:
    """The end of a command. ``status``: 0, an exit code, minus a signal's number, or None after a timeout."""

    status: int | None
    last_line: str

    @property
    def words(self) -> str:
        """The end of the command, as text."""
        return "did not end within its time" if self.status is None else describe_exit(self.status)

    @property
    def crashed(self) -> bool:
        """True if a signal ended the command, which shells report as an exit code above 128."""
        return self.status is not None and (self.status < 0 or self.status > 128)


@dataclass(frozen=True)
class Command:
    """A command, which runs in ``cwd``. ``template``: words, with placeholders such as ``{program}`` for files."""

    template: tuple[str, ...]
    cwd: Path

    @classmethod
    def of(cls, argument: str, text: str, places: tuple[str, ...]) -> Command:
        """Return the command in ``text``, the value of the argument named ``argument``.

        Raises ``RequestError`` if it is not a command, cannot be found, or lacks one of the placeholders ``places``.
        """
        name = Argument(argument)
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise RequestError.of(
                "{name} {text!r} is not a valid command: {error}.", name=name, text=text, error=error
            ) from None
        for place in places:
            if not any(f"{{{place}}}" in word for word in words):
                raise RequestError.of(
                    "{name} {text!r} must contain {place}, the placeholder for its file.",
                    name=name,
                    text=text,
                    place=f"{{{place}}}",
                )
        if shutil.which(words[0]) is None:
            raise RequestError.of(
                "{name} {text!r}: there is no command {word!r}; give its path, or add its folder to PATH.",
                name=name,
                text=text,
                word=words[0],
            )
        return cls(tuple(words), Path.cwd())

    def words(self, files: Mapping[str, Path | Sequence[Path]]) -> list[str]:
        """Return the words with ``files`` in place of their placeholders; several files need a separate word."""
        single = {place: value for place, value in files.items() if isinstance(value, Path)}
        found: list[str] = []
        for word in self.template:
            several = files.get(word[1:-1]) if word.startswith("{") else None
            if several is None or isinstance(several, Path):
                found.append(_filled(word, single))
            else:
                found += [str(path.absolute()) for path in several]
        return found

    def run(self, files: Mapping[str, Path | Sequence[Path]], folder: Path, seconds: float) -> Ending:
        """Run the command with ``files``. Its output, ``command.log``, and its temporary files go into ``folder``.

        Raises ``ToolError`` if the run of dais-verif itself must end.
        """
        log, scratch = folder / "command.log", folder.absolute()
        begun = time.monotonic()
        session = Session(log, cwd=scratch, timeout=seconds)
        limited = ["/bin/sh", "-c", f'ulimit -f {_MOST_BLOCKS}; exec "$@"', "sh"]
        command = [*limited, "env", f"--chdir={self.cwd}", f"TMPDIR={scratch}", f"TMP={scratch}", *self.words(files)]
        try:
            code: int | None = session.run("the command", command)
        except ToolError:
            if time.monotonic() - begun < seconds:
                raise
            code = None
        return Ending(code, last_error(log))


def _filled(word: str, files: Mapping[str, Path]) -> str:
    """Return ``word`` with all placeholders replaced at once, so that braces in file names are not taken for some."""
    places = "|".join(re.escape(f"{{{place}}}") for place in files)
    return re.sub(places, lambda found: str(files[found[0][1:-1]].absolute()), word) if places else word
