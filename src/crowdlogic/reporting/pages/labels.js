// The items: cards with votes, beliefs and evidence, filtered, paged and saved. Runs inside report.js, with `pageName` and `data`.
const PAGE = 10;
const bar = (name, track, figure, className) => {
  const shown = make("span", "", isolated(name));
  shown.title = name;
  return make("li", `bar ${className || ""}`, shown, track, make("span", "", figure));
};
const part = (heading, ...content) => make("div", "part", make("h4", "", ...heading), ...content);

const beliefs = (item) => {
  const list = make("ul", "bars");
  for (const one of item.beliefs) {
    const fill = make("div", "fill");
    fill.style.width = `${100 * one.share}%`;
    list.append(bar(one.name, make("div", "track", fill), percent(one.share)));
  }
  const token = item.token === undefined ? [] : [" about ", isolated(item.sentence?.tokens[item.token] ?? `token ${item.token + 1}`)];
  return part(["Probabilities", ...token], list);
};

const votes = (item) => {
  const list = make("ul", "votes");
  const answer = item.answer ?? item.evidence?.answer ?? item.beliefs[0]?.name;
  for (const one of item.votes) {
    const same = one.label === answer;
    const chip = make("li", `vote ${same ? "same" : "other"}`, isolated(one.annotator), ": ", make("b", "", isolated(one.label)), same ? " ✓" : " ✕");
    if (one.reliability !== undefined) {
      chip.title = `right ${percent(one.reliability)} of the time`;
      chip.append(make("span", "muted", ` ${percent(Math.round(100 * one.reliability) / 100)}`));
    }
    list.append(chip);
  }
  if (item.n_votes > item.votes.length) list.append(make("li", "muted", `and ${count(item.n_votes - item.votes.length)} more`));
  return part(["Votes"], list);
};

const SOURCES = {
  prior: "how common the classes are", classifier: "the classifier", annotator: "", neighbours: "the other tokens", rule: "rule: ",
  transitions: "tag transitions", rest: "rest: mixing and doubt",
};
const GIVEN = ["prior", "classifier", "annotator", "neighbours"];
const MOST_TERMS = 12;
const evidence = (item) => {
  const why = item.evidence;
  const list = make("ul", "bars evidence");
  const largest = Math.max(1, ...[...why.terms.map((one) => one.bits), why.bits].filter((bits) => bits !== undefined).map(Math.abs));
  const line = (name, bits, className) => {
    const fill = make("div", `fill ${bits < 0 ? "against" : ""}`);
    const wide = bits === undefined ? 50 : 50 * Math.abs(bits) / largest;
    fill.style.width = `${wide}%`;
    fill.style.left = bits < 0 ? `${50 - wide}%` : "50%";
    const size = Math.abs(bits ?? 0).toFixed(1);
    const figure = bits === undefined ? "∞" : size === "0.0" ? "0.0" : `${bits < 0 ? "−" : "+"}${size}`;
    list.append(bar(name, make("div", "track", fill), figure, className));
  };
  const named = (one) => `${SOURCES[one.source] ?? ""}${one.name ?? ""}${one.said !== undefined ? `: ${one.said}` : ""}` || one.source;
  const ordered = why.terms.filter((one) => GIVEN.includes(one.source)).sort((a, b) => Math.abs(b.bits ?? 1e9) - Math.abs(a.bits ?? 1e9));
  for (const one of ordered.slice(0, MOST_TERMS)) line(named(one), one.bits);
  const rest = ordered.slice(MOST_TERMS);
  if (rest.length) line(`${rest.length} more`, rest.reduce((sum, one) => sum + (one.bits ?? 0), 0));
  for (const one of why.terms) if (!GIVEN.includes(one.source)) line(named(one), one.bits);
  line("total", why.bits, "total");
  return part(["Why ", isolated(why.answer), ", not ", isolated(why.rival)], list);
};

const kinds = new Map();
const kindClass = (kind) => {
  const type = kind.replace(/^[BIESLU]-/, "");
  if (!kinds.has(type)) kinds.set(type, kinds.size % 8 + 1);
  return `k${kinds.get(type)}`;
};
const spanned = (tokens, spans, doubted) => {
  const line = make("span");
  let at = 0;
  const plain = (place) => {
    const word = make("bdi", place === doubted ? "doubted" : "", tokens[place]);
    if (place === doubted) word.title = "the least sure token";
    return word;
  };
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    for (; at < Math.min(span.start, tokens.length); at++) line.append(plain(at), " ");
    if (at >= tokens.length) break;
    const marked = make("span", `span ${kindClass(span.kind)}`);
    for (const first = at; at < Math.min(span.end, tokens.length); at++) marked.append(at > first ? " " : "", plain(at));
    marked.append(make("small", "", isolated(span.kind)));
    line.append(marked, " ");
  }
  for (; at < tokens.length; at++) line.append(plain(at), " ");
  return line;
};
const sentence = (item) => {
  const found = item.sentence;
  const list = make("dl", "readings");
  const row = (name, spans, className, doubted) => {
    const more = className.includes("first") ? "first" : "";
    list.append(make("dt", more, name), make("dd", className, spanned(found.tokens, spans, doubted)));
  };
  row("consensus", found.consensus, "main first", item.token);
  if (found.gold) row("gold", found.gold, "");
  for (const one of found.readings) {
    const name = make("span", "", isolated(one.annotator));
    if (one.reliability !== undefined) name.append(make("span", "muted", ` ${Math.round(100 * one.reliability)}%`));
    row(name, one.spans, "");
  }
  const notes = [];
  if (found.n_tokens > found.tokens.length) notes.push(`${count(found.n_tokens - found.tokens.length)} more tokens were cut`);
  if (found.n_readings > found.readings.length) notes.push(`${count(found.n_readings - found.readings.length)} more annotators`);
  return notes.length ? make("div", "", list, make("p", "aside", notes.join("; "))) : list;
};

