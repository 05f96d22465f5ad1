"""A graph of LangGraph whose first node recalls what the kernel has for the question, and whose last one records what was said.

    GRAPHKERNEL_URL=… GRAPHKERNEL_KEY=… OPENAI_API_KEY=… python langgraph_chat.py "why was the table deleted?"
"""

import os
import sys
from typing import Any

from graphkernel import Client
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph

kernel = Client(os.environ["GRAPHKERNEL_URL"], os.environ["GRAPHKERNEL_KEY"])
model = os.environ.get("MODEL", "gpt-5")
llm = ChatOpenAI(model=model)
talk = kernel.conversation()


class State(MessagesState):
    recalled: list[dict[str, Any]]


def recall(state: State) -> dict[str, Any]:
    question = str(state["messages"][-1].content)
    talk.add("user", question, author="human:" + os.environ.get("USER", "somebody"))
    context = kernel.context(question, anchor=talk.last)
    if not kernel.verify_bundle(context.evidence())["admissible"]:
        raise ValueError("the context is no evidence")
    return {"recalled": context.messages}


def answer(state: State) -> dict[str, Any]:
    return {"messages": [llm.invoke([*state["recalled"], *state["messages"]])]}


def record(state: State) -> None:
    talk.add("assistant", str(state["messages"][-1].content), author="model:" + model)


graph = StateGraph(State)
graph.add_node(recall).add_node(answer).add_node(record)
graph.add_edge(START, "recall").add_edge("recall", "answer").add_edge("answer", "record").add_edge("record", END)
said = graph.compile().invoke({"messages": [{"role": "user", "content": sys.argv[1]}], "recalled": []})
print(said["messages"][-1].content)
