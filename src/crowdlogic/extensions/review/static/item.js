// View of one item: its text or sentence, the estimated answer, all votes, and earlier decisions.

import { make, percent } from "./dom.js";
import { drawSentence, SpanEditor } from "./spans.js";

/** The card of an item. A sentence gets an editor, which draws itself again when it changes. */
export function drawItem(item, facts, { editor, settle }) {
  const card = make("article", { class: "card", "aria-label": `Item ${item.name}` }, head(item), conflict(item, settle));
  if (editor) card.append(editor.draw(), ...item.votes.map((vote) => said(vote, item, facts)));
  else card.append(make("p", { class: "text", dir: "auto" }, item.text ?? `(no text: the item is called ${item.name})`), belief(item), votes(item));
  return card;
}

export function makeEditor(item, facts, onchange) {
  return facts.task === "documents" ? null : new SpanEditor(item, facts.types, facts.task === "tags", onchange);
}

function head(item) {
  const chips = [];
  if (item.chosen === "random") chips.push(make("span", { class: "chip random", title: "Drawn at random: it says how accurate the labels are" }, "random check"));
  if (item.in_conflict) chips.push(make("span", { class: "chip conflict" }, "conflict"));
  else if (item.is_decided) chips.push(make("span", { class: "chip" }, `decided by ${item.decisions.map((one) => one.reviewer).join(", ")}`));
  const sure = item.confidence === null ? "nobody labelled it" : `${percent(item.confidence)} sure`;
  return make("div", { class: "item-head" }, make("span", { class: "item-name" }, item.name), sure, ...chips);
}

function conflict(item, settle) {
  if (!item.in_conflict) return null;
  const lines = item.decisions.map((one) => make("li", {}, `${one.reviewer}: ${describe(one)}${one.note ? ` (${one.note})` : ""}`));
  const box = make("input", { type: "checkbox", id: "settle" });
  box.checked = settle.value;
  box.addEventListener("change", () => { settle.value = box.checked; });
  return make("div", { class: "conflict-box", role: "group", "aria-label": "Conflict" },
    make("p", {}, "Reviewers differ. Both decisions are kept."), make("ul", {}, ...lines),
    make("label", {}, box, " Settle it: my next answer counts alone"));
}

export function describe(decision) {
  if (decision.kind !== "decide") return decision.kind.replace("-", " ");
  if (!Array.isArray(decision.answer)) return decision.answer;
  return decision.spans.map((span) => `${span.type} ${span.start + 1}–${span.end}`).join(", ") || "no spans";
}

function belief(item) {
  const classifier = item.classifier.length ? `; the classifier alone: ${item.classifier[0].name}, ${percent(item.classifier[0].share)}` : "";
  const answer = item.answer === null ? "Nobody labelled it" : `Consensus: ${item.answer}, ${percent(item.confidence ?? 0)}`;
  return make("p", { class: "belief muted" }, answer + classifier);
}

function votes(item) {
  const rows = item.votes.map((vote) => make("tr", {},
    make("th", { scope: "row" }, vote.annotator), make("td", {}, vote.label),
    make("td", { class: "number" }, vote.reliability === null ? "–" : percent(vote.reliability)),
    make("td", {}, vote.flag === "ok" ? "" : make("span", { class: "flag" }, vote.flag))));
  if (!rows.length) return null;
  const names = ["annotator", "said", "reliable", ""].map((name, place) => make("th", { scope: "col", class: place === 2 ? "number" : null }, name));
  return make("table", { class: "votes" }, make("thead", {}, make("tr", {}, ...names)), make("tbody", {}, ...rows));
}

function said(vote, item, facts) {
  const sure = vote.reliability === null ? "" : `, span F1 ${percent(vote.reliability)}`;
  const flag = vote.flag === "ok" ? null : make("span", { class: "flag" }, vote.flag);
  return make("div", { class: "said" }, make("p", {}, `${vote.annotator}${facts.task === "spans" ? sure : ""} `, flag),
    drawSentence(item.tokens, vote.spans, facts.types));
}
