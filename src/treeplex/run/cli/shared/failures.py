"""From errors to exit codes: one line on stderr, no traceback."""

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
EXIT_CODES = """Exit codes: 0 done; 1 failed (full disk, out of memory, a bug); 2 bad input (unknown name or parameter, a
game or file that is not right); 3 finished, but the target was not reached; 130 stopped with Ctrl-C, after saving."""
UNMAPPED = "failed to map segment from shared object"
"""What the dynamic linker says where a library does not fit into the address space."""
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG}


class Commands(TyperGroup):
    """A group of commands whose errors become one line and an exit code; TREEPLEX_DEBUG=1 shows tracebacks."""

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
                fail("out of memory: a library could not be loaded; raise the limit (ulimit -v), or free some memory", FAILED)
            fail(f"{said_by(error)} ({place_of(error)}); TREEPLEX_DEBUG=1 shows the traceback", FAILED)


def wrong_use(error: Any, context: Any) -> NoReturn:
    """An unknown option, a value that is no number and the like: what is wrong, and whose help to see."""
    context = getattr(error, "ctx", None) or context
    fail(f"{error.format_message().rstrip('.')}; see {context.command_path} --help", BAD_INPUT)


def code_of(error: TreeplexError) -> int:
    """Bad input, unless the machine is to blame."""
    cause = error.__cause__
    if isinstance(error, FileError) and isinstance(cause, OSError) and cause.errno in FULL:
        return FAILED
    return BAD_INPUT


def place_of(error: Exception) -> str:
    """File and line where an error that nobody expected was raised: in a user's rules or in Treeplex."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}, line {frames[-1].lineno}, in {frames[-1].name}" if frames else "nowhere"


def fail(message: str, code: int) -> NoReturn:
    """Print one line on stderr (and the traceback for developers) and exit."""
    if os.environ.get("TREEPLEX_DEBUG", "") not in ("", "0") and sys.exc_info()[0] is not None:
        traceback.print_exc()
    typer.echo(f"error: {printable(shortened(' '.join(message.split())))}", err=True)
    raise typer.Exit(code)
