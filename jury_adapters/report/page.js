"use strict";
// Everything shown comes from models and answers, so it is only ever set as text, never as HTML.
const byId = (id) => document.getElementById(id);
const formatted = (number) => number.toLocaleString("en");
const rows = JSON.parse(byId("rows").textContent);
const lines = byId("details").textContent.split("\n"); // one case each, parsed when it is opened
const STATUSES = ["PASS", "FAIL", "ABSTAIN", "ERROR"];
const BATCH = 100;
const OPEN_ON_PAPER = 20;
const CHOICES = { verdict: (row) => row.verdict, tier: (row) => row.tier, human: (row) => row.human };
const TICKS = {
  review: (row) => row.review,
  split: (row) => row.split,
  unmet: (row) => row.unmet,
  flipped: (row) => row.was !== undefined,
};
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
  const chosen = Object.entries(CHOICES).filter(([id]) => byId(id).value).map(([id, of]) => [byId(id).value, of]);
  const ticked = Object.keys(TICKS).filter((id) => byId(id).checked).map((id) => TICKS[id]);
  const [juror, said] = [byId("juror").value, opinionSought()];
  return (row) =>
    chosen.every(([word, of]) => of(row) === word) &&
    ticked.every((holds) => holds(row)) &&
    (!juror || row.said.has(juror)) &&
    (!said || said(row, juror)) &&
    (!search || row.text.includes(search));
}

function opinionSought() {
  if (byId("differs")?.selected) return (row, juror) => row.against?.some((name) => !juror || name === juror);
  const said = byId("said").value;
  return said && ((row, juror) => (juror ? row.said.get(juror) === said : row.votes.some((vote) => vote[1] === said)));
}

function filtered() {
  const inputs = [...document.querySelectorAll(".filters input, .filters select:not(#sort)")];
  return inputs.some((input) => (input.type === "checkbox" ? input.checked : input.value !== ""));
}

function update() {
  const sort = byId("sort").value;
  const order = sort === "where" ? (a, b) => orders.where(a.where, b.where) : orders[sort];
  found = rows.filter(wanted()).sort(order);
  drawn = 0;
  byId("list").replaceChildren();
  byId("clear").hidden = !filtered();
  draw();
}

function counted() {
  const all = `${formatted(rows.length)} ${rows.length === 1 ? "case" : "cases"}`;
  const shown = found.length === rows.length && !filtered() ? all : found.length ? `${formatted(found.length)} of ${all}` : `None of ${all} matches`;
  return drawn < found.length ? `${shown}, the first ${formatted(drawn)} are listed` : shown;
}

function draw() {
  const batch = document.createDocumentFragment();
  for (const row of found.slice(drawn, drawn + BATCH)) batch.append(element("li", "", caseOf(row)));
  drawn = Math.min(drawn + BATCH, found.length);
  byId("list").append(batch);
  byId("more").hidden = drawn >= found.length;
  byId("more").textContent = `Show ${formatted(Math.min(BATCH, found.length - drawn))} more of ${formatted(found.length - drawn)} left`;
  byId("count").textContent = counted();
}

// ---- one case

