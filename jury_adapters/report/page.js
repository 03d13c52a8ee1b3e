"use strict";
// Everything shown comes from models and answers, so it is only ever set as text, never as HTML.
const byId = (id) => document.getElementById(id);
const rows = JSON.parse(byId("rows").textContent);
const lines = byId("details").textContent.split("\n"); // one case each, parsed when it is opened
const STATUSES = ["PASS", "FAIL", "ABSTAIN", "ERROR"];
const BATCH = 100;
const OPEN_ON_PAPER = 20;
let found = [];
let drawn = 0;

rows.forEach((row, index) => {
  row.index = index;
  row.text = [row.where, row.question, row.answer].join("\n").toLowerCase();
  row.said = new Map(row.votes);
});

function element(tag, kind, ...content) {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  for (const part of content) {
    if (part !== undefined && part !== null) made.append(part); // a string becomes a text node
  }
  return made;
}

function readable(tag, kind, text) {
  const made = element(tag, kind, text);
  made.dir = "auto";
  return made;
}

function badge(word) {
  const kind = STATUSES.includes(word) ? word.toLowerCase() : "label";
  return element("span", `badge ${kind}`, word);
}

// ---- filtering and sorting

const orders = {
  contest: (a, b) => b.contest - a.contest || a.index - b.index,
  order: (a, b) => a.index - b.index,
  low: (a, b) => (a.score ?? Infinity) - (b.score ?? Infinity) || a.index - b.index || 0,
  high: (a, b) => (b.score ?? -Infinity) - (a.score ?? -Infinity) || a.index - b.index || 0,
  cost: (a, b) => (b.cost ?? 0) - (a.cost ?? 0) || a.index - b.index,
  where: new Intl.Collator(undefined, { numeric: true }).compare,
};

function wanted() {
  const search = byId("search").value.trim().toLowerCase();
  const [verdict, juror, said] = ["verdict", "juror", "said"].map((id) => byId(id).value);
  const review = byId("review").checked;
  const flipped = byId("flipped")?.checked;
  return (row) =>
    (!verdict || row.verdict === verdict) &&
    (!review || row.review) &&
    (!flipped || row.was !== undefined) &&
    (!juror || row.said.has(juror)) &&
    (!said || (juror ? row.said.get(juror) === said : row.votes.some((vote) => vote[1] === said))) &&
    (!search || row.text.includes(search));
}

function update() {
  const sort = byId("sort").value;
  const order = sort === "where" ? (a, b) => orders.where(a.where, b.where) : orders[sort];
  found = rows.filter(wanted()).sort(order);
  drawn = 0;
  byId("list").replaceChildren();
  const all = rows.length.toLocaleString("en");
  byId("count").textContent =
    found.length === rows.length ? `${all} ${rows.length === 1 ? "case" : "cases"}` : `${found.length.toLocaleString("en")} of ${all} cases`;
  draw();
}

function draw() {
  const batch = document.createDocumentFragment();
  for (const row of found.slice(drawn, drawn + BATCH)) batch.append(caseOf(row));
  drawn = Math.min(drawn + BATCH, found.length);
  byId("list").append(batch);
  byId("more").hidden = drawn >= found.length;
  byId("more").textContent = `Show more (${(found.length - drawn).toLocaleString("en")} left)`;
}

// ---- one case

function caseOf(row) {
  const head = element("summary", "");
  head.append(badge(row.verdict), readable("span", "where", row.where));
  if (row.was !== undefined) head.append(element("span", "chip", `was ${row.was}`));
  if (row.review) head.append(element("span", "chip ask", "needs review"));
  head.append(readable("span", "asked", (row.question ?? row.answer ?? "").slice(0, 240)));
  const strip = element("span", "strip");
  for (const [name, word] of row.votes.slice(0, 24)) {
    const dot = element("span", `dot ${STATUSES.includes(word) ? word.toLowerCase() : "label"}`);
    dot.title = `${name}: ${word}`;
    strip.append(dot);
  }
  const figures = [
    row.agreement === undefined ? null : `agreement ${row.agreement.toFixed(2)}`,
    row.score === undefined ? null : `score ${row.score.toFixed(2)}`,
    row.cost === undefined ? null : `$${row.cost.toFixed(4)}`,
  ].filter(Boolean);
  head.append(element("span", "end", strip, element("span", "figures", figures.join(" · "))));
  const made = element("details", "case", head);
  made.told = row;
  made.addEventListener("toggle", () => {
    if (made.open) complete(made);
  });
  return made;
}

function complete(made) {
  if (made.childElementCount === 1) made.append(bodyOf(made.told, JSON.parse(lines[made.told.index])));
}

