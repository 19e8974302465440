"""Checks games and agents named in requests: runs no user code and reads no file outside the folder."""

from os.path import exists, isdir

from treeplex.base.spec import Spec, Value, parse_spec, shown, spec_name
from treeplex.errors import SpecError
from treeplex.forms.sources.load import load, loader_of, named_file, unwrapped
from treeplex.forms.sources.openspiel import PREFIX
from treeplex.forms.sources.user_module import is_user_spec
from treeplex.run.policy_source import UNIFORM
from treeplex.search.named_agents.registry import agents
from treeplex.web.playing.session import SOLUTION
from treeplex.web.served import Refusal, ServerState

LONGEST = 2000
CODE = "custom games and agents run code, so they can only be named on the command line: treeplex web --game my.py:MyGame"


def game_named(served: ServerState, text: str) -> str:
    """Check a game name for :func:`treeplex.load`: a spec, a file in the folder, or a game from the command line.

    Raises:
        Refusal: the name specifies code, or a file outside the folder.
        SpecError: there is no such game.
    """
    text = text.strip()
    if not text or len(text) > LONGEST:
        raise Refusal(400, "name a game, such as leduc_poker, or a file in the folder", "game")
    if text in served.own_games:
        return text
    wrappers, inner = unwrapped(text)
    if is_user_spec(inner) or ".py" in spec_name(inner):
        raise Refusal(403, CODE, "game")
    if not text.startswith(PREFIX) and isdir(served.folder / text):
        return str(served.path(text))
    if named_file(text) is not None:
        if wrappers or loader_of(inner)[1] != inner:
            raise Refusal(403, f"{shown(text)} names a file inside a spec; name the file itself", "game")
        return str(served.path(inner))
    if not inner.startswith(PREFIX):  # other texts can only be checked in a separate process
        load(text)
    return text


def agent_named(served: ServerState, text: str, *, depth: int = 0) -> str:
    """Check an agent name for :func:`treeplex.agent`; its files and folders must be in the served folder.

    Raises:
        Refusal: the name specifies code, or a path outside the folder.
        SpecError: there is no such agent.
    """
    text = text.strip()
    if len(text) > LONGEST or depth > 3:
        raise Refusal(400, "the agent's name is too long; give a name from treeplex agents", "against")
    if is_user_spec(text) or ".py" in text:
        raise Refusal(403, CODE, "against")
    if text in ("", SOLUTION, UNIFORM) or text.startswith("rebel:"):
        return text
    if spec_name(text) not in agents():
        return str(served.path(text))
    spec = parse_spec(text)
    if agents()[spec.name].external:
        raise Refusal(403, f"agent {spec.name} runs a program, so it can only be named on the command line", "against")
    return str(Spec(spec.name, {name: setting_named(served, value, depth) for name, value in spec.parameters.items()}))


def setting_named(served: ServerState, value: Value, depth: int) -> Value:
    """Check a setting of an agent: resolves paths in the folder and nested agents, returns other values unchanged."""
    if isinstance(value, list):
        return [setting_named(served, item, depth) for item in value]
    if not isinstance(value, str):
        return value
    if is_user_spec(value) or ".py" in value:  # escapes in a spec may hide code
        raise Refusal(403, CODE, "against")
    if "(" in value:
        try:
            inner = spec_name(value)
            return agent_named(served, value, depth=depth + 1) if inner in agents() else game_named(served, value)
        except SpecError as error:
            raise Refusal(400, str(error), "against") from None
    if any(sign in value for sign in ("/", "\\", "..")) or exists(served.folder / value) or exists(value):
        return str(served.path(value))
    return value
