// Answers a question through the OpenAI SDK: what the model is given comes from the kernel, and what was said goes back into it.
import { Client } from "graphkernel";
import OpenAI from "openai";

const kernel = new Client(process.env.GRAPHKERNEL_URL, process.env.GRAPHKERNEL_KEY);
const model = process.env.MODEL ?? "gpt-5";
const question = process.argv[2];

const context = await kernel.context(question);
if (!(await kernel.verifyBundle(await context.evidence())).admissible) throw new Error("the context is no evidence");
const completion = await new OpenAI().chat.completions.create({ model, messages: [...context.messages, { role: "user", content: question }] });
const answer = completion.choices[0].message.content;

const talk = kernel.conversation();
await talk.add("user", question, { author: `human:${process.env.USER ?? "somebody"}` });
await talk.add("assistant", answer, { author: `model:${model}` });
console.log(answer);
