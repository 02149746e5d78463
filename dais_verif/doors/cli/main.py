"""The command ``dais-verif``: its verbs, and the conversion of errors into a line and an exit code."""

from __future__ import annotations

import atexit
import contextlib
import errno
import gc
import importlib
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from difflib import get_close_matches

import click

from dais_verif import __version__
from dais_verif.base.errors import DaisError, RequestError, StateError
from dais_verif.base.packages import missing_packages
from dais_verif.base.passphrase import take_passphrase
from dais_verif.base.streams import drop_output, open_streams, take_interrupts
from dais_verif.base.text import printable
from dais_verif.base.troubleshooting import code_of, section_of
from dais_verif.base.verdict import Verdict

__all__ = ["main"]


#: The verb that multiplies matrices.
_MULTIPLIES = "approx"
#: The verbs, each with a module of the same name. Only the called verb is imported, which saves time.
_VERBS = (
    "check",
    "show",
    "convert",
    "run",
    "explain",
    "emit",
    "synth",
    "build",
    "sim",
    "regress",
    "prove",
    "hil",
    "report",
    "coverage",
    "signoff",
    "sensitivity",
    "diff",
    "approx",
    "kernel",
    "mutate",
    "fuzz",
    "shrink",
    "schema",
    "cache",
)

#: Commands that are only called by processes of dais-verif, with their modules.
_HIDDEN = {"jobs": "sim"}

#: Former verbs, which another release will not have, with the words for them now, and options with another name.
_FORMER: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "asm": (("convert",), {"--layout": "--to"}),
    "profile": (("run", "--profile"), {}),
    "verify-cert": (("signoff", "--verify"), {}),
}

#: The number of new objects before the first search for cyclic garbage. Imports and programs create many objects, but
#: no such garbage; with Python's default of 700, a short run spends a sixth of its time on the search.
_OBJECTS = 100_000


class _Verbs(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write nothing, since the text of ``cli`` lists the verbs by purpose."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in (*_VERBS, *_HIDDEN):
            return None
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(
            importlib.import_module(f"dais_verif.doors.cli.{_HIDDEN.get(name, name)}"), name
        )
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in _FORMER:
            given, args = args, _in_new_words(args)
            if isinstance(ctx.obj, list):  # the command line, which records keep
                ctx.obj[len(ctx.obj) - len(given) :] = args
        name = args[0]
        if name.startswith("-") or self.get_command(ctx, name) is not None:
            return super().resolve_command(ctx, args)
        near = get_close_matches(name.lower(), _VERBS)
        ctx.fail(f"No such command {name!r}{f'; did you mean {near[0]}?' if near else '.'}")


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="dais-verif")
def cli() -> None:
    """Verify that RTL computes a DAIS or ALIR program, bit for bit.

    A program (prog.bin, .json, .dais) is a list of operations with exact fixed-point types, as da4ml and alkaid write
    it. The golden model computes its exact outputs in software; RTL, yours or that of emit, is compared with them.

    \b
    Programs
      dais-verif check prog.bin          is it valid, and can anything overflow?
      dais-verif show prog.bin           print it as text
      dais-verif convert prog.bin prog.json              DAIS to ALIR or text, and back
      dais-verif run prog.bin --inputs x.npy -o y.npy    the exact outputs for given inputs
      dais-verif explain prog.bin --row 3                the value of every op for one input vector
      dais-verif diff a.bin b.bin        where do two programs first differ?
      dais-verif sensitivity prog.bin    where would a wrong bit hurt?
      dais-verif coverage prog.bin       what do test vectors cover, and which vectors cover the rest?
      dais-verif run --profile prog.bin  where does the golden model spend its time?
    Hardware from a program
      dais-verif emit prog.bin -o model.v                Verilog
      dais-verif synth prog.bin --target ice40           LUTs, flip-flops, logic depth, a netlist
      dais-verif build prog.bin --device ice40-hx8k-ct256 -o out    a bitstream
      dais-verif kernel list             kernels such as convolutions, as proved hardware
      dais-verif approx show confs.txt   networks with less exact arithmetic (HPVM's configurations)
    Verify hardware: the RTL of emit, or yours with --rtl a.v --top model
      dais-verif sim prog.bin            simulate it, compare every output bit
      dais-verif prove prog.bin          prove it for all inputs
      dais-verif hil prog.bin --target serial:///dev/ttyUSB0    run it on a board
      dais-verif regress programs/       simulate many programs, here or on a cluster
      dais-verif signoff prog.bin        run all checks of a policy, and write a certificate
      dais-verif signoff --verify DIR    does a certificate still hold?
      dais-verif mutate prog.bin         would the verification detect a change of the RTL?
      dais-verif fuzz                    test your tool, or dais-verif, on random programs
      dais-verif shrink prog.bin -o small    reduce a failing case
    Records
      dais-verif report run              an HTML page of what `-o run` kept
      dais-verif schema result           the JSON schema of what --json prints
      dais-verif cache                   cached builds and proofs; clear removes them

    dais-verif VERB --help has examples and the usual options, --help-all all of them.

    \b
    Exit codes: 0 pass, 1 RTL or programs differ, 2 invalid program or input, 3 a tool is missing or
    failed, 4 X in an output, 5 simulators disagree, 6 unknown or nothing compared, 7 not signed off,
    8 a proof that a simulator contradicts, 70 a bug of dais-verif, 130 interrupted.
    """


