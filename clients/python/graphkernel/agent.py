"""What an agent needs of a kernel: a context before it asks its model, and a record of what was said."""

from __future__ import annotations

import datetime
import hashlib
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Literal

from .api import Context, Operations
from .transport import AnswerError, Problem, Transport

Format = Literal["openai", "anthropic", "markdown", "xml", "text"]


class AgentContext:
    """What was chosen for a task, as the SDKs of models take it.

        context = kernel.context("mend the migration")
        OpenAI().chat.completions.create(model=…, messages=context.messages + [question])

        context = kernel.context("mend the migration", format="anthropic")
        Anthropic().messages.create(model=…, max_tokens=…, **context.request(question))

    In the format openai, messages are those of the Chat Completions API, which LangChain and LangGraph take as well.
    """

    def __init__(self, answer: Context, fetch: Callable[[], bytes]) -> None:
        self.answer = answer
        self._fetch = fetch

    @property
    def id(self) -> str:
        """Names the context; the bundle and the ledger have it, too."""
        return self.answer["context_id"]

    @property
    def missing(self) -> list[str]:
        """Words of the task for which nothing was found."""
        return self.answer["sufficiency"]["missing"]

    @property
    def system(self) -> str | None:
        """The rules of the policy, in the format anthropic; None if it has none."""
        return self.answer.get("body", {}).get("system")

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages that go before the agent's own. In a format for people, one message of the user with the prompt."""
        if "body" in self.answer:
            return list(self.answer["body"]["messages"])
        return [{"role": "user", "content": self.answer["prompt"]}]

    @property
    def text(self) -> str:
        """The prompt, in the formats markdown, xml and text."""
        if "prompt" not in self.answer:
            raise ValueError(f"a context in the format {self.answer['format']} has messages, and no text")
        return self.answer["prompt"]

    def request(self, *messages: Mapping[str, Any]) -> dict[str, Any]:
        """Members of a request to the API of the format, with the agent's own messages at the end."""
        members: dict[str, Any] = {"messages": self.messages + [dict(m) for m in messages]}
        if self.system is not None:
            members["system"] = self.system
        return members

    def evidence(self) -> bytes:
        """The bundle that this prompt is of: canonical bytes, to be verified and handed on as they are. AnswerError if it
        can be made no longer, since a text was erased or the signing key changed meanwhile."""
        try:
            data = self._fetch()
        except Problem as problem:
            if problem.code != "not_found":
                raise
            data = b""
        if hashlib.sha256(data).hexdigest() != self.answer["bundle_sha256"]:
            raise AnswerError(f"context {self.id} is another one now: a text was erased, or the signing key changed")
        return data


class Conversation:
    """Turns that follow one another, each a reply to the one before. Repeating a call that failed is for the caller, with the same id."""

    def __init__(self, operations: Operations, id: str, last: str | None = None) -> None:
        self._operations, self.id, self.last = operations, id, last

    def add(self, role: Literal["user", "assistant", "system", "tool"], content: str, *, author: str = "", id: str | None = None) -> str:
        """Admits a turn and returns its id. author is such as human:anna, model:gpt-5 or tool:shell."""
        turn: dict[str, Any] = {
            "id": id or str(uuid.uuid4()), "conversation": self.id, "role": role, "content": content,
            "created_at": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        }
        if author:
            turn["author"] = author
        if self.last is not None:
            turn["parents"] = [{"id": self.last, "kind": "reply"}]
        self._operations.admit_turns({"turns": [turn]})  # type: ignore[typeddict-item]
        self.last = turn["id"]
        return turn["id"]


def ask(transport: Transport, operations: Operations, task: str, format: Format, **given: Any) -> AgentContext:
    """Asks for a context, and remembers how to ask for its bundle."""
    body = {"task": task, "format": format, **{name: value for name, value in given.items() if value is not None}}
    answer: Any = operations.assemble_context(body)  # type: ignore[arg-type]
    again = {**body, "format": "bundle", "prompt": format, "as_of": answer["as_of"]}
    if "as_of" not in body:
        again["rules_as_of"] = answer["rules_as_of"]
    return AgentContext(answer, lambda: transport.raw("POST", "/api/context", body=again, media="application/json"))