const card = (item) => {
  const head = make("p", "item-head", make("span", "item-name", isolated(item.name)));
  const answer = item.answer ?? item.evidence?.answer ?? item.beliefs[0]?.name;
  if (answer !== undefined && !item.sentence) head.append(make("span", "answer", isolated(answer)));
  if (item.sentence) {
    head.append(make("span", "", `${item.expected_wrong.toFixed(1)} tokens expected wrong`));
    const least = make("span", "muted", "least sure: ", isolated(item.sentence.tokens[item.token] ?? `token ${item.token + 1}`));
    if (answer !== undefined) least.append(", ", isolated(answer), item.confidence === undefined ? "" : ` ${percent(item.confidence)}`);
    head.append(least);
  } else if (item.confidence !== undefined) head.append(make("span", "muted", `${percent(item.confidence)} sure`));
  if (item.gold !== undefined) head.append(make("span", "muted", "gold: ", isolated(item.gold), item.gold === answer ? " ✓" : " ✕"));
  const made = make("li", "item", head);
  if (item.sentence) made.append(sentence(item));
  else if (item.text) {
    const text = make("p", "item-text", isolated(item.text));
    if (item.is_cut) text.append(make("span", "muted", " [cut]"));
    made.append(text);
  }
  const parts = make("div", "parts");
  if (item.beliefs.length) parts.append(beliefs(item));
  if (item.evidence) parts.append(evidence(item));
  if (item.votes.length) parts.append(votes(item));
  made.append(parts);
  return made;
};

const words = new WeakMap();
const searched = (item) => {
  if (!words.has(item)) words.set(item, [item.name, item.text ?? "", ...(item.sentence?.tokens ?? [])].join(" ").toLowerCase());
  return words.get(item);
};
const classesOf = (item) => new Set([
  item.answer ?? item.beliefs[0]?.name, ...(item.sentence ? [...item.sentence.consensus, ...item.sentence.readings.flatMap((one) => one.spans)].map((one) => one.kind) : []),
].filter((one) => one !== undefined));
const annotatorsOf = (item) => new Set([...item.votes, ...(item.sentence?.readings ?? [])].map((one) => one.annotator));

const list = byId("items"), search = byId("search"), byClass = byId("class"), byAnnotator = byId("annotator");
const confidence = byId("confidence"), which = byId("list");
let found = [], page = 0;
const everything = () => data[which?.value ?? "doubts"];
const fill = (select, names) => {
  const kept = select.value;
  while (select.options.length > 1) select.remove(1);
  for (const name of [...names].sort((a, b) => a.localeCompare(b, "en", { numeric: true }))) {
    const option = make("option", "", name.length > 60 ? `${name.slice(0, 59)}…` : name);
    option.value = name;
    select.append(option);
  }
  select.value = names.has(kept) ? kept : "";
};
const drawItems = () => {
  const start = page * PAGE;
  const here = found.slice(start, start + PAGE);
  list.replaceChildren(...(here.length ? here.map(card) : [make("li", "empty-list", everything().length ? "Nothing fits these filters." : "No item is in doubt.")]));
  list.start = start + 1;
  const filtered = found.length < everything().length ? ` that fit, out of ${count(everything().length)}` : "";
  byId("count").textContent = here.length ? `${count(start + 1)} to ${count(start + here.length)} of ${count(found.length)} items${filtered}` : `0 items${filtered}`;
  byId("before").disabled = page === 0;
  byId("next").disabled = start + PAGE >= found.length;
};
const filter = () => {
  const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const most = Number(confidence.value) / 100;
  byId("confidence-shown").textContent = most >= 1 ? "any" : `${confidence.value}%`;
  found = everything().filter((item) => wanted.every((word) => searched(item).includes(word))
    && (!byClass.value || classesOf(item).has(byClass.value))
    && (!byAnnotator.value || annotatorsOf(item).has(byAnnotator.value))
    && (most >= 1 || (item.confidence ?? 0) < most));
  page = 0;
  drawItems();
};
const options = () => {
  fill(byClass, new Set(everything().flatMap((item) => [...classesOf(item)])));
  fill(byAnnotator, new Set(everything().flatMap((item) => [...annotatorsOf(item)])));
  filter();
};
const turn = (step) => { page += step; drawItems(); byId("items-title").scrollIntoView(); };
byId("before").addEventListener("click", () => turn(-1));
byId("next").addEventListener("click", () => turn(1));
byId("filters").addEventListener("submit", (event) => event.preventDefault());
for (const input of [search, byClass, byAnnotator, confidence]) input.addEventListener("input", filter);
which?.addEventListener("input", () => {
  confidence.value = which.value === "doubts" ? confidence.dataset.check : 100; // gold is doubted by sure answers
  options();
});
byId("filters").hidden = false;
for (const hidden of all(".list-bar [hidden]")) hidden.hidden = false;
for (const button of all("[data-download]")) {
  button.addEventListener("click", () => {
    if (button.dataset.download === "json") return save("items.json", "application/json", JSON.stringify(found, null, 1));
    const rows = found.map((item) => [item.name, item.answer ?? item.evidence?.answer ?? "", item.confidence ?? "", item.expected_wrong, item.gold ?? "",
      item.votes.map((one) => `${one.annotator}=${one.label}`).join("; "), item.text || (item.sentence?.tokens ?? []).join(" ")]);
    return save("items.csv", "text/csv", csv([["item", "answer", "confidence", "expected_wrong", "gold", "votes", "text"], ...rows]));
  });
}
options();
seek.set(pageName, (about) => { search.value = about; filter(); if (!found.length) { search.value = ""; filter(); } });
