"""An agent of the OpenAI Agents SDK. What it is given comes from the kernel, it can ask the kernel for more, and what was said goes back into it.

    GRAPHKERNEL_URL=… GRAPHKERNEL_KEY=… OPENAI_API_KEY=… python openai_agents_chat.py "why was the table deleted?"
"""

import os
import sys

from agents import Agent, Runner, function_tool
from graphkernel import Client

kernel = Client(os.environ["GRAPHKERNEL_URL"], os.environ["GRAPHKERNEL_KEY"])
model = os.environ.get("MODEL", "gpt-5")
question = sys.argv[1]


@function_tool
def find(words: str) -> str:
    """Finds what was said in earlier conversations.

    Args:
        words: Words or a question.
    """
    hits = kernel.search_turns({"query": words, "limit": 5})["hits"]
    return "\n\n".join(f"{hit['created_at']} {hit['author']}: {hit['content'][:2000]}" for hit in hits)


context = kernel.context(question)
if not kernel.verify_bundle(context.evidence())["admissible"]:
    raise SystemExit("the context is no evidence")
agent = Agent(name="Helper", instructions="Answer from the context. Say so if it does not have the answer.", tools=[find], model=model)
result = Runner.run_sync(agent, [*context.messages, {"role": "user", "content": question}])

talk = kernel.conversation()
talk.add("user", question, author="human:" + os.environ.get("USER", "somebody"))
talk.add("assistant", str(result.final_output), author="model:" + model)
print(result.final_output)
