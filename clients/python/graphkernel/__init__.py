"""A client of a Graph Kernel service.

    from graphkernel import Client

    kernel = Client("https://kernel.example", key)
    bundle = kernel.cut_slice({"anchor": turn})          # bytes, to be passed on as they are
    if not kernel.verify_bundle(bundle)["admissible"]:
        raise SystemExit("not evidence")
    for fact in kernel.list_facts_all(entity="checkout"):
        print(fact["subject"], fact["predicate"], fact["object"])

Errors of the service are a Problem, told apart by its code.
"""

from __future__ import annotations

from typing import Any

from .api import Code, Operations
from .transport import AnswerError, Event, Problem, Transport

__all__ = ["AnswerError", "Client", "Code", "Event", "Problem", "Transport"]


class Client(Operations):
    """Speaks to one service with one key. Options are those of Transport."""

    def __init__(self, url: str, key: str, **options: Any) -> None:
        super().__init__(Transport(url, key, **options))

    def __repr__(self) -> str:
        return repr(self._transport)
