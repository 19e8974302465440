"""Commands of ``treeplex``, run in the process of the tests."""

import json
from typing import Any

from typer.testing import CliRunner

from treeplex.run.cli.main import app


def call(*arguments: object, code: int = 0) -> tuple[str, str]:
    """Run a command that exits with a code; return what it printed on stdout and stderr."""
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == code, (arguments, result.output, result.exception)
    assert "Traceback" not in result.output
    return result.stdout, result.stderr


def call_json(*arguments: object, code: int = 0) -> Any:
    """What a command prints with ``--json``."""
    return json.loads(call(*arguments, "--json", code=code)[0])


def complaint(*arguments: object, code: int = 2) -> str:
    """The one line on stderr of a command that fails."""
    out, err = call(*arguments, code=code)
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    return err
