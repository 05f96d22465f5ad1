// Calls a service at GRAPHKERNEL_URL with the key GRAPHKERNEL_KEY; api/clients starts one.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";

import { AnswerError, Client, Problem } from "../dist/index.js";

const [question, answer, talk] = [0, 1, 2].map((n) => `0b5e0000-0000-4000-8000-00000000c10${n}`);
const turns = () => ({
  turns: [
    { id: question, conversation: talk, role: "user", author: "human:guest", created_at: "2026-01-02T03:04:05Z", content: "May I deploy — now?" },
    { id: answer, conversation: talk, role: "assistant", author: "model:m", created_at: "2026-01-02T03:04:06Z", content: "Not before the tests pass.", parents: [{ id: question, kind: "reply" }] },
  ],
});
const key = process.env.GRAPHKERNEL_KEY;
const client = new Client(process.env.GRAPHKERNEL_URL, key);
await client.admitTurns(turns());
const collect = async (list) => { const all = []; for await (const item of list) all.push(item); return all; };

test("turns", async () => {
  assert.equal((await client.admitTurns(turns())).existing, 2);
  const lines = turns().turns.map((t) => JSON.stringify(t) + "\n").join("");
  assert.equal((await client.admitTurnsLines(new TextEncoder().encode(lines))).existing, 2);
  assert.equal((await client.resolveTurn({ name: answer })).id, answer);
  assert.deepEqual((await collect(client.getConversationAll(talk))).map((t) => t.turn.id), [question, answer]);
  assert.deepEqual((await collect(client.listTurnsAll({ conversation: talk, role: "assistant" }))).map((t) => t.turn.id), [answer]);
});

