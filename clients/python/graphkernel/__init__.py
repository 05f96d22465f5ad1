"""A client of a Graph Kernel service.

    from graphkernel import Client

    kernel = Client("https://kernel.example", key)
    context = kernel.context("why was the table deleted")  # .messages for the SDKs of models, .evidence() to be verified
    bundle = kernel.cut_slice({"anchor": turn})            # bytes, to be passed on as they are
    if not kernel.verify_bundle(bundle)["admissible"]:
        raise SystemExit("not evidence")
    for fact in kernel.list_facts_all(entity="checkout"):
        print(fact["subject"], fact["predicate"], fact["object"])

Errors of the service are a Problem, told apart by its code.
"""

from __future__ import annotations

import uuid
from typing import Any

from .agent import AgentContext, Conversation, Format, ask
from .api import Code, Operations
from .transport import AnswerError, Event, Problem, Transport

__all__ = ["AgentContext", "AnswerError", "Client", "Code", "Conversation", "Event", "Problem", "Transport"]


class Client(Operations):
    """Speaks to one service with one key. Options are those of Transport."""

    def __init__(self, url: str, key: str, **options: Any) -> None:
        super().__init__(Transport(url, key, **options))

    def context(
        self,
        task: str,
        *,
        anchor: str | None = None,
        budget: int | None = None,
        policy: str | None = None,
        as_of: int | None = None,
        format: Format = "openai",
    ) -> AgentContext:
        """Asks what an agent may be given for a task. It goes on from the turn anchor, if there is one. budget is in tokens of
        text, UTF-8 bytes over four; the policy's if left out."""
        return ask(self._transport, self, task, format, anchor=anchor, budget=budget, policy=policy, as_of=as_of)

    def conversation(self, id: str | None = None, last: str | None = None) -> Conversation:
        """Begins a conversation, or goes on with one after its turn last."""
        return Conversation(self, id or str(uuid.uuid4()), last)

    def __repr__(self) -> str:
        return repr(self._transport)
