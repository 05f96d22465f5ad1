// Sends requests: the key, retries, problems, and digests of bundles. Nothing but fetch and Web Crypto.

import type { Code, ProblemDocument } from "./api.js";

/** After how many seconds at most a refused request is sent again. */
const longest = 30;

/** The answer breaks the contract: of another media type, or of other bytes than it was announced with. */
export class AnswerError extends Error {
  override readonly name = "AnswerError";
}

/** An error that the service answered with (RFC 9457). code is stable, and callers branch on it. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly code: Code | "";
  constructor(
    readonly status: number,
    readonly document: Partial<ProblemDocument>,
    readonly retryAfter = 0,
  ) {
    super([document.code, document.detail ?? `the answer was ${status}, without a problem document`].filter(Boolean).join(": "));
    this.code = (document.code ?? "") as Code | "";
  }
}

/** One event of a stream. To go on later, give the id of the last one. */
export interface ServiceEvent {
  id: string;
  name: string;
  data: Record<string, unknown>;
}

/** What a client works with beside URL and key. */
export interface TransportOptions {
  /** Permits http to other hosts than this one. The key then crosses the network in the clear. */
  allowPlaintext?: boolean;
  /** After so many milliseconds a request counts as lost: 90 000. */
  timeout?: number;
  /** To send one request: 4. */
  attempts?: number;
  /** Waits between attempts, for milliseconds. */
  sleep?: (milliseconds: number) => Promise<void>;
  fetch?: typeof globalThis.fetch;
}

interface RequestOptions {
  query?: object;
  headers?: Record<string, string | undefined>;
  body?: unknown;
  media?: string;
  once?: boolean;
  keyless?: boolean;
}

/** Speaks to one service with one key. It shows the key to no printer. */
export class Transport {
  readonly #base: string;
  readonly #key: string;
  readonly #options: Required<TransportOptions>;

