// Tests of gkverify.mjs and cli.mjs: node --test, in this folder. Node's own modules only.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash, createHmac, createPrivateKey, createPublicKey, sign } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { Usage, ed25519, refusedKey, isConsistent, leafHash, nameOf, nameOf2, role, rootFromPath, treeRoot, verify, xxhash64 } from "./gkverify.mjs";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const VECTORS = here("../../golden/testdata/gkp-1.jsonl");
const MARKED = here("../../golden/testdata/gkp-2.jsonl");
const COUNTED = here("../../golden/testdata/gkp-3.jsonl");
const CASES = unpacked("verify");
const FACTS = unpacked("verify-facts");
const BELIEFS = unpacked("verify-beliefs");
const CONTEXTS = unpacked("verify-contexts");
const SECRET = Uint8Array.from({ length: 32 }, (_, i) => i);
const bytes = (data) => new Uint8Array(Buffer.from(data));
const sha = (data) => createHash("sha256").update(data).digest();
const b64 = (data) => Buffer.from(data).toString("base64");
const fromHex = (text) => bytes(Buffer.from(text, "hex"));

// A part of the cases as folders. The cases of a subject are a file: an object that has each case under its name, as an object that has the content of each of its files
// under the file's path.
function unpacked(part) {
  const from = here(`../../golden/${part}`);
  if (!existsSync(from)) return from;
  const to = mkdtempSync(join(tmpdir(), `${part}-`));
  process.on("exit", () => rmSync(to, { recursive: true }));
  for (const file of readdirSync(from)) {
    for (const [name, files] of Object.entries(JSON.parse(readFileSync(join(from, file), "utf8")))) {
      const folder = join(to, name);
      mkdirSync(join(folder, "evidence"), { recursive: true });
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), typeof content === "string" ? content : Buffer.from(content.base64, "base64"));
      }
    }
  }
  return to;
}

// Canonical JSON of plain values, for these tests: sorted keys, JSON.stringify's strings.
function dump(v) {
  if (Array.isArray(v)) return "[" + v.map(dump).join(",") + "]";
  if (v === null || typeof v !== "object") return JSON.stringify(v);
  return "{" + Object.keys(v).sort().map((k) => JSON.stringify(k) + ":" + dump(v[k])).join(",") + "}";
}

class Signer {
  constructor(name, algorithm = 1, seed = name) {
    const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), sha(seed)]);
    this.name = name;
    this.private = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
    this.public = createPublicKey(this.private).export({ format: "der", type: "spki" }).subarray(-32);
    const blob = Buffer.concat([Buffer.of(algorithm), this.public]);
    this.id = sha(Buffer.concat([Buffer.from(name + "\n"), blob]));
    this.vkey = `${name}+${this.id.toString("hex", 0, 4)}+${b64(blob)}`;
  }
  sign(message) {
    return sign(null, Buffer.from(message), this.private);
  }
  line(text) {
    return `\u2014 ${this.name} ${b64(Buffer.concat([this.id.subarray(0, 4), this.sign(text)]))}\n`;
  }
  cosign(text, seconds) {
    const stamp = Buffer.alloc(8);
    stamp.writeBigUInt64BE(BigInt(seconds));
    return `\u2014 ${this.name} ${b64(Buffer.concat([this.id.subarray(0, 4), stamp, this.sign(`cosignature/v1\ntime ${seconds}\n${text}`)]))}\n`;
  }
}

const ORIGIN = "default.kernel.example";
const LOG = new Signer(ORIGIN);
const SIGNER = new Signer(ORIGIN, 1, "signer");
const STRANGER = new Signer("stranger.example");
const [W1, W2, W3] = [1, 2, 3].map((i) => new Signer(`w${i}.example`, 4));
const NOW = 1767323045;
const ISSUED = "2026-01-02T03:04:05.000006Z";
const TRUST = `# comment
signer ${SIGNER.vkey}
log ${LOG.vkey} https://log.example/
witness a ${W1.vkey}
witness b ${W2.vkey}
witness c ${W3.vkey} https://w3.example
group g 2 a b c
quorum g
`;

// A tree by the recursion of RFC 6962.
function split(n) {
  let k = 1;
  while (2 * k < n) k *= 2;
  return k;
}
const node = (a, b) => sha(Buffer.concat([Buffer.of(1), a, b]));
function naiveRoot(leaves) {
  if (!leaves.length) return sha("");
  if (leaves.length === 1) return sha(Buffer.concat([Buffer.of(0), Buffer.from(leaves[0])]));
  const k = split(leaves.length);
  return node(naiveRoot(leaves.slice(0, k)), naiveRoot(leaves.slice(k)));
}
function naivePath(m, leaves) {
  if (leaves.length === 1) return [];
  const k = split(leaves.length);
  return m < k ? [...naivePath(m, leaves.slice(0, k)), naiveRoot(leaves.slice(k))] : [...naivePath(m - k, leaves.slice(k)), naiveRoot(leaves.slice(0, k))];
}
function naiveConsistency(m, leaves, whole = true) {
  if (m === leaves.length) return whole ? [] : [naiveRoot(leaves)];
  const k = split(leaves.length);
  if (m <= k) return [...naiveConsistency(m, leaves.slice(0, k), whole), naiveRoot(leaves.slice(k))];
  return [...naiveConsistency(m - k, leaves.slice(k), false), naiveRoot(leaves.slice(0, k))];
}

