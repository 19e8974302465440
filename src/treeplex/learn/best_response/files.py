"""Learned best responses as files of a training's folder."""

from pathlib import Path

from treeplex.errors import FileError
from treeplex.forms.policies.sparse import TablePolicy, load_table_policy
from treeplex.learn.best_response.network import NetworkPolicy

TABLE, NETWORK = "table", "network"
FILES = {TABLE: "policy.safetensors", NETWORK: "net.safetensors"}
"""The response of each method."""


def load_response(folder: Path) -> TablePolicy | NetworkPolicy:
    """The response in a training's folder.

    Raises:
        FileError: there is none, or it is damaged.
        SpecError: it is a network, and PyTorch is not installed.
    """
    if (folder / FILES[NETWORK]).is_file():
        return NetworkPolicy.load(folder / FILES[NETWORK])
    if not (folder / FILES[TABLE]).is_file():
        raise FileError(f"{folder} holds no learned response; make one: treeplex train best-response GAME --against AGENT")
    return load_table_policy(folder / FILES[TABLE])
