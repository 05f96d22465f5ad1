// Answers calls of cli.mjs, a line of JSON each: {"args":[…],"env":{…}} → {"code":…,"out":…}.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { run } = await import(pathToFileURL(process.argv[2]));
for await (const line of createInterface({ input: process.stdin })) {
  const call = JSON.parse(line);
  const out = [];
  let code = -1; // a verifier that falls over has given no verdict
  try {
    code = await run(call.args, call.env, (text) => out.push(text, "\n"), (text) => out.push(text, "\n"));
  } catch (fault) {
    out.push(fault.stack);
  }
  process.stdout.write(JSON.stringify({ code, out: out.join("") }) + "\n");
}