def _in_new_words(words: Sequence[str]) -> list[str]:
    """Return ``words``, which begin with a former verb, as they are spelled now, and say so."""
    new, options = _FORMER[words[0]]
    click.echo(f"notice: `{words[0]}` is now `{' '.join(new)}`; a later release knows only that", err=True)
    rest = []
    for word in words[1:]:
        name, equals, value = word.partition("=")
        rest.append(options.get(name, name) + equals + value)
    return [*new, *rest]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with the verdict's code."""
    if arguments is None:  # the process only runs the command; of exit functions, the first one is called last
        atexit.register(_leave)
        if sys.argv[1:2] != [_MULTIPLIES]:  # starting numpy's threads takes 0.06 s of CPU time
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    unheard = sys.stdout is None
    open_streams()
    warnings.showwarning = _notice
    gc.set_threshold(_OBJECTS)
    # SIGTERM ends a run like Ctrl-C: simulators are stopped, temporary files are removed.
    take_interrupts(signal.SIGINT, signal.SIGTERM)
    code = _ending[0] = _refuse_unheard() if unheard else _told(_run(arguments))
    sys.exit(code)


def _refuse_unheard() -> int:
    line = "standard output is closed, so the output would be lost; redirect it to a file or to /dev/null"
    return _report([], None, Verdict.INVALID_INPUT, line)


def _told(code: int) -> int:
    """Return ``code``, or the code of the failure if not all output could be written."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        drop_output()
        return Verdict.INTERRUPTED.exit_code
    except OSError as error:
        drop_output()
        return _report([], error, Verdict.INVALID_INPUT, f"the output cannot be written: {error.strerror or error}")
    return code


#: The exit code, once it is known.
_ending: list[int | None] = [None]


def _leave() -> None:
    """End at once: Python needs a tenth of a second to delete all objects of a run, the operating system much less."""
    code = _ending[0]
    if code is not None:
        with contextlib.suppress(OSError, ValueError):  # the reader of the output ended: Python prints the message
            sys.stdout.flush()
            with contextlib.suppress(OSError, ValueError):  # no one is left to be told; Python 3.13 would end with 120
                sys.stderr.flush()
            os._exit(code)


def _notice(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning as one line, without the line of code that raised it."""
    click.echo(f"warning: {printable(' '.join(str(message).split()))}", err=True)


_NO_PROCESS = (
    "the system allows no more threads or processes (ulimit -u, or the limit of a container); give fewer --jobs"
)


