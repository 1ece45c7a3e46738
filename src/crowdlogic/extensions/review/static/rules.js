// Suggested rules: accept, edit or reject each. Accepted ones are in accepted.rules in the folder of the review.

import { byId, make, show, tell } from "./dom.js";

const NAMES = { accepted: "accepted", rejected: "rejected", open: "not decided" };

function drawRule(rule, decide) {
  const text = make("textarea", { rows: "2", maxlength: "2000", "aria-label": "Rule", spellcheck: "false" }, rule.rule);
  const problem = make("p", { class: "bad", role: "alert", hidden: true });
  const send = (state) => decide(rule.number, state, text.value).catch((refused) => tell(problem, refused.message));
  const button = (state, name) => make("button", {
    type: "button", class: rule.state === state ? "chosen" : "", "aria-pressed": String(rule.state === state),
    onclick: () => send(rule.state === state ? "open" : state),
  }, name);
  const [figures, ...examples] = rule.comments;
  text.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); send("accepted"); } });
  return make("li", { class: `suggested ${rule.state}` },
    text, figures ? make("p", { class: "aside" }, figures) : null,
    examples.length ? make("details", {}, make("summary", {}, "Examples"), ...examples.map((line) => make("p", { class: "aside" }, line))) : null,
    make("div", { class: "moves" }, button("accepted", "Accept"), button("rejected", "Reject"), make("span", { class: "muted" }, NAMES[rule.state])),
    problem);
}

/** Fetch and show the suggested rules; the panel stays hidden if there are none. */
export async function drawSuggestions(api) {
  let rules = await api.get("suggestions");
  byId("suggested-box").hidden = !rules.length;
  const decide = async (number, state, rule) => {
    const changed = await api.post("suggestions", { number, state, rule });
    rules = rules.map((one) => (one.number === number ? changed : one));
    draw();
  };
  const draw = () => {
    const accepted = rules.filter((one) => one.state === "accepted").length;
    byId("suggested-count").textContent = `(${accepted} of ${rules.length} accepted)`;
    show(byId("suggested"), make("ul", { class: "rules" }, ...rules.map((one) => drawRule(one, decide))));
  };
  draw();
}
