// Answers a question through the Anthropic SDK: what the model is given comes from the kernel, and what was said goes back into it.
import Anthropic from "@anthropic-ai/sdk";
import { Client } from "graphkernel";

const kernel = new Client(process.env.GRAPHKERNEL_URL, process.env.GRAPHKERNEL_KEY);
const model = process.env.MODEL ?? "claude-sonnet-5";
const question = process.argv[2];

const context = await kernel.context(question, { format: "anthropic" });
if (!(await kernel.verifyBundle(await context.evidence())).admissible) throw new Error("the context is no evidence");
const message = await new Anthropic().messages.create({ model, max_tokens: 1024, ...context.request({ role: "user", content: question }) });
const answer = message.content.map((block) => (block.type === "text" ? block.text : "")).join("");

const talk = kernel.conversation();
await talk.add("user", question, { author: `human:${process.env.USER ?? "somebody"}` });
await talk.add("assistant", answer, { author: `model:${model}` });
console.log(answer);