function bodyOf(row, told) {
  const body = element("div", "body");
  const findings = [...(told.jurors ?? []).flatMap((juror) => juror.findings ?? []), ...(told.findings ?? [])];
  findings.push(...(told.claims ?? []).map(findingOf));
  const add = (title, text, claims = findings) => {
    if (text) body.append(element("h4", "", title), marked(text, claims));
  };
  if (row.why) add("Why the verdict changed", row.why, []);
  for (const note of told.unmet ?? []) body.append(readable("p", "missed", `Gate missed: ${note}`));
  (told.messages ?? []).forEach((text, place) => add(`Message ${place + 1}`, text));
  if (!told.messages?.some((text) => text.endsWith(row.question))) add("Question", row.question, []);
  (told.contexts ?? []).forEach((text, place) => add(`Context ${place + 1}`, text));
  (told.images ?? []).forEach((image, place) => body.append(...imageOf(image, place)));
  (told.steps ?? []).forEach((text, place) => add(`Step ${place + 1}`, text));
  add(told.generator ? `Answer by ${told.generator}` : "Answer", row.answer);
  (told.candidates ?? []).forEach((text, place) => add(`Candidate ${"ABCDEFGH"[place] ?? place + 1}`, text));
  add("Reference", told.reference);
  if (row.question === undefined && row.answer === undefined && !told.contexts) {
    body.append(element("p", "quiet", "The texts of this case are not in the result file; give the cases with --cases."));
  }
  body.append(element("h4", "", "Verdict"), element("p", "", badge(row.verdict), " ", readable("span", "", told.reasoning)));
  if (told.gold) body.append(readable("p", "", `Human label: ${told.gold}`));
  if (told.notes) body.append(element("ul", "notes", ...told.notes.map((note) => readable("li", "", note))));
  if (told.findings) body.append(findingList(told.findings));
  if (told.claims) body.append(element("h4", "", "Claims"), claimList(told.claims));
  if (told.jurors) body.append(element("h4", "", "Jurors"), ...told.jurors.map(jurorOf));
  return body;
}

function imageOf(image, place) {
  const about = readable("p", "quiet", image.about);
  if (!image.source) return [element("h4", "", `Image ${place + 1}`), about];
  const picture = element("img", "thumbnail");
  picture.alt = `Image ${place + 1}: ${image.about}`;
  picture.src = image.source; // a data: URL; the policy of the page allows no other source
  return [element("h4", "", `Image ${place + 1}`), picture, about];
}

function jurorOf(juror) {
  const facts = [
    juror.label && juror.label !== juror.verdict ? juror.label : null,
    juror.score === undefined ? null : `score ${juror.score.toFixed(2)}`,
    juror.confidence === undefined ? null : `confidence ${juror.confidence.toFixed(2)}`,
    juror.model && juror.model !== juror.name ? juror.model : null,
    juror.seconds === undefined ? null : `${juror.seconds.toFixed(2)} s`,
    juror.cost === undefined ? null : `$${juror.cost.toFixed(4)}`,
  ].filter(Boolean);
  const made = element("div", "juror");
  made.append(element("p", "said", badge(juror.verdict), readable("b", "", juror.name), readable("span", "quiet", facts.join(" · "))));
  if (juror.error) made.append(readable("p", "missed", juror.error));
  if (juror.reasoning) made.append(readable("p", "text", juror.reasoning));
  if (juror.findings) made.append(findingList(juror.findings));
  if (juror.claims) made.append(claimList(juror.claims));
  return made;
}

function findingList(findings) {
  const kinds = new Map([[true, ["pass", "holds"]], [false, ["fail", "fails"]], [null, ["abstain", "not decided"]]]);
  return element("ul", "findings", ...findings.map((finding) => {
    const [kind, told] = kinds.get(finding.passed);
    const item = element("li", kind, element("span", "verdict-word", told), " ", readable("span", "", finding.name));
    if (finding.detail) item.append(readable("span", "quiet", ` ${finding.detail}`));
    if (finding.evidence && finding.evidence !== finding.name) item.append(readable("q", "", finding.evidence));
    return item;
  }));
}

// ---- claims beside their passages

const KIND_OF_CLAIM = new Map([["supported", "pass"], ["unsupported", "fail"], ["unclear", "abstain"]]);

function claimList(claims) {
  return element("ul", "findings claims", ...claims.map((claim) => {
    const item = element("li", KIND_OF_CLAIM.get(claim.verdict));
    item.append(element("span", "verdict-word", claim.verdict), " ", readable("span", "", claim.text));
    if (claim.reasoning) item.append(readable("span", "quiet", ` ${claim.reasoning}`));
    if (claim.votes.length) item.append(readable("p", "quiet", claim.votes.join(" · ")));
    const passage = claim.passage === null ? "Contexts" : `Context ${claim.passage}`;
    item.append(element("div", "sides", sideOf("Answer", claim.sentence), sideOf(passage, claim.evidence)));
    return item;
  }));
}

function sideOf(title, quote) {
  return element("div", "", element("span", "quiet", title), quote ? readable("q", "", quote) : element("p", "quiet", "no quotation"));
}

