"""Answers a question through the Anthropic SDK: what the model is given comes from the kernel, and what was said goes back into it.

    GRAPHKERNEL_URL=… GRAPHKERNEL_KEY=… ANTHROPIC_API_KEY=… python anthropic_chat.py "why was the table deleted?"
"""

import os
import sys

from anthropic import Anthropic
from graphkernel import Client

kernel = Client(os.environ["GRAPHKERNEL_URL"], os.environ["GRAPHKERNEL_KEY"])
model = os.environ.get("MODEL", "claude-sonnet-5")
question = sys.argv[1]

context = kernel.context(question, format="anthropic")
if not kernel.verify_bundle(context.evidence())["admissible"]:
    raise SystemExit("the context is no evidence")
message = Anthropic().messages.create(model=model, max_tokens=1024, **context.request({"role": "user", "content": question}))
answer = "".join(block.text for block in message.content if block.type == "text")

talk = kernel.conversation()
talk.add("user", question, author="human:" + os.environ.get("USER", "somebody"))
talk.add("assistant", answer, author="model:" + model)
print(answer)