  constructor(url: string, key: string, options: TransportOptions = {}) {
    const parsed = new URL(url);
    const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(parsed.hostname);
    if (!/^https?:$/.test(parsed.protocol) || parsed.username || parsed.password || parsed.search || parsed.hash) {
      throw new TypeError("the URL may have only a scheme, a host and a path; pass the key separately");
    }
    if (parsed.protocol === "http:" && !options.allowPlaintext && !loopback) {
      throw new TypeError("http would send the key unencrypted; use https, or allowPlaintext");
    }
    if (!/^[!-~]+$/.test(key)) throw new TypeError("the key is empty, or has spaces or characters other than printable ASCII");
    this.#base = url.replace(/\/+$/, "");
    this.#key = key;
    this.#options = {
      allowPlaintext: false,
      timeout: 90_000,
      attempts: 4,
      sleep: (milliseconds) => new Promise((wake) => setTimeout(wake, milliseconds)),
      fetch: globalThis.fetch.bind(globalThis),
      ...options,
    };
  }

  /** Writes a parameter of a path. */
  segment(text: string): string {
    if (text === "" || text === "." || text === "..") throw new TypeError(`${JSON.stringify(text)} cannot be a part of a path`);
    return encodeURIComponent(text);
  }

  /** Writes a parameter of a path that has parts. */
  segments(text: string): string {
    return text.split("/").map((part) => this.segment(part)).join("/");
  }

  /** Sends a request and reads the object that answers it. */
  async json<T>(method: string, path: string, options: RequestOptions): Promise<T> {
    const answer = await this.#send(method, path, options);
    if (mediaOf(answer.headers) !== "application/json") throw new AnswerError(`${method} ${path}: the answer is ${mediaOf(answer.headers)}, want application/json`);
    let value: unknown;
    try {
      value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(answer.body));
    } catch (cause) {
      throw new AnswerError(`${method} ${path}: the answer is no JSON`, { cause });
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw new AnswerError(`${method} ${path}: the answer is no object`);
    return value as T;
  }

  /** Sends a request that is answered in plain text. */
  async text(method: string, path: string, options: RequestOptions): Promise<string> {
    return new TextDecoder().decode((await this.#send(method, path, options)).body);
  }

  /** Sends a request and returns the bytes of the answer. Those of a bundle are held against the digest that they
   * were announced with. */
  async raw(method: string, path: string, options: RequestOptions): Promise<Uint8Array> {
    const answer = await this.#send(method, path, options);
    const tag = (answer.headers.get("ETag") ?? "").replaceAll('"', "");
    if (tag.length === 64) {
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", answer.body));
      if (Array.from(digest, (b) => b.toString(16).padStart(2, "0")).join("") !== tag) throw new AnswerError(`${method} ${path}: the bytes are not those of the digest ${tag}`);
    }
    return answer.body;
  }

  /** Reads a stream of events until it is cut. */
  async *events(method: string, path: string, options: RequestOptions): AsyncGenerator<ServiceEvent, void, undefined> {
    const abort = new AbortController();
    try {
      const response = await this.#open(method, path, options, abort.signal);
      const decoder = new TextDecoder();
      let rest = "";
      let fields: Record<string, string> = {};
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
        rest = lines.pop() ?? "";
        for (const line of lines) {
          const colon = line.indexOf(":");
          if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).replace(/^ /, "");
          if (line !== "") continue;
          const { id = "", event = "", data } = fields;
          fields = {};
          if (data !== undefined) yield { id, name: event, data: JSON.parse(data) as Record<string, unknown> };
        }
      }
    } finally {
      abort.abort();
    }
  }

  async #open(method: string, path: string, options: RequestOptions, signal: AbortSignal): Promise<Response> {
    const url = new URL(this.#base + path);
    for (const [name, value] of Object.entries(options.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, parameter(value));
    }
    const headers = new Headers();
    for (const [name, value] of Object.entries(options.headers ?? {})) {
      if (value !== undefined) headers.set(name, value);
    }
    if (!options.keyless) headers.set("Authorization", "Bearer " + this.#key);
    const init: RequestInit = { method, headers, redirect: "manual", signal };
    if (options.body !== undefined) {
      headers.set("Content-Type", options.media ?? "application/json");
      init.body = (options.body instanceof Uint8Array ? options.body : JSON.stringify(options.body)) as BodyInit;
    }
    const response = await this.#options.fetch(url, init);
    const unwell = options.keyless && response.status === 503 && mediaOf(response.headers) === "application/json";
    if (response.status === 200 || unwell) return response; // a service that is not well says how it is
    if (response.status < 400) throw new AnswerError(`${method} ${path}: status ${response.status}`);
    let document: Partial<ProblemDocument> = {};
    if (mediaOf(response.headers) === "application/problem+json") document = (await response.json().catch(() => ({}))) as Partial<ProblemDocument>;
    const after = response.headers.get("Retry-After") ?? "";
    throw new Problem(response.status, document, /^\d+$/.test(after) ? Number(after) : 0);
  }

  async #send(method: string, path: string, options: RequestOptions): Promise<{ headers: Headers; body: Uint8Array<ArrayBuffer> }> {
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await this.#open(method, path, options, AbortSignal.timeout(this.#options.timeout));
        return { headers: response.headers, body: new Uint8Array(await response.arrayBuffer()) };
      } catch (error) {
        let wait = Math.min(5, 0.1 * 2 ** (attempt - 1));
        if (error instanceof Problem) {
          wait = error.retryAfter;
          if ((error.status !== 429 && error.status !== 503) || wait <= 0 || wait > longest) throw error;
        }
        if (error instanceof AnswerError || options.once || options.keyless || attempt >= this.#options.attempts) throw error;
        await this.#options.sleep(1000 * wait * (1 + Math.random() / 4));
      }
    }
  }
}

function mediaOf(headers: Headers): string {
  return (headers.get("Content-Type") ?? "").split(";")[0]!.trim();
}

function parameter(value: unknown): string {
  if (Array.isArray(value)) return value.join(",");
  if (typeof value === "number" && !Number.isInteger(value)) return value.toFixed(6).replace(/\.?0+$/, "");
  return String(value);
}
