"""An agent of the Claude Agent SDK. A hook gives it a context from the kernel with each prompt, and what was said goes back into the kernel.

    GRAPHKERNEL_URL=… GRAPHKERNEL_KEY=… ANTHROPIC_API_KEY=… python claude_agent_chat.py "why was the table deleted?"

Sessions of such an agent also come by themselves, with all their tool calls: see graphkernel setup claude-code.
"""

import asyncio
import os
import sys
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, ResultMessage, query
from graphkernel import Client

kernel = Client(os.environ["GRAPHKERNEL_URL"], os.environ["GRAPHKERNEL_KEY"])
model = os.environ.get("MODEL", "claude-sonnet-5")
question = sys.argv[1]
talk = kernel.conversation()


async def recall(event: Any, _tool: str | None, _context: Any) -> dict[str, Any]:
    talk.add("user", event["prompt"], author="human:" + os.environ.get("USER", "somebody"))
    context = kernel.context(event["prompt"], format="markdown", anchor=talk.last)
    if not kernel.verify_bundle(context.evidence())["admissible"]:
        raise ValueError("the context is no evidence")
    return {"hookSpecificOutput": {"hookEventName": event["hook_event_name"], "additionalContext": context.text}}


async def main() -> None:
    options = ClaudeAgentOptions(model=model, hooks={"UserPromptSubmit": [HookMatcher(hooks=[recall])]}, setting_sources=[], allowed_tools=[])
    async for message in query(prompt=question, options=options):
        if isinstance(message, ResultMessage) and message.result:
            talk.add("assistant", message.result, author="model:" + model)
            print(message.result)


asyncio.run(main())
