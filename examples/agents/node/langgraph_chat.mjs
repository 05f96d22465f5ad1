// A graph of LangGraph whose first node recalls what the kernel has for the question, and whose last one records what was said.
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { Client } from "graphkernel";

const kernel = new Client(process.env.GRAPHKERNEL_URL, process.env.GRAPHKERNEL_KEY);
const model = process.env.MODEL ?? "gpt-5";
const llm = new ChatOpenAI({ model });
const talk = kernel.conversation();
const State = Annotation.Root({ ...MessagesAnnotation.spec, recalled: Annotation() });

async function recall(state) {
  const question = state.messages.at(-1).content;
  await talk.add("user", question, { author: `human:${process.env.USER ?? "somebody"}` });
  const context = await kernel.context(question, { anchor: talk.last });
  if (!(await kernel.verifyBundle(await context.evidence())).admissible) throw new Error("the context is no evidence");
  return { recalled: context.messages };
}

const answer = async (state) => ({ messages: [await llm.invoke([...state.recalled, ...state.messages])] });

async function record(state) {
  await talk.add("assistant", state.messages.at(-1).content, { author: `model:${model}` });
  return {};
}

const graph = new StateGraph(State)
  .addNode("recall", recall).addNode("answer", answer).addNode("record", record)
  .addEdge(START, "recall").addEdge("recall", "answer").addEdge("answer", "record").addEdge("record", END)
  .compile();
const said = await graph.invoke({ messages: [{ role: "user", content: process.argv[2] }] });
console.log(said.messages.at(-1).content);
