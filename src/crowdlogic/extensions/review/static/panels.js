// The panels beside the item: progress, annotators, filters, recent decisions, exports.

import { byId, count, make, percent, show, tell } from "./dom.js";

const interval = (found) => `${percent(found.share)} (${percent(found.low)} to ${percent(found.high)})`;

/** How far the review is. */
export function drawProgress(progress) {
  const { counts } = progress;
  const conflicts = counts.conflicts ? `, ${count(counts.conflicts, "conflict")}` : "";
  byId("decided").textContent = `${counts.decided.toLocaleString("en")} of ${counts.items.toLocaleString("en")}${conflicts}`;
  byId("mistakes").textContent = counts.expected_mistakes >= 10 ? Math.round(counts.expected_mistakes).toLocaleString("en") : counts.expected_mistakes.toFixed(1);
  const { now, before } = counts.accuracy;
  byId("accuracy").textContent = now ? interval(now) : "none yet";
  byId("accuracy").title = before ? `Before the review: ${interval(before)}, by ${count(before.n, "random item")}` : "";
  const waiting = `${count(counts.waiting, "decision")} since the last refit`;
  byId("refit-state").textContent = progress.is_fitting ? "Refitting; you can continue." : waiting;
  tell(byId("problem"), progress.problem);
}

/** Show the changes by the last refit. */
export function drawRefit(last) {
  tell(byId("refit-note"), last ? last.sentence : "");
}

export function drawAnnotators(people) {
  const rows = people.map((one) => make("tr", { title: one.reason || null }, make("th", { scope: "row" }, one.name),
    make("td", { class: "number" }, one.n_labels.toLocaleString("en")),
    make("td", { class: "number" }, one.reliability === null ? "–" : percent(one.reliability)),
    make("td", {}, one.flag === "ok" ? "" : make("span", { class: "flag" }, one.flag))));
  const names = ["annotator", "labels", "reliable", ""].map((name, place) => make("th", { scope: "col", class: place % 3 ? "number" : null }, name));
  show(byId("annotators"), make("div", { class: "people", tabindex: "0", role: "region", "aria-label": "Annotators" },
    make("table", { class: "votes" }, make("thead", {}, make("tr", {}, ...names)), make("tbody", {}, ...rows))));
}

export function fillChoices(facts, people) {
  const options = (select, values) => { for (const [value, name] of values) byId(select).append(make("option", { value }, name)); };
  options("filter-answer", facts.types.map((name) => [name, name]));
  options("filter-annotator", people.map((one) => [one.name, one.name]));
  options("filter-rule", facts.rules.map((rule, place) => [place, rule.length > 60 ? `${rule.slice(0, 60)}…` : rule]));
  options("cause", facts.causes.map((name) => [name, name]));
  byId("rule-choice").hidden = !facts.rules.length;
}

/** What the reviewer wants to see, as the server takes it. */
export function readFilter() {
  const most = Number(byId("filter-sure").value);
  byId("sure-shown").textContent = `${most}%`;
  const filter = { search: byId("search").value, answer: byId("filter-answer").value, annotator: byId("filter-annotator").value, rule: byId("filter-rule").value };
  if (most < 100) filter.most_confidence = most / 100;
  if (byId("filter-state").value !== "open") filter.state = byId("filter-state").value;
  return filter;
}

export function addRecent(text, open) {
  byId("recent").prepend(make("li", {}, make("button", { type: "button", onclick: open }, text)));
  while (byId("recent").children.length > 20) byId("recent").lastElementChild.remove();
}

export function drawExports(files, download) {
  show(byId("exports"), ...files.map((file) => make("li", {}, make("button", { type: "button", onclick: () => download(file.name) }, file.name), `: ${file.holds}`)));
}

export function drawKeys(facts) {
  const isTags = facts.task !== "documents";
  const keys = [
    ["1–9", isTags ? "give the picked tokens this type" : "answer with this class"],
    ["Enter", isTags ? "save the sentence as it is shown" : "answer with the consensus"],
    ...(isTags ? [["← →", "move; with Shift, pick more tokens"], ["Alt ← →", "move the end of the span"], ["Delete", "remove the span"]] : []),
    ["U", "undo your last decision"], ["S", "skip"], ["C", "cannot say"], ["N", "write a note"], ["/", "search"], ["?", "these keys"],
  ];
  show(byId("keys"), ...keys.flatMap(([key, what]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, what)]));
}