const linesOf = (file) => readFileSync(file, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
const vectors = linesOf(VECTORS);
const vector = vectors.find((c) => c.expect.bundle && !c.redacted?.length && JSON.parse(c.expect.bundle).turns.length >= 5);
const fixture = JSON.parse(vector.expect.bundle);
const OPTIONS = { secret: fromHex(vector.secret), keyID: vector.key_id };
const TENANT = fixture.tenant;
const LOG_T = new Signer(`${TENANT}.kernel.example`);
const SIGNER_T = new Signer(LOG_T.name, 1, "signer");
const TRUST_T = TRUST.replace(LOG.vkey, LOG_T.vkey).replace(SIGNER.vkey, SIGNER_T.vkey);

function note(origin, size, root, { log = LOG_T, witnesses = [W1, W2], seconds = NOW } = {}) {
  const text = `${origin}\n${size}\n${b64(root)}\n`;
  return text + "\n" + log.line(text) + witnesses.map((w) => w.cosign(text, seconds)).join("");
}

const makeLeaf = (v, bundle, other = {}) => ({ as_of: v.as_of, at: ISSUED, bundle, key_id: v.key_id, provenance: v.provenance, tenant: v.tenant, type: "slice", version: "gkl/1", ...other });

function makeProof(leaf, how = {}, index = 5, size = 11) {
  const leaves = Array.from({ length: size }, (_, i) => `leaf ${i}`);
  leaves[index] = leaf;
  return ["c2sp.org/tlog-proof@v1", `extra ${b64(leaf)}`, `index ${index}`, ...naivePath(index, leaves).map(b64), "", note(LOG_T.name, size, naiveRoot(leaves), how)].join("\n");
}

function makeAttestation(v, digest, { other = {}, signers = [SIGNER_T], redacted = [], statement = {} } = {}) {
  const p = v.provenance;
  const predicate = { anchorTurnId: p.anchor_turn_id, asOf: v.as_of, edges: v.edges.length, graphSnapshotHash: p.graph_snapshot_hash, issuedAt: ISSUED,
    ledger: { index: 5, origin: LOG_T.name }, policy: v.policy, policyId: p.policy_id, policyParamsHash: p.policy_params_hash,
    redacted: redacted.map((turn) => ({ turn, why: "erased" })), schemaVersion: p.schema_version, sliceId: p.slice_id, tenant: v.tenant, tokenKeyId: v.key_id, turns: v.turns.length, ...other };
  const payload = dump({ _type: "https://in-toto.io/Statement/v1", predicate, predicateType: "https://github.com/graphkernel/graphkernel/attestation/slice/v1",
    subject: [{ digest: { sha256: digest }, name: `slice-${predicate.sliceId}.json` }], ...statement });
  const message = `DSSEv1 28 application/vnd.in-toto+json ${Buffer.byteLength(payload)} ${payload}`;
  return dump({ payload: b64(payload), payloadType: "application/vnd.in-toto+json", signatures: signers.map((s) => ({ keyid: s.id.toString("hex"), sig: b64(s.sign(message)) })) });
}

function makeEvidence(v, how = {}) {
  const data = dump(v);
  const digest = sha(data).toString("hex");
  const redacted = v.turns.filter((t) => t.redacted).map((t) => t.id);
  return { "bundle.json": data, "attestation.json": makeAttestation(v, digest, { redacted, ...how }), "slice.tlog-proof": makeProof(dump(makeLeaf(v, digest)), how) };
}

function redact(v, ...places) {
  v = structuredClone(v);
  for (const i of places) {
    for (const key of ["attrs", "author", "content", "salt"]) delete v.turns[i][key];
    v.turns[i].redacted = true;
  }
  return v;
}

function leavesOf(v) {
  const us = (t) => Number(BigInt(Date.parse(t.slice(0, 19) + "Z")) * 1000n + BigInt(t.slice(20, 26)));
  const last = v.standings ? { as_of: v.as_of, standings: v.standings.map((s) => [s.after, s.policy_id, s.policy_params_hash]) } : {}; // gkp/3
  const reason = (a) => [a.distance, a.score_nano, a.via, a.from ?? ""];
  const counted = (a) => [a.number, a.voice, a.cost, a.things, a.standing, a.setting, a.rule, ...reason(a), a.thing ?? ""];
  return [
    ...v.turns.map((t) => ({ body_digest: t.body_digest, conversation: t.conversation, created_at_us: us(t.created_at), id: t.id, phase: t.phase, role: t.role, salience_ppm: Math.round(t.salience * 1e6), type: "turn" })),
    ...v.edges.map((e) => ({ ...e, type: "edge" })),
    { admissions: v.turns.map(({ id, admission }) => [id, ...(v.standings ? counted : reason)(admission)]), ...last, type: "admissions" },
  ].map(dump);
}

function disclose(v, ...places) {
  const leaves = leavesOf(v);
  const { anchor, as_of, key_id, policy, provenance, tenant, token } = v;
  return { anchor, as_of, key_id, policy, provenance, tenant, token, bundle: sha(dump(v)).toString("hex"), edges: v.edges.length, turn_count: v.turns.length, type: "disclosure",
    version: v.standings ? "gkd/5" : "gkd/1",
    turns: places.map((i) => {
      const { admission, ...turn } = v.turns[i];
      return { index: i, path: naivePath(i, leaves).map((h) => h.toString("hex")), turn };
    }) };
}

async function expect(verdict, files, { trust, failing, ...options } = {}) {
  const evidence = Object.fromEntries(Object.entries(files).map(([name, data]) => [name, bytes(data)]));
  const report = await verify(evidence, { trust: trust === undefined ? undefined : bytes(trust), ...options });
  const fails = report.checks.filter((c) => c.status === "fail");
  assert.equal(report.verdict, verdict, JSON.stringify(fails));
  if (failing) assert.equal(fails[0].id, failing);
  return report;
}

const changed = (change, v = fixture) => {
  v = structuredClone(v);
  change(v);
  return v;
};

test("xxHash64", () => {
  for (const [data, want] of [["", "ef46db3751d8e999"], ["abc", "44bc2cf5ad770999"], [Uint8Array.from({ length: 100 }, (_, i) => i), "6ac1e58032166597"]]) {
    assert.equal(xxhash64(bytes(data)), want);
  }
});

test("Ed25519: RFC 8032", async () => {
  const key = fromHex("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025");
  const s = fromHex("6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a");
  const message = fromHex("af82");
  assert.equal(await ed25519(key, message, s), true);
  assert.equal(await ed25519(key, fromHex("af83"), s), false);
  for (const i of [0, 31, 32, 63]) assert.equal(await ed25519(key, message, s.map((b, k) => (k === i ? b ^ 1 : b))), false);
  const L = 2n ** 252n + 27742317777372353535851937790883648493n;
  const scalar = BigInt("0x" + Buffer.from(s.slice(32)).reverse().toString("hex")) + L;
  const larger = Buffer.from(scalar.toString(16).padStart(64, "0"), "hex").reverse();
  assert.equal(await ed25519(key, message, bytes(Buffer.concat([s.slice(0, 32), larger]))), false, "S >= L");
});

test("Ed25519: keys of low order", async () => {
  for (const key of ["0100000000000000000000000000000000000000000000000000000000000000", "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000", "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"]) {
    assert.equal(refusedKey(fromHex(key)), true, key);
  }
  const none = fromHex("0200000000000000000000000000000000000000000000000000000000000000"); // no point: not refused, verifies nothing
  assert.equal(refusedKey(none), false);
  assert.equal(await ed25519(none, none, bytes(Buffer.alloc(64))), false);
  assert.equal(refusedKey(LOG.public), false);
});

test("trees of all sizes to 40", async () => {
  for (let n = 0; n <= 40; n++) {
    const leaves = Array.from({ length: n }, (_, i) => String(i));
    const root = naiveRoot(leaves);
    const hashes = await Promise.all(leaves.map((x) => leafHash(bytes(x))));
    assert.deepEqual(Buffer.from(await treeRoot(hashes)), root);
    const is = (h) => h !== null && root.equals(Buffer.from(h));
    for (let i = 0; i < n; i++) {
      const path = naivePath(i, leaves);
      assert.ok(is(await rootFromPath(hashes[i], i, n, path)));
      assert.ok(!is(await rootFromPath(hashes[i], i, n, [...path, root])));
      assert.ok(!is(await rootFromPath(hashes[i], n, n, path)));
      if (path.length) assert.ok(!is(await rootFromPath(hashes[i], i, n, path.slice(1))) && !is(await rootFromPath(hashes[i], i ^ 1, n, path)));
    }
    for (let m = 0; m <= n; m++) {
      const older = naiveRoot(leaves.slice(0, m));
      const path = m ? naiveConsistency(m, leaves) : [];
      assert.ok(await isConsistent(m, older, n, root, path));
      assert.ok(!(await isConsistent(m, older, n, root, [...path, root])));
      if (m && m < n) {
        assert.ok(!(await isConsistent(n, root, m, older, path)));
        assert.ok(!(await isConsistent(m, older, n, root, path.slice(1))));
        assert.ok(!(await isConsistent(m, older, n, older, path)) && !(await isConsistent(m, root, n, root, path)));
      }
    }
  }
});

test("strict and canonical JSON", async () => {
  const good = vector.expect.bundle;
  for (const bad of [good + "\n\n", good + "\r\n", " " + good, good.replace('":', '": '), good.replace(/[a-z]/, (c) => "\\u00" + c.charCodeAt(0).toString(16)), "\ufeff" + good, good.slice(0, -1), good.slice(0, -1) + ",}",
    good.replace('"max_siblings":', '"max_siblings":0'), good.replace("{", '{"anchor":1,'), good.replace('"as_of":', '"as_of":-'), good.replace(/"as_of":\d+/, "$&.0"), good.replace(/"as_of":\d+/, '"as_of":9007199254740992'),
    good.replace(/"as_of":\d+/, '"as_of":1e2'), "null", "", "[".repeat(1e5), good.replace('"content":"', '"content":"\\ud800'), good.replace('"content":"', '"content":"\u0001'), good.replace('"content":"', '"content":"\\/')]) {
    await expect("malformed", { "bundle.json": bad }, { failing: "form" });
  }
  await expect("malformed", { "bundle.json": Buffer.from(good.replace('"content":"', '"content":"\u00ff'), "latin1") }, { failing: "form" });
  await expect("unknown_version", { "bundle.json": ' {"provenance":{"schema_version":"gkp/9"}}' });
  for (const bad of ['{"a":1,"a":1,"provenance":{"schema_version":"gkp/9"}}', '{"a":"\\udc00","provenance":{"schema_version":"gkp/9"}}', '{"a":01,"provenance":{"schema_version":"gkp/2"}}',
    '{"a":NaN,"provenance":{"schema_version":"gkp/9"}}', '{"a":1,"provenance":{"schema_version":"gkp/9"}} 1', '{"a":"\\x","provenance":{"schema_version":"gkp/2"}}', '{"a":.5,"provenance":{"schema_version":"gkp/2"}}']) {
    await expect("malformed", { "bundle.json": bad });
  }
});

test("all vectors that hold their bundle", async () => {
  let count = 0;
  for (const c of [...vectors, ...linesOf(MARKED), ...linesOf(COUNTED)].filter((c) => c.expect.bundle)) {
    const [files, options] = [{ "bundle.json": c.expect.bundle }, { secret: fromHex(c.secret), keyID: c.key_id }];
    await expect("verified", files, options);
    await expect("tampered", files, { ...options, secret: SECRET, failing: "token" });
    await expect("key_unknown", files, { ...options, keyID: "another", failing: "token" });
    await expect("well_formed", files);
    await expect(c.expect.bundle.includes('"redacted":true') ? "redacted" : "verified", files, { ...options, requireFull: true });
    count++;
  }
  assert.ok(count > 130);
});

test("every value of a bundle, changed or left out", async () => {
  const paths = [];
  (function walk(node, path) {
    for (const key of Object.keys(node)) {
      paths.push([...path, key]);
      if (typeof node[key] === "object") walk(node[key], [...path, key]);
    }
  })(fixture, []);
  assert.ok(paths.length > 100);
  for (const path of paths.filter((p) => p[0] !== "as_of")) {
    const name = path.join(".");
    const inner = (v) => path.slice(0, -1).reduce((node, key) => node[key], v);
    const last = path.at(-1);
    const value = inner(fixture)[last];
    const other = typeof value === "string" ? value.slice(0, -1) + (value.endsWith("0") ? "1" : "0") : typeof value === "number" ? (value === 1 ? 0 : value + 1) : typeof value === "boolean" ? !value
      : Array.isArray(value) ? [...value, ...value.slice(0, 1), "x"] : { ...value, extra: "x" };
    for (const change of [(v) => (inner(v)[last] = other), (v) => (inner(v)[last] = null), (v) => (Array.isArray(inner(v)) ? inner(v).splice(Number(last), 1) : delete inner(v)[last])]) {
      const report = await verify({ "bundle.json": bytes(dump(changed(change))) }, OPTIONS);
      assert.ok(["tampered", "malformed", "unknown_version", "key_unknown"].includes(report.verdict), `${name}: ${report.verdict}`);
    }
  }
});

test("checks of a bundle by name", async () => {
  const cases = { canonical_order: (v) => v.turns.reverse(), order: (v) => v.order.reverse(), policy_hash: (v) => (v.policy.max_nodes += 1), snapshot: (v) => (v.turns[0].conversation = v.anchor),
    slice_id: (v) => (v.provenance.policy_id = "other@1"), bodies: (v) => (v.turns[0].content += "x"), admissions: (v) => (v.anchor = v.turns.find((t) => t.id !== v.anchor).id), token: (v) => (v.token = "0".repeat(32)) };
  for (const [failing, change] of Object.entries(cases)) await expect("tampered", { "bundle.json": dump(changed(change)) }, { ...OPTIONS, failing });
  const lost = changed((v) => (v.edges.at(-1).parent = "ffffffff-ffff-ffff-ffff-ffffffffffff"));
  await expect("tampered", { "bundle.json": dump(lost) }, { ...OPTIONS, failing: "edges" });
  await expect("unknown_version", { "bundle.json": dump(changed((v) => (v.policy.type = "slice_policy_v2"))) }, { failing: "version" });
});

// A bundle of GKP/3: the operator, the owner, an agent that edits, a guest, the result of the edit, and the agent again, which is the anchor.
// Its weights make a score of a standing's weight and nothing else.
const idOf = (n) => `${n.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`;
const THING = "ab".repeat(16);
const hmac = (key, data) => createHmac("sha256", key).update(data).digest();
function counted() {
  const said = [["system", "harness", "system", "Be brief.", [], 0, 0], ["user", "person", "owner", "Rename the pump.", [], 0, 0], ["assistant", "agent", "agent", "edit", [THING], 0, 0],
    ["user", "person", "guest", "Drop it!", [], 1, 2], ["tool", "tool", "outside", "done", [THING], 1, 0], ["assistant", "agent", "agent", "Renamed.", [], 1, 0]];
  const ways = [[2, "parent", 2], [1, "prompt", 6], [2, "touch", 5], [2, "parent", 5], [1, "parent", 6], [0, "anchor"]];
  const turns = said.map(([role, voice, standing, content, things, setting, rule], i) => {
    const [distance, via, from] = ways[i];
    const body = { attrs: {}, author: "a:b", content };
    return { admission: { cost: Math.ceil(content.length / 4), distance, number: i + 1, rule, score_nano: 0, setting, standing, things, via, voice, ...(from ? { from: idOf(from) } : {}), ...(via === "touch" ? { thing: THING } : {}) },
      body_digest: hmac(Buffer.alloc(16), dump(body)).toString("hex"), ...body, conversation: idOf(99), created_at: `2026-01-01T00:00:0${i}.000000Z`, id: idOf(i + 1), phase: "planning", role, salience: 1, salt: "00".repeat(16) };
  });
  const policy = { direction: "past", distance_decay: 1, max_cost: 0, max_nodes: 9, max_radius: 9, max_siblings: 2, max_touching: 1,
    phase_weights: { consolidation: 1, debugging: 1, exploration: 1, planning: 1, synthesis: 1 }, salience_weight: 0, spine: true,
    standing_weights: { agent: 0.7, guest: 0.3, member: 0.8, outside: 0.2, owner: 0.9, system: 1 }, type: "slice_policy_v3" };
  return agreed({ anchor: idOf(6), as_of: 8, edges: [1, 2, 3, 4, 5].map((n) => ({ child: idOf(n + 1), kind: "reply", parent: idOf(n) })), key_id: vector.key_id, order: [1, 2, 3, 4, 5, 6].map(idOf), policy,
    provenance: { anchor_turn_id: idOf(6), policy_id: "p@1", schema_version: "gkp/3" },
    standings: [{ after: 0, policy_id: "standing-alone@1", policy_params_hash: "11".repeat(32) }, { after: 3, policy_id: "standing-team@1", policy_params_hash: "22".repeat(32) }], tenant: TENANT, turns });
}

// v with scores, a header and a token that belong to it.
function agreed(v) {
  for (const { admission: a } of v.turns) a.score_nano = Math.round(v.policy.standing_weights[a.standing] * 1e9);
  return sealed(v);
}

function sealed(v) {
  const millionths = (x) => (typeof x === "object" ? Object.fromEntries(Object.entries(x).map(([key, y]) => [key, millionths(y)])) : Math.round(x * 1e6));
  const p = v.provenance;
  p.policy_params_hash = sha(dump(Object.fromEntries(Object.entries(v.policy).map(([key, x]) => (/decay|weight/.test(key) ? [key + "_ppm", millionths(x)] : [key, x]))))).toString("hex");
  p.graph_snapshot_hash = naiveRoot(leavesOf(v)).toString("hex");
  const { policy_id, policy_params_hash, schema_version } = p;
  p.slice_id = xxhash64(bytes(dump({ anchor: v.anchor, edges: v.edges.map((e) => [e.parent, e.child, e.kind]), policy_id, policy_params_hash, schema_version, turns: v.turns.map((t) => t.id) })));
  const key = hmac(hmac(Buffer.alloc(32), OPTIONS.secret), `graphkernel:token:v2:${v.tenant}:${v.key_id}\u0001`);
  const text = [p.slice_id, p.anchor_turn_id, p.policy_id, p.policy_params_hash, p.graph_snapshot_hash, p.schema_version, "admissibility_token_v2_hmac"].join("|");
  v.token = hmac(key, text).subarray(0, 16).toString("hex");
  return v;
}

// Members of the admissions of turns, by number.
const says = (members) => (v) => {
  for (const [n, some] of Object.entries(members)) {
    const { admission } = v.turns[n - 1];
    Object.assign(admission, some);
    if (admission.via !== "touch") delete admission.thing;
  }
};

// One edge more.
const joined = (parent, child) => (v) => {
  v.edges = [...v.edges, { child: idOf(child), kind: "reference", parent: idOf(parent) }].sort((a, b) => (a.parent + a.child < b.parent + b.child ? -1 : 1));
};

// Changes the bundle of gkp/3 and makes its header anew.
async function counts(verdict, members, change = () => {}) {
  const v = changed((v) => [says(members), change].forEach((f) => f(v)), counted());
  const report = await expect(verdict, { "bundle.json": dump(agreed(v)) }, { ...OPTIONS, ...(verdict === "tampered" ? { failing: "admissions" } : {}) });
  if (verdict === "tampered") assert.deepEqual(report.checks.filter((c) => c.status === "fail").map((c) => c.id), ["admissions"]);
}

test("gkp/3: what turns count for", async () => {
  const withhold = (v) => (v.turns = redact(v, 0).turns);
  await counts("verified", {});
  await counts("verified", { 4: { rule: 256 } });
  await counts("verified", {}, (v) => (v.standings[1].after = v.as_of));
  await counts("verified", { 1: { cost: 1024 } }, withhold);
  await counts("verified", { 6: { standing: "guest", voice: "person" } }); // an anchor leads on
  // Were the guest a member, it would be the prompt, and lead to the owner.
  await counts("verified", { 1: { distance: 4 }, 2: { distance: 3, from: idOf(4) }, 4: { standing: "member" } });
  const possible = { 1: ["agent", "outside", "system"], 3: ["agent", "outside"], 4: ["agent", "guest", "outside"] }; // of the fourth, not all fit the prompt
  for (const [n, can] of Object.entries(possible)) for (const standing of can) await counts("verified", { [n]: { standing } });
  for (const n of [1, 3, 4, 5, 6]) {
    const can = possible[n] ?? (n === 5 ? ["outside"] : possible[3]);
    for (const standing of ["outside", "guest", "agent", "member", "owner", "system"].filter((x) => !can.includes(x))) await counts("tampered", { [n]: { standing } });
  }
  await counts("verified", { 3: { distance: 1, from: idOf(6), via: "parent" }, 5: { standing: "guest" } }, joined(3, 6)); // a tool's result
  await counts("tampered", { 1: { cost: 1025 } }, withhold);
  await counts("verified", { 1: { cost: 1025, standing: "outside" } }, withhold);
  for (const standing of ["system", "agent"]) await counts("tampered", { 1: { standing } }, (v) => (v.turns[0].role = "user"));
});

test("gkp/3: settings and ways", async () => {
  const setting = (v, of) => v.turns.forEach(({ admission }) => (admission.setting = of(admission.setting)));
  for (const change of [(v) => (v.standings[1].after = v.as_of + 1), (v) => (v.standings[1].after = 0), (v) => setting({ ...v, standings: v.standings.reverse() }, (x) => 1 - x), (v) => v.standings.pop(),
    (v) => (v.standings = []), (v) => v.standings.push({ after: 5, policy_id: "x@1", policy_params_hash: "33".repeat(32) }), (v) => (v.turns[5].admission.setting = 2), (v) => setting(v, () => 0), (v) => setting(v, (x) => 2 * x)]) {
    await counts("tampered", {}, change);
  }
  const misjudged = counted();
  misjudged.turns[3].admission.score_nano = 800000000; // a member's
  const report = await expect("tampered", { "bundle.json": dump(sealed(misjudged)) }, OPTIONS);
  assert.deepEqual(report.checks.filter((c) => c.status === "fail").map((c) => c.id), ["admissions"]);
  await counts("tampered", { 2: { standing: "guest" } }); // the prompt
  await counts("tampered", { 2: { standing: "agent" } });
  await counts("tampered", { 4: { standing: "member" } }); // a nearer prompt
  await counts("tampered", { 5: { standing: "guest" } }); // it leads to what it touched
  for (const [ways, change] of [ // by which the guest leads on; an agent may
    [{ 1: { distance: 4 }, 2: { distance: 3, from: idOf(4) }, 4: {} }], [{ 3: { distance: 3, from: idOf(4) }, 4: { things: [THING] } }],
    [{ 1: { distance: 3 }, 2: { distance: 2, from: idOf(4), via: "sibling" }, 4: {} }],
    [{ 3: { distance: 3 }, 4: { distance: 1, from: idOf(6) }, 5: { distance: 2, from: idOf(4), via: "child" } }, (v) => [joined(4, 6)(v), (v.policy.direction = "both")]]]) {
    await counts("tampered", ways, change);
    await counts("verified", { ...ways, 4: { ...ways[4], standing: "agent" } }, change);
  }
});

test("gkp/3: each member that is new, changed or left out", async () => {
  const good = counted();
  const tried = (verdict, change, failing) => expect(verdict, { "bundle.json": dump(changed(change, good)) }, { ...OPTIONS, failing });
  const [admission, weights] = [(v) => v.turns[3].admission, (v) => v.policy.standing_weights];
  const rows = [[admission, "rule", [257, -1, "1", 0.5, null], [0, 3, 256]], [admission, "setting", [10000, -1, "0", null], [0, 2, 9999]],
    [admission, "standing", ["boss", "", 3, null], ["outside", "member", "owner"]], ...Object.keys(good.policy.standing_weights).map((key) => [weights, key, [-1, 2, 1.1, "1", null], [0, 0.25]])];
  for (const i of [0, 1]) {
    rows.push([(v) => v.standings[i], "after", [-1, 2 ** 53, "0", null], [2, 9]], [(v) => v.standings[i], "policy_id", ["", "X@1", "x", "x@0", null], ["other@1"]],
      [(v) => v.standings[i], "policy_params_hash", ["", "0".repeat(63), "A".repeat(64), null], ["00".repeat(32)]]);
  }
  for (const [inside, key, bad, others] of rows) {
    for (const value of bad) await tried("malformed", (v) => (inside(v)[key] = value));
    await tried("malformed", (v) => delete inside(v)[key]);
    await tried("malformed", (v) => (inside(v).more = 1));
    for (const value of others) await tried("tampered", (v) => (inside(v)[key] = value));
  }
  for (const change of [(v) => delete v.standings, (v) => (v.standings = {}), (v) => delete v.policy.standing_weights, (v) => (v.policy.voice_weights = { person: 1, agent: 1, tool: 1, harness: 1 })]) await tried("malformed", change);
  await tried("tampered", (v) => (v.as_of = 9), "snapshot"); // which the token covers
  for (const [schema, type] of [["gkp/3", "slice_policy_v2"], ["gkp/2", "slice_policy_v3"], ["gkp/1", "slice_policy_v3"], ["gkp/3", "slice_policy_v1"], ["gkp/3", "slice_policy_v4"]]) {
    await tried("unknown_version", (v) => [(v.provenance.schema_version = schema), (v.policy.type = type)], "version");
  }
});

test("gkp/3: attestations, leaves and parts", async () => {
  const [v, type] = [counted(), "https://github.com/graphkernel/graphkernel/attestation/slice/v"];
  const [data, d] = [dump(v), disclose(v, 1, 3)];
  const digest = sha(data).toString("hex");
  const beside = { "attestation.json": makeAttestation(v, digest, { statement: { predicateType: type + 3 } }), "slice.tlog-proof": makeProof(dump(makeLeaf(v, digest))) };
  await expect("verified", { "bundle.json": data, ...beside }, { trust: TRUST_T, ...OPTIONS });
  await expect("verified", { "disclosure.json": dump(d), ...beside }, { trust: TRUST_T, ...OPTIONS });
  for (const version of ["gkd/1", "gkd/2", "gkd/3", "gkd/4", "gkd/6"]) await expect("unknown_version", { "disclosure.json": dump({ ...d, version }) });
  await expect("malformed", { "disclosure.json": dump({ ...d, standings: v.standings }) });
  for (const n of [1, 2]) await expect("unknown_version", { "bundle.json": data, "attestation.json": makeAttestation(v, digest, { statement: { predicateType: type + n } }) }, { trust: `signer ${SIGNER_T.vkey}\nquorum none\n` });
  for (const schema_version of ["gkp/2", "gkp/4"]) {
    const leaf = makeLeaf(v, digest, { provenance: { ...v.provenance, schema_version } });
    await expect("unknown_version", { "bundle.json": data, "slice.tlog-proof": makeProof(dump(leaf)) }, { trust: `log ${LOG_T.vkey}\nquorum none\n` });
  }
});

test("evidence", async () => {
  const good = makeEvidence(fixture);
  const data = good["bundle.json"];
  const digest = sha(data).toString("hex");
  const noWitness = `signer ${SIGNER_T.vkey}\nlog ${LOG_T.vkey}\nquorum none\n`;
  const signerOnly = `signer ${SIGNER_T.vkey}\nquorum none\n`;
  const attested = (attestation) => ({ "bundle.json": data, "attestation.json": attestation });
  const proved = (proof) => ({ "bundle.json": data, "slice.tlog-proof": proof });
  const leaf = dump(makeLeaf(fixture, digest));

  await expect("verified", good, { trust: TRUST_T });
  await expect("verified", good, { trust: noWitness });
  await expect("well_formed", good);
  await expect("verified", Object.fromEntries(Object.entries(good).map(([k, x]) => [k, k.endsWith(".json") ? x + "\n" : x])), { trust: TRUST_T });
  await expect("not_in_log", attested(good["attestation.json"]), { trust: TRUST_T, failing: "log_inclusion" });
  await expect("not_in_log", { "bundle.json": data }, { trust: noWitness, failing: "log_inclusion", ...OPTIONS });
  await expect("verified", attested(good["attestation.json"]), { trust: signerOnly });
  await expect("key_unknown", proved(good["slice.tlog-proof"]), { trust: signerOnly, failing: "attestation" });
  await expect("key_unknown", attested(makeAttestation(fixture, digest, { signers: [STRANGER] })), { trust: signerOnly, failing: "attestation" });
  const broken = JSON.parse(good["attestation.json"]);
  broken.signatures[0].sig = b64(Buffer.alloc(64));
  await expect("tampered", attested(dump(broken)), { trust: signerOnly, failing: "attestation" });
  for (const [key, value] of Object.entries({ anchorTurnId: "11111111-1111-1111-1111-111111111111", asOf: 1e6, edges: 999, graphSnapshotHash: "0".repeat(64), policyId: "other@1", policyParamsHash: "0".repeat(64),
    sliceId: "0".repeat(16), tokenKeyId: "k9", turns: 1, policy: { ...fixture.policy, max_radius: 63 }, redacted: [{ turn: fixture.turns[0].id, why: "withheld" }] })) {
    await expect("tampered", attested(makeAttestation(fixture, digest, { other: { [key]: value } })), { trust: signerOnly, failing: "statement" });
  }
  await expect("verified", attested(makeAttestation(fixture, digest, { other: { zebra: { a: [1, true] } } })), { trust: signerOnly });
  await expect("tampered", attested(makeAttestation(fixture, "0".repeat(64))), { trust: signerOnly, failing: "statement" });
  await expect("unknown_version", attested(makeAttestation(fixture, digest, { statement: { predicateType: "https://example.com/v2" } })), { trust: signerOnly });
  await expect("malformed", attested(makeAttestation(fixture, digest, { statement: { extra: 1 } })), { trust: signerOnly });
  await expect("malformed", attested(good["attestation.json"] + "\n\n"), { trust: signerOnly });
  await expect("key_retired", attested(good["attestation.json"]), { trust: `signer ${SIGNER_T.vkey} 2026-01-02T03:04:05.000005Z\nquorum none\n`, failing: "signer_time" });
  await expect("verified", attested(good["attestation.json"]), { trust: `signer ${SIGNER_T.vkey} ${ISSUED}\nquorum none\n` });
  const bounded = TRUST_T.replace(SIGNER_T.vkey, `${SIGNER_T.vkey} 2026-02-01T00:00:00.000000Z`);
  await expect("verified", good, { trust: bounded });
  const second = new Signer(LOG_T.name, 1, "second");
  const signedTwice = attested(makeAttestation(fixture, digest, { signers: [SIGNER_T, second] }));
  await expect("verified", signedTwice, { trust: `signer ${SIGNER_T.vkey} 2026-01-02T03:04:05.000005Z\nsigner ${second.vkey}\nquorum none\n` });
  await expect("verified", attested(good["attestation.json"]), { trust: signerOnly + `signer ${new Signer("other.kernel.example", 1, "signer").vkey}\n` });
  const ofAnother = makeProof(dump(makeLeaf(fixture, "0".repeat(64))));
  await expect("verified", { ...good, "slice.tlog-proof": ofAnother }, { trust: signerOnly });
  await expect("well_formed", { ...good, "slice.tlog-proof": ofAnother });
  const lying = makeAttestation(fixture, digest, { other: { ledger: { index: 4, origin: LOG_T.name } } });
  await expect("verified", { ...good, "attestation.json": lying }, { trust: `log ${LOG_T.vkey}\nquorum none\n` });
  const nested = (depth) => Array.from({ length: depth }).reduce((inner) => [inner], []);
  await expect("verified", attested(makeAttestation(fixture, digest, { other: { zebra: ["x".repeat(4096), nested(252)] } })), { trust: signerOnly });
  await expect("malformed", attested(makeAttestation(fixture, digest, { other: { zebra: ["x".repeat(4096), nested(253)] } })), { trust: signerOnly });
  await expect("key_retired", makeEvidence(fixture, { seconds: NOW + 1e7 }), { trust: bounded, failing: "signer_time" });

  for (const other of [{ as_of: 999999 }, { key_id: "k9" }, { tenant: "other" }, { bundle: "0".repeat(64) }, { provenance: { ...fixture.provenance, slice_id: "0".repeat(16) } }, { type: "policy" }]) {
    await expect("not_in_log", proved(makeProof(dump(makeLeaf(fixture, digest, other)))), { trust: TRUST_T, failing: "leaf" });
  }
  const proof = good["slice.tlog-proof"];
  const lines = proof.split("\n");
  await expect("unknown_version", proved(proof.replace("@v1", "@v2")), { trust: TRUST_T });
  await expect("unknown_version", proved(makeProof(dump(makeLeaf(fixture, digest, { version: "gkl/2" })))), { trust: TRUST_T });
  await expect("not_in_log", proved(proof.replace("index 5", "index 4")), { trust: TRUST_T, failing: "log_inclusion" });
  await expect("not_in_log", proved(proof.replace(lines[3] + "\n", "")), { trust: TRUST_T, failing: "log_inclusion" });
  await expect("malformed", proved(proof.replace("index 5", "index 05")), { trust: TRUST_T });
  await expect("malformed", proved(proof.replace(lines[1] + "\n", "")), { trust: TRUST_T });
  await expect("malformed", proved(proof.replaceAll("\n", "\r\n")), { trust: TRUST_T });
  await expect("malformed", proved(proof.replace(`${LOG_T.name}\n11\n`, `${LOG_T.name}\n${2 ** 48 + 1}\n`)), { trust: TRUST_T });
  await expect("tampered", proved(proof.replace(`${LOG_T.name}\n11\n`, `${LOG_T.name}\n12\n`)), { trust: TRUST_T, failing: "log" });
  await expect("key_unknown", proved(makeProof(leaf, { log: STRANGER })), { trust: TRUST_T, failing: "log" });
  await expect("key_unknown", proved(proof), { trust: TRUST, failing: "log" });
  await expect("quorum_not_met", proved(makeProof(leaf, { witnesses: [W1] })), { trust: TRUST_T, failing: "witnesses" });
  await expect("quorum_not_met", proved(makeProof(leaf, { witnesses: [W1, W1] })), { trust: TRUST_T, failing: "witnesses" });
  await expect("quorum_not_met", proved(makeProof(leaf, { witnesses: [W1, W2].map((w) => w).concat(Object.assign(new Signer(W3.name, 4, "liar"), { id: W3.id })) })), { trust: TRUST_T, failing: "witnesses" });
  await expect("not_in_log", { ...good, "slice.tlog-proof": makeProof(leaf, {}, 4) }, { trust: TRUST_T, failing: "log_inclusion" });

  const withheld = { ...good, "bundle.json": dump(redact(fixture, 1)) };
  await expect("verified", withheld, { trust: TRUST_T, ...OPTIONS });
  await expect("redacted", withheld, { trust: TRUST_T, requireFull: true, failing: "text" });
  await expect("not_in_log", { "bundle.json": withheld["bundle.json"], "slice.tlog-proof": proof }, { trust: TRUST_T, failing: "leaf" });
  await expect("verified", makeEvidence(redact(fixture, 0)), { trust: TRUST_T });
  await expect("tampered", { ...makeEvidence(redact(fixture, 0)), "bundle.json": data }, { trust: TRUST_T, failing: "statement" });

  // Every seventh byte.
  for (const name of ["attestation.json", "slice.tlog-proof"]) {
    for (let at = 0; at < Buffer.byteLength(good[name]); at += 7) {
      const mangled = bytes(good[name]);
      mangled[at] ^= 1;
      const report = await verify(Object.fromEntries(Object.entries({ ...good, [name]: mangled }).map(([k, v]) => [k, bytes(v)])), { trust: bytes(TRUST_T) });
      assert.notEqual(report.verdict, "verified", `${name} ${at}`);
    }
  }
});

test("disclosures", async () => {
  const d = disclose(fixture, 0, 3);
  const good = makeEvidence(fixture);
  delete good["bundle.json"];
  await expect("verified", { ...good, "disclosure.json": dump(d) }, { trust: TRUST_T, ...OPTIONS });
  await expect("redacted", { "disclosure.json": dump(d) }, { ...OPTIONS, requireFull: true });
  const cases = { content: ["bodies", (x) => (x.turns[0].turn.content += "x")], conversation: ["inclusion", (x) => (x.turns[0].turn.conversation = x.anchor)], path: ["inclusion", (x) => x.turns[0].path.pop()],
    index: ["canonical_order", (x) => (x.turns[1].index = x.turn_count)], order: ["canonical_order", (x) => x.turns.reverse()], anchor: ["admissions", (x) => (x.anchor = "11111111-1111-1111-1111-111111111111")],
    policy: ["policy_hash", (x) => (x.policy.max_radius = 63)], slice_id: ["token", (x) => (x.provenance.slice_id = "0".repeat(16))] };
  for (const [failing, change] of Object.values(cases)) await expect("tampered", { "disclosure.json": dump(changed(change, d)) }, { ...OPTIONS, failing });
  for (const change of [(x) => (x.bundle = "0".repeat(64)), (x) => (x.as_of += 1)]) {
    await expect("tampered", { ...good, "disclosure.json": dump(changed(change, d)) }, { trust: TRUST_T, failing: "statement" });
  }
  await expect("unknown_version", { "disclosure.json": dump({ ...d, version: "gkd/2" }) });
  await expect("malformed", { "disclosure.json": dump({ ...d, turns: [] }) });
  await expect("malformed", { "disclosure.json": dump({ ...d, more: 1 }) });
});

test("checkpoints", async () => {
  const leaves = Array.from({ length: 20 }, (_, i) => `leaf ${i}`);
  const checkpoint = (n, how) => note(LOG_T.name, n, naiveRoot(leaves.slice(0, n)), how);
  const between = (m, n) => (m ? naiveConsistency(m, leaves.slice(0, n)) : []).map((h) => b64(h) + "\n").join("");
  const trust = TRUST_T;
  await expect("verified", { checkpoint: checkpoint(7) }, { trust });
  await expect("well_formed", { checkpoint: checkpoint(7) });
  await expect("quorum_not_met", { checkpoint: checkpoint(7, { witnesses: [W2] }) }, { trust });
  await expect("key_unknown", { checkpoint: checkpoint(7, { log: STRANGER }) }, { trust });
  await expect("tampered", { checkpoint: checkpoint(7).replace("\n7\n", "\n8\n") }, { trust });
  await expect("malformed", { checkpoint: checkpoint(7).slice(0, -1) }, { trust });
  for (const [m, n] of [[0, 7], [1, 7], [4, 7], [6, 7], [7, 7], [7, 20], [8, 16]]) {
    const files = { checkpoint: checkpoint(n), "checkpoint.old": checkpoint(m), consistency: between(m, n) };
    await expect("verified", files, { trust });
    await expect("log_inconsistent", { ...files, consistency: files.consistency + b64(sha("")) + "\n" }, { trust });
  }
  await expect("log_inconsistent", { checkpoint: checkpoint(7), "checkpoint.old": checkpoint(20), consistency: "" }, { trust });
  await expect("log_inconsistent", { checkpoint: note(LOG_T.name, 7, sha("x")), "checkpoint.old": checkpoint(7), consistency: "" }, { trust });
  await expect("log_inconsistent", { checkpoint: checkpoint(20), "checkpoint.old": checkpoint(7) }, { trust });
  await expect("malformed", { checkpoint: note(LOG_T.name, 0, sha("x")) }, { trust });
  await expect("malformed", { checkpoint: checkpoint(7), consistency: "" }, { trust });
  await expect("malformed", { checkpoint: checkpoint(7), "attestation.json": "{}" }, { trust });
  const other = note("other.kernel.example", 7, naiveRoot(leaves.slice(0, 7)), { log: new Signer("other.kernel.example") });
  await expect("key_unknown", { checkpoint: checkpoint(7), "checkpoint.old": other }, { trust: trust + `log ${new Signer("other.kernel.example").vkey}\n` });
});

test("names", () => {
  for (const [text, want] of [["New\u00adYork", "newyork"], ["Straße", "strasse"], ["\uff2e", "n"], ["O'Neil, J.", "o-neil-j"], ["C++", "c++"], ["#12", "12"], ["a +b", "a-b"], ["A$AP", "a$ap"], ["\u{1f389}", "\u{1f389}"],
    ["--New  York-", "new-york"], ["...", null], ["", null], ["a<b>c=d^e`f|g~h", "a-b-c-d-e-f-g-h"], ["10\u2076", "106"], ["\u0130stanbul", "i\u0307stanbul"], ["\u1e9e", "ss"], ["\u0390", "\u0390"], ["\u1fb3", "\u03b1\u03b9"],
    ["\u03a3\u03c2", "\u03c3\u03c3"], ["\uab70\u13a0", "\u13a0\u13a0"], ["\u0301a", "a"], ["a\u0301", "\u00e1"], ["\u0131", "\u0131"], ["a\u0000b", "a-b"], ["a\u3000b\u30fbc", "a-b-c"], ["w".repeat(2048), "w".repeat(2048)], ["w".repeat(2049), null],
    ["\ufdfa".repeat(100), null]]) {
    assert.equal(nameOf(text), want, text.slice(0, 20));
  }
  for (const [text, want] of [["timeout < 30s", "timeout<30s"], ["the limit is -5", "the-limit-is--5"], ["C#", "c#"], ["C++", "c++"], ["a..b", "a..b"], ["./x/...", "file:./x/..."], ["lodash@^4.17.0", "lodash@^4.17.0"],
    ["https://x.example/a b", "https-x-example-a-b"], ["https://x.example/a", "url:https://x.example/a"], ["pkg: x", "pkg-x"], ["pkg:x", "pkg:x"], ["3.14.", "3.14"], ["-", null], ["text:", null], ["\u0085/a", "file:/a"], ["wait... what", "wait-what"]]) {
    assert.equal(nameOf2(text), want, text);
  }
});

// Bundles of facts are made by the kernel alone: see golden/verify-facts. Here every value of one is changed or left out.
test("every value of a bundle of facts, changed or left out", { skip: existsSync(FACTS) ? false : "golden/verify-facts does not exist" }, async () => {
  const read = (name, file) => readFileSync(join(FACTS, name, file));
  const [keyID, secret] = read("good_sample", "secret").toString().trim().split(" ");
  const options = { keyID, secret: fromHex(secret) };
  for (const name of ["good_sample", "good_names", "good_cut"]) {
    const good = JSON.parse(read(name, "evidence/bundle.json"));
    assert.equal(dump(good), read(name, "evidence/bundle.json").toString());
    const report = await expect("verified", { "bundle.json": dump(good) }, { ...options, requireFull: true });
    assert.deepEqual(report.checks.map((c) => c.id), ["form", "version", "canonical_order", "facts", "aliases", "evidence", "reached", "question", "policy_hash", "snapshot", "slice_id", "token",
      "attestation", "statement", "log", "log_inclusion", "signer_time"]);
    await everyValue(good, async (v, path) => {
      const { verdict } = await verify({ "bundle.json": bytes(dump(v)) }, options);
      const allowed = path[0] === "as_of" ? ["verified", "malformed"] : path[0] === "key_id" ? ["key_unknown", "malformed"] : ["tampered", "malformed", "unknown_version"];
      assert.ok(allowed.includes(verdict), `${verdict}: ${path.join(".")}`);
    });
  }
});

// With the token, the attestation and the proof nothing in a disclosure can be another.
test("every value of a disclosure of facts, changed or left out", { skip: existsSync(FACTS) ? false : "golden/verify-facts does not exist" }, async () => {
  const { files, options } = readCase(join(FACTS, "dropped_every_leaf"));
  await everyValue(JSON.parse(Buffer.from(files["disclosure.json"])), async (v, path) => {
    const { verdict } = await verify({ ...files, "disclosure.json": bytes(dump(v)) }, options);
    const allowed = path[0] === "key_id" ? ["key_unknown", "malformed"] : ["tampered", "malformed", "unknown_version", "redacted"];
    assert.ok(allowed.includes(verdict), `${verdict}: ${path.join(".")}`);
  });
});

test("evidence about two things", async () => {
  await expect("malformed", { "bundle.json": vector.expect.bundle, "disclosure.json": "{}" }, { failing: "form" });
  await expect("malformed", { "bundle.json": vector.expect.bundle, checkpoint: "" }, { failing: "form" });
});

test("trust files that are malformed", async () => {
  const files = { "bundle.json": bytes(vector.expect.bundle) };
  const a = `witness a ${W1.vkey}\n`;
  for (const bad of ["", "quorum none\x7f", "quorum none\nquorum none\n", "quorum a\n", "quorum a\n" + a, a + a.replace(" a ", " b ") + "quorum a\n", `witness none ${W1.vkey}\nquorum none\n`, a + "group g 0 a\nquorum g\n",
    a + "group g 2 a\nquorum g\n", a + "group g any c\nquorum g\n", a + "group g any\nquorum g\n", a + "group g any a a\nquorum g\n", `log ${W1.vkey}\nquorum none\n`, `log ${LOG.vkey}\nlog ${LOG.vkey}\nquorum none\n`,
    `signer ${SIGNER.vkey} yesterday\nquorum none\n`, "mirror x\nquorum none\n", "constructor x\nquorum none\n", "quorum none\r\n", "\n".repeat(1025) + "quorum none\n"]) {
    await assert.rejects(verify(files, { trust: bytes(bad) }), Usage, bad.slice(0, 60));
  }
  await expect("well_formed", { "bundle.json": vector.expect.bundle }, { trust: " \t# c\n\n" + a + "quorum none\n" });
  for (const none of [{}, { "attestation.json": bytes("{}") }]) await assert.rejects(verify(none), Usage);
});

test("the page asks nobody for anything", () => {
  const page = readFileSync(here("index.html"), "utf8");
  assert.doesNotMatch(page, /<(link|img|iframe|script)[^>]+(src|href)=|\bfetch\(|\bimport\(|XMLHttpRequest/);
});

const run = (args, environ = {}) => {
  const env = Object.fromEntries(Object.entries(process.env).filter(([k]) => !k.startsWith("GRAPHKERNEL_")));
  return spawnSync(process.execPath, [here("cli.mjs"), ...args], { env: { ...env, ...environ }, encoding: "utf8" });
};

test("command line", () => {
  const folder = mkdtempSync(join(tmpdir(), "gkverify-"));
  try {
    const put = (name, data) => (writeFileSync(join(folder, name), data), join(folder, name));
    for (const [name, data] of Object.entries(makeEvidence(fixture))) put(name, data);
    const trust = put("trust", TRUST_T);
    const secret = { GRAPHKERNEL_SECRET: vector.secret, GRAPHKERNEL_KEY_ID: vector.key_id };
    let out = run(["--trust", trust, folder]);
    assert.equal(out.status, 0, out.stderr);
    assert.equal(out.stderr, "");
    assert.ok(out.stdout.startsWith(`VERIFIED  slice ${fixture.provenance.slice_id}`), out.stdout);
    out = run(["--json", folder], secret);
    assert.deepEqual({ ...JSON.parse(out.stdout), checks: 0 }, { verdict: "verified", exit_code: 0, checks: 0 });
    assert.equal(run([folder]).status, 11);
    assert.equal(run([folder], { ...secret, GRAPHKERNEL_SECRET: "00".repeat(32) }).status, 10);
    for (const bad of ["00".repeat(31), "AA".repeat(32), "0".repeat(65), ""]) assert.equal(run([folder], { GRAPHKERNEL_SECRET: bad }).status, 2);
    assert.equal(run(["--require-full", put("b", dump(redact(fixture, 0)))], secret).status, 16);
    assert.equal(run([put("d", dump(disclose(fixture, 0)))], secret).status, 0);
    assert.equal(run(["--trust", trust, put("c", note(LOG_T.name, 0, sha("")))]).status, 0);
    assert.equal(run([put("g", "garbage")]).status, 20);
    assert.equal(run([join(folder, "attestation.json")]).status, 2);
    assert.equal(run([join(folder, "absent")]).status, 1);
    for (const args of [[], ["--wrong", folder], [folder, folder], ["--trust"], ["--trust", join(folder, "b"), folder]]) assert.equal(run(args).status, 2);
    assert.equal(role(bytes("c2sp.org/tlog-proof@v1\n")), "slice.tlog-proof");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

// readCase reads what a case of the corpus gives to the core, and what it expects.
function readCase(folder) {
  const read = (file) => readFileSync(join(folder, file));
  const given = (file) => existsSync(join(folder, file));
  const want = JSON.parse(read("expect.json"));
  const files = Object.fromEntries(readdirSync(join(folder, "evidence")).map((file) => [file, bytes(read(join("evidence", file)))]));
  const [keyID, secret] = given("secret") ? read("secret").toString().trim().split(/\s+/) : [];
  return { want, files, options: { trust: given("trust") ? bytes(read("trust")) : undefined, keyID, secret: secret && fromHex(secret), requireFull: (want.args ?? []).includes("--require-full") } };
}

// Judges the cases of a folder that name their checks; resolves to those that fail in some case.
async function judgeNamed(at) {
  const names = readdirSync(at).filter((name) => statSync(join(at, name)).isDirectory());
  assert.ok(names.length > 100, `${at} holds few cases`);
  const failed = new Set();
  for (const name of names) {
    const { want, files, options } = readCase(join(at, name));
    const report = await verify(files, options);
    assert.equal(`${report.exitCode} ${report.verdict}`, `${want.exit_code} ${want.verdict}`, `${name}: ${JSON.stringify(report.checks)}`);
    const own = report.checks.slice(0, report.checks.findIndex((c) => c.id === "token") + 1); // of the bundle or the disclosure
    const fails = own.filter((c) => c.status === "fail").map((c) => c.id);
    if (want.fails) assert.deepEqual(fails, want.fails, name);
    for (const id of want.fails ?? []) failed.add(id);
  }
  return [...failed].sort();
}

test("cases of facts made by the kernel", { skip: existsSync(FACTS) ? false : "golden/verify-facts does not exist: no cases of facts made by the kernel were run" }, async () => {
  assert.deepEqual(await judgeNamed(FACTS), ["aliases", "canonical_order", "evidence", "facts", "inclusion", "policy_hash", "question", "reached", "slice_id", "snapshot", "token"]);
});

test("cases of evidence of beliefs made by the kernel", { skip: existsSync(BELIEFS) ? false : "golden/verify-beliefs does not exist: no cases of evidence of beliefs made by the kernel were run" }, async () => {
  assert.deepEqual(await judgeNamed(BELIEFS), ["beliefs", "canonical_order", "evidence", "policy_hash", "question", "slice_id", "snapshot", "steps", "token"]);
});

test("cases of contexts made by the kernel", { skip: existsSync(CONTEXTS) ? false : "golden/verify-contexts does not exist: no contexts were verified" }, async () => {
  assert.deepEqual(await judgeNamed(CONTEXTS), ["candidates", "canonical_order", "inclusion", "policy_hash", "prompt", "request", "selection", "slice_id", "snapshot", "texts", "token"]);
});

// Nothing in a context can be another: each byte, each value. The seal is the token's to find, and whose key it is.
test("every byte and value of a context, changed or left out", { skip: existsSync(CONTEXTS) ? false : "golden/verify-contexts does not exist" }, async () => {
  const { files, options } = readCase(join(CONTEXTS, "good_format_markdown"));
  const good = Buffer.from(files["bundle.json"]);
  const report = await expect("verified", { "bundle.json": good }, { ...options, requireFull: true });
  assert.deepEqual(report.checks.map((c) => c.id), ["form", "version", "canonical_order", "candidates", "texts", "selection", "prompt", "request", "policy_hash", "snapshot", "slice_id", "token",
    "attestation", "statement", "log", "log_inclusion", "signer_time"]);
  assert.ok(report.prompt.startsWith("# Context\n\nWhat follows"), report.prompt);
  const seen = {};
  const judge = async (data, where) => {
    const { verdict } = await verify({ "bundle.json": bytes(data) }, options);
    assert.ok(["tampered", "malformed", "unknown_version", "key_unknown"].includes(verdict), `${verdict}: ${where}`);
    assert.ok(verdict !== "key_unknown" || String(where).startsWith("key_id") || good.subarray(where - 12, where).includes("key_id"), `${verdict}: ${where}`);
    seen[verdict] = (seen[verdict] ?? 0) + 1;
  };
  await sixteen([...good.keys()], async (at) => {
    const flipped = Buffer.from(good);
    flipped[at] ^= 1;
    await judge(flipped, at);
  });
  await everyValue(JSON.parse(good), (v, path) => judge(dump(v), path.join(".")));
  assert.ok(seen.tampered > 1000 && seen.malformed > 1000 && seen.unknown_version > 10 && seen.key_unknown > 1, JSON.stringify(seen));
});

test("every value of a context of gkc/2, changed or left out", { skip: existsSync(CONTEXTS) ? false : "golden/verify-contexts does not exist" }, async () => {
  const { files, options } = readCase(join(CONTEXTS, "counted_good_format_markdown"));
  const report = await expect("verified", files, options);
  assert.ok(report.prompt.startsWith("# Context\n\nWhat follows was recorded earlier. Rules and constraints bind"), report.prompt);
  await everyValue(JSON.parse(Buffer.from(files["bundle.json"])), async (v, path) => {
    const { verdict } = await verify({ "bundle.json": bytes(dump(v)) }, options);
    const allowed = path[0] === "key_id" ? ["key_unknown", "malformed"] : ["tampered", "malformed", "unknown_version"];
    assert.ok(allowed.includes(verdict), `${verdict}: ${path.join(".")}`);
  });
});

test("every value of a disclosure of a context, changed or left out", { skip: existsSync(CONTEXTS) ? false : "golden/verify-contexts does not exist" }, async () => {
  for (const name of ["dropped_every", "counted_part_all"]) {
    const { files, options } = readCase(join(CONTEXTS, name));
    await everyValue(JSON.parse(Buffer.from(files["disclosure.json"])), async (v, path) => {
      const { verdict } = await verify({ ...files, "disclosure.json": bytes(dump(v)) }, options);
      const allowed = path[0] === "key_id" ? ["key_unknown", "malformed"] : ["tampered", "malformed", "unknown_version"];
      if (path[0] === "shown" && path.length === 2) allowed.push("verified"); // a leaf less is a smaller part
      assert.ok(allowed.includes(verdict), `${verdict}: ${name}: ${path.join(".")}`);
    });
  }
});

// Calls judge with the document, with each of its values changed and each left out.
async function everyValue(good, judge) {
  const paths = [];
  (function walk(node, path) {
    for (const key of Object.keys(node)) {
      paths.push([...path, key]);
      if (typeof node[key] === "object") walk(node[key], [...path, key]);
    }
  })(good, []);
  assert.ok(paths.length > 50, `${paths.length} values`);
  const other = (x) => (typeof x === "number" ? (x === 1 ? 0 : 1) : typeof x === "boolean" ? !x : typeof x !== "string" ? 7 : /^[0-9a-f]/.test(x) ? (x[0] === "1" ? "2" : "1") + x.slice(1) : x + "x");
  await sixteen(paths, async (path) => {
    for (const change of [(at, key) => (at[key] = other(at[key])), (at, key) => (Array.isArray(at) ? at.splice(key, 1) : delete at[key])]) {
      await judge(changed((v) => change(path.slice(0, -1).reduce((at, key) => at[key], v), path.at(-1)), good), path);
    }
  });
}

// Calls judge with each item, sixteen at a time: hashes are made on other threads, and one alone waits for each of them.
async function sixteen(items, judge) {
  const left = items.values(); // one iterator for all
  await Promise.all(Array.from({ length: 16 }, async () => {
    for (const item of left) await judge(item);
  }));
}

// The core judges the cases. The command line runs for the first of each exit code and for those that
// end without a verdict; "graphkernel conformance run" starts it for every case (.ci/verifiers).
test("cases made by the kernel", { skip: existsSync(CASES) ? false : "golden/verify does not exist: no cases made by the kernel were run" }, async () => {
  const names = readdirSync(CASES).filter((name) => statSync(join(CASES, name)).isDirectory());
  assert.ok(names.length > 0, "golden/verify holds no cases");
  const exits = new Set();
  for (const name of names) {
    const folder = join(CASES, name);
    const { want, files, options } = readCase(folder);
    assert.ok(!name.endsWith("_fail") || want.exit_code !== 0, `the name of ${name}`);
    const judged = ![1, 2].includes(want.exit_code);
    if (judged) {
      const report = await verify(files, options);
      assert.equal(`${report.exitCode} ${report.verdict}`, `${want.exit_code} ${want.verdict}`, `${name}: ${JSON.stringify(report.checks)}`);
      if (exits.has(want.exit_code)) continue;
    }
    exits.add(want.exit_code);
    const args = ["--json", ...(want.args ?? [])];
    if (options.trust) args.push("--trust", join(folder, "trust"));
    const environ = {};
    if (options.keyID) [environ.GRAPHKERNEL_KEY_ID, environ.GRAPHKERNEL_SECRET] = readFileSync(join(folder, "secret"), "utf8").trim().split(/\s+/);
    const out = run([...args, join(folder, "evidence")], environ);
    assert.equal(out.status, want.exit_code, `${name}: ${out.stdout}${out.stderr}`);
    if (judged) assert.equal(JSON.parse(out.stdout).verdict, want.verdict, name);
  }
  assert.ok(exits.size > 5, `the cases have the exit codes ${[...exits]}`);
});
