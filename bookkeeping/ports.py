"""Storage ports: the only things of an agent that a harness may replace.

A port is a Protocol marked with ``@storage_port``. The mark says: behind this interface nothing is decided, something
is only kept. An extractor, a classifier or a rule never carries it.
"""

from typing import TypeVar

Port = TypeVar("Port", bound=type)

MARK = "__storage_port__"


def storage_port(port: Port) -> Port:
    """Marks a Protocol as a storage port. Raises TypeError for a class that is not a Protocol."""
    if not getattr(port, "_is_protocol", False):
        raise TypeError(f"{port.__name__} is not a Protocol: only an interface can be a storage port")
    setattr(port, MARK, True)
    return port


def is_storage_port(port: type) -> bool:
    """Whether the class itself carries the mark (a subclass does not inherit it)."""
    return MARK in vars(port)