function findingOf(claim) {
  const passed = { supported: true, unsupported: false, unclear: null }[claim.verdict];
  return { name: claim.sentence || claim.text, passed, detail: claim.verdict, evidence: claim.evidence };
}

// ---- claims marked in the text

function marked(text, findings) {
  const made = readable("div", "text", "");
  let from = 0;
  for (const { start, end, finding } of marksIn(text, findings)) {
    made.append(text.slice(from, start));
    const kind = finding.passed === null ? "abstain" : finding.passed ? "pass" : "fail";
    const mark = element("mark", kind, text.slice(start, end));
    mark.title = [finding.name, finding.detail].filter(Boolean).join(": ");
    made.append(mark);
    from = end;
  }
  made.append(text.slice(from));
  return made;
}

function marksIn(text, findings) {
  const marks = [];
  for (const finding of findings) {
    // A finding is called by its claim, or by a kind and what was found: "word: ended".
    const claims = [finding.name, finding.name.replace(/^[a-z ]{1,20}: /, "")];
    for (const [order, quote] of [...claims.map((claim) => [0, claim]), [1, finding.evidence ?? ""]]) {
      const sought = quote.trim().replace(/[.…]+$/, "");
      const start = sought.length < 3 ? -1 : placeOf(text, sought);
      if (start >= 0) marks.push({ start, end: start + sought.length, finding, order });
    }
  }
  // What fails is marked before what holds, a claim before its evidence, and nothing twice.
  const weight = ({ finding }) => (finding.passed === false ? 0 : finding.passed === null ? 1 : 2);
  marks.sort((a, b) => weight(a) - weight(b) || a.order - b.order || b.end - b.start - (a.end - a.start));
  const kept = [];
  for (const mark of marks) {
    if (kept.every((other) => mark.end <= other.start || other.end <= mark.start)) kept.push(mark);
  }
  return kept.sort((a, b) => a.start - b.start);
}

function placeOf(text, sought) {
  const lowered = text.toLowerCase();
  const same = lowered.length === text.length; // a few letters change their length when lowered
  const [where, what] = same ? [lowered, sought.toLowerCase()] : [text, sought];
  const letter = (char) => /[\p{L}\p{N}]/u.test(char ?? "");
  for (let start = where.indexOf(what); start >= 0; start = where.indexOf(what, start + 1)) {
    const end = start + what.length;
    const inside = (letter(where[start - 1]) && letter(what[0])) || (letter(where[end]) && letter(what.at(-1)));
    if (!inside) return start; // "ran" is not in "brand"
  }
  return -1;
}

// ---- on paper, where nothing can be opened

function unfold() {
  for (const made of document.querySelectorAll("section details:not(.case):not([open])")) toOpen(made);
  for (const made of [...document.querySelectorAll("details.case")].slice(0, OPEN_ON_PAPER)) {
    complete(made);
    if (!made.open) toOpen(made);
  }
  const rest = found.length - drawn;
  const told = `The first ${Math.min(OPEN_ON_PAPER, drawn)} cases are opened, and those you have opened yourself.`;
  byId("on-paper").textContent = rest ? `${told} ${rest.toLocaleString("en")} more are on the page only.` : told;
}

function toOpen(made) {
  made.open = true;
  made.dataset.openedForPaper = "";
}

function fold() {
  for (const made of document.querySelectorAll("[data-opened-for-paper]")) {
    made.open = false;
    delete made.dataset.openedForPaper;
  }
}

// ---- at work

function fill(id, words) {
  for (const word of words) {
    const option = element("option", "", word);
    option.value = word;
    byId(id).append(option);
  }
}

function start() {
  const verdicts = [...new Set(rows.map((row) => row.verdict))];
  const rank = (word) => (STATUSES.indexOf(word) + 1 || 9);
  fill("verdict", verdicts.sort((a, b) => rank(a) - rank(b)).slice(0, 100));
  const jurors = new Set();
  const said = new Set();
  for (const row of rows) {
    for (const [name, word] of row.votes) {
      jurors.add(name);
      said.add(word);
    }
  }
  fill("juror", jurors);
  fill("said", [...said].sort((a, b) => rank(a) - rank(b)).slice(0, 100));
  for (const input of document.querySelectorAll(".filters input, .filters select")) {
    input.addEventListener("input", update);
  }
  document.querySelector(".filters").addEventListener("submit", (event) => event.preventDefault());
  byId("to-review")?.addEventListener("click", () => { // and the link leads to the list, as without this
    document.querySelector(".filters").reset();
    byId("review").checked = true;
    update();
  });
  window.addEventListener("beforeprint", unfold);
  window.addEventListener("afterprint", fold);
  byId("more").addEventListener("click", () => {
    const first = drawn;
    draw();
    byId("list").children[first]?.querySelector("summary").focus();
  });
  new IntersectionObserver((seen) => {
    if (seen.some((entry) => entry.isIntersecting) && !byId("more").hidden) draw();
  }, { rootMargin: "600px" }).observe(byId("more"));
  update();
}

start();
