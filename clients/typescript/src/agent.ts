// What an agent needs of a kernel: a context before it asks its model, and a record of what was said.
import type { Context, ContextRequest, Operations, Turn } from "./api.js";
import { AnswerError, Problem, type Transport } from "./transport.js";

/** The formats of prompts that SDKs take, and those for people. */
export type PromptFormat = "openai" | "anthropic" | "markdown" | "xml" | "text";

/** What a context is asked for with beside the task. */
export interface ContextOptions extends Omit<ContextRequest, "task" | "format" | "prompt"> {
  format?: PromptFormat;
}

/** A message as the APIs of models take it. */
export interface Message {
  role: "system" | "user";
  content: string;
}

/**
 * What was chosen for a task, as the SDKs of models take it.
 *
 *     const context = await kernel.context("mend the migration");
 *     await new OpenAI().chat.completions.create({ model, messages: [...context.messages, question] });
 *
 *     const context = await kernel.context("mend the migration", { format: "anthropic" });
 *     await new Anthropic().messages.create({ model, max_tokens, ...context.request(question) });
 *
 * In the format openai, messages are those of the Chat Completions API, which LangChain and LangGraph take as well.
 */
export class AgentContext {
  constructor(
    readonly answer: Context,
    private readonly fetchBundle: () => Promise<Uint8Array>,
  ) {}

  /** Names the context; the bundle and the ledger have it, too. */
  get id(): string {
    return this.answer.context_id;
  }

  /** Words of the task for which nothing was found. */
  get missing(): string[] {
    return this.answer.sufficiency.missing;
  }

  /** The rules of the policy, in the format anthropic. */
  get system(): string | undefined {
    return this.answer.body?.["system"] as string | undefined;
  }

  /** The messages that go before the agent's own. In a format for people, one message of the user with the prompt. */
  get messages(): Message[] {
    return this.answer.body ? [...(this.answer.body["messages"] as Message[])] : [{ role: "user", content: this.text }];
  }

  /** The prompt, in the formats markdown, xml and text. */
  get text(): string {
    if (this.answer.prompt === undefined) throw new TypeError(`a context in the format ${this.answer.format} has messages, and no text`);
    return this.answer.prompt;
  }

  /** Members of a request to the API of the format, with the agent's own messages at the end. */
  request<M extends object>(...messages: M[]): { messages: (Message | M)[]; system?: string } {
    const members = { messages: [...this.messages, ...messages] };
    return this.system === undefined ? members : { ...members, system: this.system };
  }

  /**
   * The bundle that this prompt is of: canonical bytes, to be verified and handed on as they are. AnswerError if it can
   * be made no longer, since a text was erased or the signing key changed meanwhile.
   */
  async evidence(): Promise<Uint8Array> {
    const data = await this.fetchBundle().catch((problem: unknown) => {
      if (problem instanceof Problem && problem.code === "not_found") return new Uint8Array();
      throw problem;
    });
    const digest = await crypto.subtle.digest("SHA-256", data as Uint8Array<ArrayBuffer>);
    const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    if (hex !== this.answer.bundle_sha256) throw new AnswerError(`context ${this.id} is another one now: a text was erased, or the signing key changed`);
    return data;
  }
}

/** Turns that follow one another, each a reply to the one before. Repeating a call that failed is for the caller, with the same id. */
export class Conversation {
  constructor(
    private readonly operations: Operations,
    readonly id: string,
    public last?: string,
  ) {}

  /** Admits a turn and returns its id. author is such as human:anna, model:gpt-5 or tool:shell. */
  async add(role: Turn["role"], content: string, more: { author?: string; id?: string } = {}): Promise<string> {
    const turn: Turn = { id: more.id ?? crypto.randomUUID(), conversation: this.id, role, content, created_at: new Date().toISOString() };
    if (more.author) turn.author = more.author;
    if (this.last) turn.parents = [{ id: this.last, kind: "reply" }];
    await this.operations.admitTurns({ turns: [turn] });
    return (this.last = turn.id);
  }
}

/** Asks for a context, and remembers how to ask for its bundle. */
export async function ask(transport: Transport, operations: Operations, task: string, options: ContextOptions): Promise<AgentContext> {
  const format = options.format ?? "openai";
  const body: ContextRequest = { ...options, task, format };
  const answer = (await operations.assembleContext(body)) as Context;
  const again: ContextRequest = { ...body, format: "bundle", prompt: format, as_of: answer.as_of };
  if (body.as_of === undefined) again.rules_as_of = answer.rules_as_of;
  return new AgentContext(answer, () => transport.raw("POST", "/api/context", { body: again, media: "application/json" }));
}
