// Why an item has its answer: a bar for every source, to the right for the answer and to the left against it.

import { make } from "./dom.js";

const NAMES = { prior: "how common the classes are", classifier: "the classifier", transitions: "neighbouring tags", rest: "mixing and doubt" };
const MOST = 8;

function bar(name, bits, extra = "") {
  const size = Math.abs(bits ?? 0).toFixed(1);
  const shown = bits === null ? "certain" : `${size === "0.0" ? "" : bits < 0 ? "−" : "+"}${size}`;
  const fill = make("span", { class: `fill ${bits < 0 ? "against" : ""}` });
  const width = Math.min(Math.abs(bits ?? MOST), MOST) / MOST * 50;
  fill.style.width = `${width}%`;
  fill.style.left = bits < 0 ? `${50 - width}%` : "50%";
  return make("div", { class: `bar ${extra}` }, make("span", {}, name), make("span", { class: "track", "aria-hidden": "true" }, fill),
    make("span", { class: "bits" }, shown));
}

function drawUnit(unit, tokens) {
  const about = unit.token === null ? "" : `“${tokens[unit.token]}”: `;
  const lines = unit.terms.map((term) => bar(term.source === "annotator" ? `${term.name}: ${term.said}` : term.source === "rule" ? `rule ${term.name}` : NAMES[term.source] ?? term.source, term.bits));
  return [make("p", { class: "aside" }, `${about}${unit.answer} rather than ${unit.rival}, in bits (one more doubles the odds)`), ...lines,
    unit.bits === null ? null : bar("together", unit.bits, "total")];
}

/** The evidence of an item; of a sentence, that of its least sure token or of the one that is picked. */
export function drawEvidence(found, item, picked) {
  const doubtful = [...found.units].sort((a, b) => (a.bits ?? 99) - (b.bits ?? 99))[0];
  const unit = found.units.find((one) => one.token === picked) ?? doubtful;
  const isCounted = found.units.some((one) => one.terms.some((term) => term.source === "rule"));  // among the bars already
  const rules = (isCounted ? [] : found.rules).map((word) => make("p", { class: "rule" },
    `${word.token === null ? "" : `“${item.tokens[word.token]}”: `}${word.favours}, +${word.bits.toFixed(1)} bits: ${word.rule}`));
  const parts = unit ? drawUnit(unit, item.tokens) : [make("p", { class: "aside" }, "Nothing to explain here.")];
  return [...parts, ...(rules.length ? [make("p", { class: "aside" }, "What the rules say"), ...rules] : [])].filter(Boolean);
}