def _run(arguments: list[str]) -> int:
    take_passphrase()
    try:
        code = cli.main(arguments, prog_name="dais-verif", standalone_mode=False, obj=arguments)
    except DaisError as error:
        from dais_verif.doors.cli.common import option_of  # imported late, since help and versions do without it

        message, reason = error.spelled(option_of), "state" if isinstance(error, StateError) else ""
        if isinstance(error, RequestError):
            verb = next(filter(_VERBS.__contains__, arguments), "")
            return _report(arguments, error, error.verdict, message, see=f"dais-verif {verb}".strip())
        return _report(arguments, error, error.verdict, message, reason)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return Verdict.INVALID_INPUT.exit_code
    except click.UsageError as error:
        verb = error.ctx.command_path if error.ctx else "dais-verif"
        asked = RequestError(error.format_message())
        return _report(arguments, asked, Verdict.INVALID_INPUT, str(asked), see=verb)
    except click.ClickException as error:
        return _report(arguments, RequestError(), Verdict.INVALID_INPUT, error.format_message())
    except (click.Abort, KeyboardInterrupt):
        # Python remembers an interrupt of ``exec``, which also runs whenever a named tuple is defined: unless
        # ``_leave`` ends the process, it then ends by the signal, whatever its exit code. Another ``exec`` clears that.
        exec("")
        return _report(arguments, None, Verdict.INTERRUPTED, "interrupted; no file was left half-written")
    except (BrokenPipeError, SystemExit):  # SystemExit: raised by click if the reader of the output has ended
        drop_output()
        return Verdict.INTERRUPTED.exit_code  # not all output was read, so it must not look like a PASS
    except MemoryError as error:
        line = "out of memory; use fewer vectors or a smaller program"
        return _report(arguments, error, Verdict.TOOL_FAILURE, line)
    except OSError as error:
        if error.errno == errno.EAGAIN and not error.filename:
            return _report(arguments, error, Verdict.TOOL_FAILURE, _NO_PROCESS)
        # Errors of output have no file name. Python 3.13 keeps what could not be written, and would try again.
        if not error.filename:
            drop_output()
        place = f"file {error.filename!r}" if error.filename else "the output or the record cannot be written"
        return _report(arguments, error, Verdict.INVALID_INPUT, f"{place}: {error.strerror or error}")
    except Exception as error:
        missing = missing_packages(error, next(iter(arguments), None)) if isinstance(error, ImportError) else None
        if missing is not None:
            return _report(arguments, error, Verdict.TOOL_FAILURE, missing)
        if isinstance(error, RuntimeError) and "start new thread" in str(error):
            return _report(arguments, error, Verdict.TOOL_FAILURE, _NO_PROCESS)
        from dais_verif.base.internal_error import told

        return _report(arguments, None, Verdict.INTERNAL_ERROR, told(error, arguments))
    return code if isinstance(code, int) else 0


def _report(
    arguments: list[str],
    error: BaseException | None,
    verdict: Verdict,
    message: str,
    reason: str = "",
    *,
    see: str = "",
) -> int:
    """Print one line on stderr and, with ``--json``, one object on stdout, as at every other end of a run.

    The line ends with references: to the help of the command ``see``, and to the section about ``error``.
    """
    code = verdict.code if error is None else code_of(error)
    line = printable(" ".join(message.split()))
    line = f"{line}{'' if line.endswith(('.', '?')) else '.'} See: {see} --help" if see else line
    with contextlib.suppress(OSError):  # the disk is full, or there is no reader: the exit code still shows the result
        click.echo(f"dais-verif: {verdict.value}: {line}{',' if see else '; see'} {section_of(code)}", err=True)
    if "--json" in arguments:
        from dais_verif.record.simulation import Failed

        try:
            click.echo(Failed(verdict, line, reason, code, section_of(code)).to_json())
        except OSError:
            drop_output()
    return verdict.exit_code
