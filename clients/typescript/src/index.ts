/**
 * A client of a Graph Kernel service.
 *
 *     import { Client } from "graphkernel";
 *
 *     const kernel = new Client("https://kernel.example", key);
 *     const context = await kernel.context("why was the table deleted"); // .messages for the SDKs of models, .evidence() to be verified
 *     const bundle = await kernel.cutSlice({ anchor: turn }); // bytes, to be passed on as they are
 *     if (!(await kernel.verifyBundle(bundle)).admissible) throw new Error("not evidence");
 *     for await (const fact of kernel.listFactsAll({ entity: "checkout" })) console.log(fact.subject, fact.object);
 *
 * Errors of the service are a Problem, told apart by its code.
 */
import { type AgentContext, ask, type ContextOptions, Conversation } from "./agent.js";
import { Operations } from "./api.js";
import { Transport, type TransportOptions } from "./transport.js";

export { AgentContext, Conversation, type ContextOptions, type Message, type PromptFormat } from "./agent.js";
export * from "./api.js";
export * from "./transport.js";

/** Speaks to one service with one key. */
export class Client extends Operations {
  constructor(url: string, key: string, options: TransportOptions = {}) {
    super(new Transport(url, key, options));
  }

  /**
   * Asks what an agent may be given for a task. It goes on from the turn anchor, if there is one. budget is in tokens of text,
   * UTF-8 bytes over four; the policy's if left out.
   */
  context(task: string, options: ContextOptions = {}): Promise<AgentContext> {
    return ask(this.transport, this, task, options);
  }

  /** Begins a conversation, or goes on with one after its turn last. */
  conversation(id: string = crypto.randomUUID(), last?: string): Conversation {
    return new Conversation(this, id, last);
  }
}
