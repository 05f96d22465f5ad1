"""Answers a question through the OpenAI SDK: what the model is given comes from the kernel, and what was said goes back into it.

    GRAPHKERNEL_URL=… GRAPHKERNEL_KEY=… OPENAI_API_KEY=… python openai_chat.py "why was the table deleted?"
"""

import os
import sys

from graphkernel import Client
from openai import OpenAI

kernel = Client(os.environ["GRAPHKERNEL_URL"], os.environ["GRAPHKERNEL_KEY"])
model = os.environ.get("MODEL", "gpt-5")
question = sys.argv[1]

context = kernel.context(question)
if not kernel.verify_bundle(context.evidence())["admissible"]:
    raise SystemExit("the context is no evidence")
completion = OpenAI().chat.completions.create(model=model, messages=[*context.messages, {"role": "user", "content": question}])
answer = completion.choices[0].message.content or ""

talk = kernel.conversation()
talk.add("user", question, author="human:" + os.environ.get("USER", "somebody"))
talk.add("assistant", answer, author="model:" + model)
print(answer)
