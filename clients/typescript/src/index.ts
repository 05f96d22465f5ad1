/**
 * A client of a Graph Kernel service.
 *
 *     import { Client } from "graphkernel";
 *
 *     const kernel = new Client("https://kernel.example", key);
 *     const bundle = await kernel.cutSlice({ anchor: turn }); // bytes, to be passed on as they are
 *     if (!(await kernel.verifyBundle(bundle)).admissible) throw new Error("not evidence");
 *     for await (const fact of kernel.listFactsAll({ entity: "checkout" })) console.log(fact.subject, fact.object);
 *
 * Errors of the service are a Problem, told apart by its code.
 */
import { Operations } from "./api.js";
import { Transport, type TransportOptions } from "./transport.js";

export * from "./api.js";
export * from "./transport.js";

/** Speaks to one service with one key. */
export class Client extends Operations {
  constructor(url: string, key: string, options: TransportOptions = {}) {
    super(new Transport(url, key, options));
  }
}
