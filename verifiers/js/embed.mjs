// Copies gkverify.mjs into index.html, which must work from a file, where a page may not import. Run: node embed.mjs
import { readFileSync, writeFileSync } from "node:fs";

const file = (name) => new URL(name, import.meta.url);
const [BEGIN, END] = ["// BEGIN gkverify.mjs\n", "// END gkverify.mjs\n"];

export function embedded(page, core) {
  const [from, to] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)];
  return page.slice(0, from) + core + page.slice(to);
}

if (process.argv[1] === file("embed.mjs").pathname) {
  writeFileSync(file("index.html"), embedded(readFileSync(file("index.html"), "utf8"), readFileSync(file("gkverify.mjs"), "utf8")));
}
