#!/usr/bin/env node
// Command line of gkverify.mjs, for Node >= 20: the interface of ../python/gkverify.py.
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { NAMES, Usage, role, verify, visible } from "./gkverify.mjs";

const USAGE = "usage: cli.mjs [--trust FILE] [--require-full] [--json] EVIDENCE";

function readEvidence(path) {
  if (statSync(path).isDirectory()) {
    return Object.fromEntries(NAMES.filter((name) => existsSync(join(path, name))).map((name) => [name, bytes(join(path, name))]));
  }
  const data = bytes(path);
  const name = role(data);
  if (name === "attestation.json" || name === "slice.tlog-proof") throw new Usage(`${name} needs its bundle: give the folder`);
  return { [name]: data };
}

const bytes = (path) => new Uint8Array(readFileSync(path));

async function main(args, environ, print) {
  const flags = { "--require-full": false, "--json": false };
  const evidence = [];
  let trust;
  const rest = [...args];
  while (rest.length) {
    const arg = rest.shift();
    if (Object.hasOwn(flags, arg)) flags[arg] = true;
    else if (arg === "--trust" && rest.length && trust === undefined) trust = rest.shift();
    else if (arg === "-h" || arg === "--help") {
      print(`${USAGE}\nA token's secret: GRAPHKERNEL_SECRET (hex), GRAPHKERNEL_KEY_ID (default k1).`);
      return 0;
    } else if (arg.startsWith("-")) throw new Usage(`unknown option or option without its value: ${arg}`);
    else evidence.push(arg);
  }
  if (evidence.length !== 1) throw new Usage(USAGE);
  const { GRAPHKERNEL_SECRET: secret, GRAPHKERNEL_KEY_ID: keyID = "k1" } = environ;
  if (secret !== undefined) {
    if (!/^([0-9a-f]{2}){32,}$/.test(secret)) throw new Usage("GRAPHKERNEL_SECRET is not lowercase hex of at least 32 bytes");
    if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(keyID)) throw new Usage("GRAPHKERNEL_KEY_ID is no label");
  }
  const report = await verify(readEvidence(evidence[0]), {
    trust: trust === undefined ? undefined : bytes(trust),
    secret: secret === undefined ? undefined : Uint8Array.from(Buffer.from(secret, "hex")),
    keyID,
    requireFull: flags["--require-full"],
  });
  if (flags["--json"]) {
    const json = JSON.stringify({ verdict: report.verdict, exit_code: report.exitCode, checks: report.checks });
    print(json.replace(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`));
  } else {
    print(visible(`${report.verdict.toUpperCase()}  ${report.title}`.trimEnd()));
    for (const c of report.checks) print(visible(`  ${c.status.padEnd(9)} ${c.id.padEnd(22)} ${c.detail}`.trimEnd()));
  }
  return report.exitCode;
}

// The exit code of a call; print and complain take a line each.
export async function run(args, environ, print, complain) {
  try {
    return await main(args, environ, print);
  } catch (fault) {
    complain(visible(`gkverify: ${fault.message}`));
    return fault instanceof Usage ? 2 : 1;
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.removeAllListeners("warning"); // Node 20 calls Ed25519 in Web Crypto experimental
  process.exitCode = await run(process.argv.slice(2), process.env, console.log, console.error);
}