function caseOf(row) {
  const head = element("summary", "");
  head.append(badge(row.verdict), readable("span", "where", row.where));
  if (row.was !== undefined) head.append(element("span", "chip", `was ${row.was}`));
  if (row.review) head.append(element("span", "chip ask", "needs review"));
  const wrong = { "false pass": "false pass", "false fail": "false fail", differs: "differs from the human label" }[row.human];
  if (wrong) head.append(element("span", "chip ask", wrong));
  head.append(readable("span", "asked", (row.question ?? row.answer ?? "").slice(0, 240)));
  const strip = element("span", "strip");
  if (row.votes.length) {
    strip.setAttribute("role", "img");
    strip.setAttribute("aria-label", row.votes.map(([name, word]) => `${name}: ${word}`).join(", "));
  }
  for (const [name, word] of row.votes.slice(0, 24)) {
    const dot = element("span", `dot ${STATUSES.includes(word) ? word.toLowerCase() : "label"}`);
    dot.title = `${name}: ${word}`;
    strip.append(dot);
  }
  const figures = [
    row.agreement === undefined ? null : `agreement ${row.agreement.toFixed(2)}`,
    row.score === undefined ? null : `score ${row.score.toFixed(2)}`,
    costOf(row),
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
    if (!text) return;
    const shown = marked(text, claims);
    shown.setAttribute("role", "group");
    shown.setAttribute("aria-label", title);
    sizes.observe(shown);
    body.append(element("h3", "", title), shown);
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
  body.append(element("h3", "", "Verdict"), element("p", "", badge(row.verdict), " ", readable("span", "", told.reasoning)));
  if (told.gold) body.append(readable("p", "", `Human label: ${told.gold}`));
  if (told.notes) body.append(element("ul", "notes", ...told.notes.map((note) => readable("li", "", note))));
  if (told.findings) body.append(findingList(told.findings));
  if (told.claims) body.append(element("h3", "", "Claims"), claimList(told.claims));
  if (told.jurors) body.append(element("h3", "", "Jurors"), ...told.jurors.map(jurorOf));
  return body;
}

function imageOf(image, place) {
  const about = readable("p", "quiet", image.about);
  if (!image.source) return [element("h3", "", `Image ${place + 1}`), about];
  const picture = element("img", "thumbnail");
  picture.alt = `Image ${place + 1}: ${image.about}`;
  picture.src = image.source; // a data: URL; the policy of the page allows no other source
  return [element("h3", "", `Image ${place + 1}`), picture, about];
}

function costOf({ cost, unpriced }) {
  if (cost === undefined) return unpriced ? "unknown cost" : null;
  return `$${cost.toFixed(4)}${unpriced ? "+" : ""}`;
}

function jurorOf(juror) {
  const facts = [
    juror.label && juror.label !== juror.verdict ? juror.label : null,
    juror.score === undefined ? null : `score ${juror.score.toFixed(2)}`,
    juror.confidence === undefined ? null : `confidence ${juror.confidence.toFixed(2)}`,
    juror.model && juror.model !== juror.name ? juror.model : null,
    juror.seconds === undefined ? null : `${juror.seconds.toFixed(2)} s`,
    costOf(juror),
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
  const opened = `The first ${Math.min(OPEN_ON_PAPER, drawn)} cases are opened, and those you have opened yourself.`;
  byId("on-paper").textContent = rest ? `${opened} ${formatted(rest)} more are on the page only.` : opened;
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

// ---- what can be scrolled can be reached with the keyboard

const sizes = new ResizeObserver((seen) => {
  for (const { target: box } of seen) {
    const scrolls = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
    if (scrolls) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
});

// ---- at work

function fill(id, words) {
  const rank = (word) => STATUSES.indexOf(word) + 1 || 9;
  for (const word of [...words].sort((a, b) => rank(a) - rank(b)).slice(0, 100)) {
    const option = element("option", "", word);
    option.value = word;
    byId(id).append(option);
  }
}

const offer = (id, useful) => (byId(id).closest("label").hidden = !useful);

function offerFilters() {
  for (const [id, of] of Object.entries(CHOICES)) {
    const values = new Set(rows.map(of));
    offer(id, values.size > 1);
    values.delete(undefined);
    fill(id, values);
  }
  for (const [id, holds] of Object.entries(TICKS)) offer(id, rows.some(holds));
  const [jurors, said] = [0, 1].map((part) => new Set(rows.flatMap((row) => row.votes.map((vote) => vote[part]))));
  const differ = rows.some((row) => row.against);
  if (!differ) byId("differs").remove();
  fill("juror", jurors);
  fill("said", said);
  offer("juror", jurors.size > 0);
  offer("said", said.size > 1 || differ);
}

function offerOrders() {
  const known = { low: "score", high: "score", cost: "cost" };
  for (const option of [...byId("sort").options]) {
    const value = known[option.value];
    if (value && !rows.some((row) => row[value] !== undefined)) option.remove();
  }
}

function only(id) {
  document.querySelector(".filters").reset();
  byId(id).checked = true;
  update();
}

function start() {
  const filters = document.querySelector(".filters");
  offerFilters();
  offerOrders();
  filters.hidden = rows.length < 2;
  filters.addEventListener("input", update);
  filters.addEventListener("submit", (event) => event.preventDefault());
  byId("clear").addEventListener("click", (event) => {
    event.preventDefault(); // the list is drawn once the form is empty, and the focus is not lost with the button
    filters.reset();
    update();
    byId("search").focus();
  });
  // The links lead to the list, as without this script.
  for (const id of ["review", "split"]) byId(`to-${id}`)?.addEventListener("click", () => only(id));
  window.addEventListener("beforeprint", unfold);
  window.addEventListener("afterprint", fold);
  byId("more").addEventListener("click", () => {
    const first = drawn;
    draw();
    byId("list").children[first]?.querySelector("summary").focus();
  });
  for (const box of document.querySelectorAll(".scroll")) sizes.observe(box);
  update();
}

start();
