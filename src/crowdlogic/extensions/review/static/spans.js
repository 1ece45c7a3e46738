// The spans of a sentence: shown, and changed by mouse or keyboard.

import { make } from "./dom.js";

const COLOURS = 5;

/** The tokens of a sentence with spans marked; each token tells where it is. */
export function drawSentence(tokens, spans, types, { picked = null, onpick = null } = {}) {
  const words = tokens.map((token, place) => {
    const span = spans.find((one) => one.start <= place && place < one.end);
    const classes = ["token"];
    if (span) {
      classes.push("in", `k${types.indexOf(span.type) % COLOURS}`);
      if (span.start === place) classes.push("first");
      if (span.end === place + 1) classes.push("last");
    }
    if (picked && picked.start <= place && place < picked.end) classes.push("picked");
    const label = span && span.start === place ? make("span", { class: "type" }, span.type) : null;
    const spoken = span ? `${token}, ${span.type}` : token;
    return make("span", {
      class: classes.join(" "), "data-place": place, role: onpick ? "option" : null, "aria-label": onpick ? spoken : null,
      "aria-selected": onpick ? String(classes.includes("picked")) : null,
    }, token, label);
  });
  const sentence = make("div", {
    class: "sentence", role: onpick ? "listbox" : null, "aria-multiselectable": onpick ? "true" : null,
    "aria-label": onpick ? "The sentence: arrows move, Shift and arrows select, a number gives a type, Delete removes" : null,
  });
  const goesOn = (place) => spans.some((one) => one.start <= place && place + 1 < one.end);
  words.forEach((word, place) => sentence.append(word, ...(goesOn(place) ? [] : [" "])));
  return sentence;
}

/** What a reviewer makes of the spans of one sentence. */
export class SpanEditor {
  constructor(item, types, everyTokenHasOne, onchange) {
    const decided = item.decisions.find((one) => one.kind === "decide");
    this.tokens = item.tokens;
    this.spans = (decided ?? item).spans.map(({ start, end, type }) => ({ start, end, type }));
    this.types = types;
    this.everyTokenHasOne = everyTokenHasOne;
    this.onchange = onchange;
    this.anchor = this.focus = item.doubtful ?? 0;
  }

  get picked() {
    return { start: Math.min(this.anchor, this.focus), end: Math.max(this.anchor, this.focus) + 1 };
  }

  draw() {
    const sentence = drawSentence(this.tokens, this.spans, this.types, { picked: this.picked, onpick: true });
    sentence.addEventListener("pointerdown", (event) => this.pick(event, event.shiftKey));
    sentence.addEventListener("pointerover", (event) => { if (event.buttons === 1) this.pick(event, true); });
    return sentence;
  }

  pick(event, extend) {
    const token = event.target.closest("[data-place]");
    if (!token) return;
    event.preventDefault();
    this.move(Number(token.dataset.place), extend);
  }

  move(place, extend) {
    this.focus = Math.max(0, Math.min(place, this.tokens.length - 1));
    if (!extend) this.anchor = this.focus;
    this.onchange();
  }

  /** The picked tokens become a span of this type; what it overlaps gives way. */
  mark(type) {
    const { start, end } = this.picked;
    if (this.everyTokenHasOne) {
      for (const span of this.spans) if (start <= span.start && span.end <= end) span.type = type;
    } else {
      const here = this.spans.find((span) => start === end - 1 && span.start <= start && start < span.end);
      const wanted = here ? { start: here.start, end: here.end, type } : { start, end, type };
      this.clear(wanted);
      this.spans.push(wanted);
      this.spans.sort((a, b) => a.start - b.start);
    }
    this.onchange();
  }

  /** Remove the spans that touch the picked tokens. */
  remove() {
    if (this.everyTokenHasOne) return;
    this.clear(this.picked);
    this.onchange();
  }

  clear({ start, end }) {
    this.spans = this.spans.filter((span) => span.end <= start || end <= span.start);
  }

  /** Move an end of the span under the cursor by one token. */
  stretch(end, step) {
    const span = this.spans.find((one) => one.start <= this.focus && this.focus < one.end);
    if (!span || this.everyTokenHasOne) return;
    const moved = { ...span, [end]: span[end] + step };
    if (moved.start < 0 || moved.end > this.tokens.length || moved.start >= moved.end) return;
    if (this.spans.some((one) => one !== span && moved.start < one.end && one.start < moved.end)) return;
    Object.assign(span, moved);
    this.onchange();
  }

  /** Keys that work in a sentence; whether this was one of them. */
  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step && event.altKey) this.stretch("end", step);
    else if (step) this.move(this.focus + step, event.shiftKey);
    else if (event.key === "Delete" || event.key === "Backspace") this.remove();
    else return false;
    return true;
  }
}