test("slice, and the verifier that has no part in it", async () => {
  const bundle = await client.cutSlice({ anchor: answer });
  assert.equal((await client.verifyBundle(bundle)).admissible, true);
  const text = new TextDecoder().decode(bundle);
  assert.equal((await client.verifyBundle(new TextEncoder().encode(text.replace("Not before", "Not after!")))).admissible, false);
  const id = JSON.parse(text).provenance.slice_id;
  assert.equal((await client.replaySlice(id)).outcome, "identical");
  assert.equal((await client.replaySlice(id, bundle)).outcome, "identical");
  const evidence = await client.attestBundle(bundle);
  assert.equal(evidence.bundle_sha256, createHash("sha256").update(bundle).digest("hex"));
  const folder = await mkdtemp(path.join(tmpdir(), "graphkernel-"));
  try {
    await writeFile(path.join(folder, "bundle.json"), bundle);
    await writeFile(path.join(folder, "attestation.json"), JSON.stringify(evidence.attestation));
    await writeFile(path.join(folder, "slice.tlog-proof"), evidence.proof);
    const verifier = fileURLToPath(new URL("../../../verifiers/js/cli.mjs", import.meta.url));
    const ran = spawnSync(process.execPath, ["--no-warnings", verifier, "--trust", process.env.GRAPHKERNEL_TRUST, folder]);
    assert.equal(ran.status, 0, String(ran.stdout) + ran.stderr);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("context", async () => {
  const talk = client.conversation();
  const first = await talk.add("user", "The anchor of the harbour boat is lost. What now?", { author: "human:pilot" });
  await talk.add("assistant", "The spare anchor is under the bench.", { author: "model:m" });
  const context = await client.context("where is the spare anchor", { anchor: talk.last, budget: 200 });
  assert.match(context.messages.at(-1).content, /under the bench/);
  assert.ok(context.answer.turns.includes(first));
  assert.deepEqual(context.missing, []);
  const bundle = await context.evidence();
  assert.equal((await client.verifyBundle(bundle)).admissible, true);
  for (const format of ["markdown", "xml", "text"]) assert.match((await client.context("the spare anchor", { format })).text, /under the bench/);
  await client.registerPolicy({ policy_id: "ruled-ts@1", policy: { type: "context_policy_v1", rules: "Never leave the boat.", budget: 300 } });
  const asked = (await client.context("the spare anchor", { format: "anthropic", policy: "ruled-ts@1" })).request({ role: "user", content: "Go on." });
  assert.equal(asked.system, "Never leave the boat.");
  assert.equal(asked.messages.at(-1).content, "Go on.");
  assert.throws(() => context.text, TypeError);
  await client.eraseTurn(first, { reason: "asked to" });
  await assert.rejects(context.evidence(), AnswerError);
});

test("facts", async () => {
  for (let n = 0; n < 5; n++) await client.learnFact({ subject: `queue ${n}`, predicate: "is read by", object: "mailer", confidence: 0.75 });
  assert.equal((await collect(client.listFactsAll({ object: "mailer", min_confidence: 0.75 }))).length, 5);
  const page = await client.listFacts({ object: "mailer", limit: 2 });
  assert.equal(page.facts.length, 2);
  assert.equal(page.total, 5);
  assert.equal((await client.findPaths({ from: "queue 1", to: "queue 2", predicates: ["is read by"] })).reached[0].hops, 2);
  await client.addAliases({ aliases: [{ alias: "the post/é", canonical: "mailer" }] });
  assert.equal((await client.removeAlias("the post/é")).result, "unaliased");
  assert.match(new TextDecoder().decode(await client.drawKnowledge({ entity: "mailer", format: "mermaid" })), /flowchart/);
});

test("problems", async () => {
  await assert.rejects(client.getTurn("0b5e0000-0000-4000-8000-00000000ffff"), (e) => e instanceof Problem && e.code === "not_found" && e.status === 404);
  const conflict = turns();
  conflict.turns[0].content = "another text";
  await assert.rejects(client.admitTurns(conflict), (e) => e.code === "conflict" && e.document.turn === question);
});

test("events, health, tiles", async () => {
  for await (const event of client.streamEvents({ last_event_id: "0" })) {
    assert.equal(event.name, "turn");
    break;
  }
  assert.equal((await client.ready({})).status, "ok");
  assert.match(await client.metrics({}), /graphkernel/);
  assert.equal((await client.getTile("0/000.p/1")).length, 32);
  assert.ok(!inspect(client, { depth: 9, showHidden: true }).includes(key));
});

async function unreliable(t, ...answers) {
  const asked = [], slept = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    const [status, headers, body] = answers.shift();
    request.resume().on("end", () => response.writeHead(status, headers).end(body));
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  t.after(() => server.close());
  return { client: new Client(`http://127.0.0.1:${server.address().port}`, "gk1.k", { sleep: async (ms) => void slept.push(ms) }), asked, slept };
}
const busy = [503, { "Content-Type": "application/problem+json", "Retry-After": "2" }, '{"code":"overloaded","detail":"busy"}'];
const fine = [200, { "Content-Type": "application/json" }, '{"tenant":"default","role":"admin","head":1}'];

test("retries", async (t) => {
  const a = await unreliable(t, busy, fine);
  assert.equal((await a.client.getCaller()).head, 1);
  assert.ok(a.asked.length === 2 && a.slept[0] >= 2000 && a.slept[0] <= 2500);
  const b = await unreliable(t, busy, busy, busy, busy, busy);
  await assert.rejects(b.client.getCaller(), (e) => e.code === "overloaded");
  assert.equal(b.asked.length, 4);
  const c = await unreliable(t, busy, busy);
  await assert.rejects(c.client.createKey({ role: "agent" }), Problem);
  assert.equal(c.asked.length, 1);
});

test("lies", async (t) => {
  const json = { "Content-Type": "application/json" };
  const a = await unreliable(t, [302, { Location: "http://127.0.0.1:1/" }, ""], [200, { "Content-Type": "text/html" }, "<p>"], [200, { ...json, ETag: `"${"0".repeat(64)}"` }, "{}"]);
  await assert.rejects(a.client.getCaller(), AnswerError);
  await assert.rejects(a.client.getCaller(), AnswerError);
  await assert.rejects(a.client.cutSlice({ anchor: answer }), AnswerError);
  for (const url of ["http://kernel.example", "https://u:p@kernel.example", "ftp://kernel.example", "https://kernel.example/?x"]) assert.throws(() => new Client(url, "gk1.k"), TypeError);
  for (const name of ["", "..", "."]) assert.throws(() => a.client.getTurn(name), TypeError);
});

test("what is packed", async () => {
  const described = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));
  assert.equal(described.dependencies, undefined);
});
