// What only a browser can add to the console's pages. Every page is whole without it.

// Counts what happens while the home page is read, and offers to show it.
function follow(place) {
  const said = place.querySelector("[role=status]");
  const counts = { turn: 0, slice: 0, erasure: 0, knowledge: 0 };
  const names = { turn: ["turn was admitted", "turns were admitted"], slice: ["slice or context was handed out", "slices and contexts were handed out"], erasure: ["text was erased", "texts were erased"], knowledge: ["fact changed", "facts changed"] };
  const events = new EventSource(place.dataset.live);
  for (const kind of Object.keys(counts)) {
    events.addEventListener(kind, () => {
      counts[kind] += 1;
      said.textContent = Object.keys(counts).filter((k) => counts[k]).map((k) => `${counts[k]} ${names[k][counts[k] === 1 ? 0 : 1]}`).join(", ") + " since this page was made.";
      place.hidden = false;
    });
  }
  addEventListener("pagehide", () => events.close());
}

const element = (name, text, classes = "") => {
  const made = document.createElement(name);
  made.textContent = text;
  if (classes) made.className = classes;
  return made;
};

// Checks evidence with the verifier in JavaScript, against the keys of the service or a trust file of one's own.
async function check(place) {
  const base = place.dataset.verify;
  const query = place.dataset.bundle ? "?bundle=" + encodeURIComponent(place.dataset.bundle) : "";
  const said = element("p", "This browser checks it …", "verdict");
  said.setAttribute("role", "status");
  const checks = document.createElement("div");
  const label = element("label", "Your own trust file, in place of the service's keys: ");
  const file = document.createElement("input");
  file.type = "file";
  label.append(file);
  const own = document.createElement("p");
  own.append(label);
  place.replaceChildren(said, checks, own);

  const load = async (name) => {
    const answer = await fetch(`${base}/${name}${query}`, { credentials: "same-origin" });
    return answer.ok ? new Uint8Array(await answer.arrayBuffer()) : undefined;
  };
  const evidence = {};
  for (const name of ["bundle.json", "attestation.json", "slice.tlog-proof"]) {
    const data = await load(name);
    if (data) evidence[name] = data;
  }
  const published = await load("trust");
  const { verify, visible } = await import("/assets/gkverify.mjs");

  const judge = async () => {
    const chosen = file.files[0];
    const trust = chosen ? new Uint8Array(await chosen.arrayBuffer()) : published;
    const under = chosen ? "under your trust file" : published ? "under the keys that the service publishes" : "without keys: the service publishes none";
    try {
      const report = await verify(evidence, { trust });
      said.className = "verdict " + (report.exitCode === 0 ? "ok" : report.verdict === "well_formed" ? "" : "fail");
      said.replaceChildren("This browser, ", under, ": ", element("strong", report.verdict.replaceAll("_", " ")));
      const table = element("table", "", "wide checks");
      const caption = element("caption", "Checks by this browser", "hidden");
      const head = table.createTHead().insertRow();
      for (const name of ["Check", "Result", "Detail"]) {
        const cell = element("th", name);
        cell.scope = "col";
        head.append(cell);
      }
      table.prepend(caption);
      const rows = table.createTBody();
      for (const { id, status, detail } of report.checks) {
        const row = rows.insertRow();
        const cell = element("th", visible(id));
        cell.scope = "row";
        row.append(cell, element("td", status, "status " + status), element("td", visible(detail)));
      }
      const folded = document.createElement("details");
      const box = element("div", "", "scroll"); // it may scroll, so the keyboard reaches it
      box.tabIndex = 0;
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", "Checks by this browser");
      box.append(table);
      folded.append(element("summary", `${report.checks.length} checks by this browser`), box);
      checks.replaceChildren(folded);
    } catch (fault) {
      said.className = "verdict fail";
      said.textContent = `This browser, ${under}: no verdict: ${fault.message}`;
      checks.replaceChildren();
    }
  };
  file.addEventListener("change", judge);
  await judge();
}

// A link may bring a key behind the #, which no request and no log has. It fills the form; whoever reads it signs in.
const brought = location.pathname === "/sign-in" && location.hash.startsWith("#gk1.") ? location.hash.slice(1) : "";
const field = document.getElementById("key");
if (brought && field) {
  field.value = brought;
  history.replaceState(null, "", location.pathname + location.search);
  field.form.querySelector("button").focus();
}

for (const place of document.querySelectorAll("[data-live]")) follow(place);
for (const place of document.querySelectorAll("[data-verify]")) {
  check(place).catch((fault) => place.replaceChildren(element("p", `This browser could not check it: ${fault.message}`, "verdict fail")));
}
