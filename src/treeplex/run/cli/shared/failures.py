"""Errors as exit codes: one line on stderr, no traceback."""

import errno
import os
import sys
import traceback
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from treeplex.errors import FileError, TreeplexError, printable, shortened
from treeplex.forms.compile.rule_errors import said_by

OK, FAILED, BAD_INPUT, TARGET_MISSED, STOPPED = 0, 1, 2, 3, 130
EXIT_CODES = """Exit codes: 0 success; 1 failure (disk full, out of memory, bug); 2 invalid input; 3 target missed; 130
stopped by Ctrl-C after saving."""
UNMAPPED = "failed to map segment from shared object"
"""Message of the dynamic linker if a library does not fit into the address space."""
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG}


class Commands(TyperGroup):
    """A command group that converts errors to one line and an exit code; TREEPLEX_DEBUG=1 shows tracebacks."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            typer.echo(ctx.get_help(), err=True)
            raise typer.Exit(BAD_INPUT)
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            if hasattr(error, "format_message"):
                wrong_use(error, ctx)
            raise

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except TreeplexError as error:
            fail(str(error), code_of(error))
        except KeyboardInterrupt:
            fail("stopped", STOPPED)
        except MemoryError:
            fail("out of memory; try a smaller game", FAILED)
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            fail(str(error), BAD_INPUT if error.errno == errno.ENAMETOOLONG else FAILED)
        except Exception as error:
            if isinstance(error, typer.Exit | typer.Abort):
                raise
            if hasattr(error, "format_message"):
                wrong_use(error, ctx)
            if UNMAPPED in str(error):
                fail("out of memory: cannot load a library; raise the limit (ulimit -v) or free some memory", FAILED)
            fail(f"{said_by(error)} ({place_of(error)}); TREEPLEX_DEBUG=1 shows the traceback", FAILED)


def wrong_use(error: Any, context: Any) -> NoReturn:
    """Report a usage error, such as an unknown option, and point to the command's help."""
    context = getattr(error, "ctx", None) or context
    fail(f"{error.format_message().rstrip('.')}; see {context.command_path} --help", BAD_INPUT)


def code_of(error: TreeplexError) -> int:
    """Return an error's exit code, which distinguishes invalid input from failures of the machine."""
    cause = error.__cause__
    if isinstance(error, FileError) and isinstance(cause, OSError) and cause.errno in FULL:
        return FAILED
    return BAD_INPUT


def place_of(error: Exception) -> str:
    """Return file and line where an unexpected error was raised, in user rules or in Treeplex."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}, line {frames[-1].lineno}, in {frames[-1].name}" if frames else "nowhere"


def fail(message: str, code: int) -> NoReturn:
    """Print one line on stderr (plus the traceback if TREEPLEX_DEBUG=1) and exit."""
    if os.environ.get("TREEPLEX_DEBUG", "") not in ("", "0") and sys.exc_info()[0] is not None:
        traceback.print_exc()
    typer.echo(f"error: {printable(shortened(' '.join(message.split())))}", err=True)
    raise typer.Exit(code)
