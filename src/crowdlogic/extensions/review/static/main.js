// The page: one item at a time, decided by key or button, while the next ones are fetched and the last ones saved.

import { Api } from "./api.js";
import { byId, count, make, percent, show, tell } from "./dom.js";
import { drawEvidence } from "./evidence.js";
import { describe, drawItem, makeEditor } from "./item.js";
import { login, rememberTheme } from "./login.js";
import { Outbox } from "./outbox.js";
import { addRecent, drawAnnotators, drawExports, drawKeys, drawProgress, drawRefit, fillChoices, readFilter } from "./panels.js";
import { Queue } from "./queue.js";
import { drawSuggestions } from "./rules.js";

const POLL = 1500;

class Review {
  constructor(api, reviewer, facts) {
    this.api = api;
    this.reviewer = reviewer;
    this.facts = facts;
    this.queue = new Queue(api, reviewer);
    this.outbox = new Outbox(api);
    this.item = this.editor = null;
    this.settle = { value: false };
    this.shownAt = 0;
    this.fits = 0;
    this.outbox.onchange = () => this.tellSaved();
    this.outbox.onsaved = (answer, request, item) => this.onSaved(answer, request, item);
    this.outbox.onrefused = (problem, request, item) => this.onRefused(problem, request, item);
    this.queue.onfitting = (fitting) => { byId("fitting").textContent = `(${count(fitting, "item")})`; };
    api.onwaiting = (is) => tell(byId("problem"), is ? "The server does not answer; trying again. Nothing that was saved is lost." : "");
  }

  async next() {
    this.open(await this.queue.next());
  }

  /** Show an item; null when the queue is empty. */
  open(item) {
    this.item = item;
    this.queue.current = item?.item;
    this.settle.value = false;
    this.editor = item && makeEditor(item, this.facts, () => this.draw());
    this.shownAt = performance.now();
    this.draw();
    document.documentElement.dataset.ready = "true";
  }

  draw() {
    if (!this.item) {
      show(byId("item"), make("div", { class: "card" }, make("p", {}, "Nothing left here. Change the filter, or export what you have.")));
      show(byId("answers"));
      show(byId("evidence"));
      return;
    }
    show(byId("item"), drawItem(this.item, this.facts, this));
    this.drawAnswers();
    this.drawWhy(this.item, this.editor?.focus);
  }

  drawAnswers() {
    const shares = new Map(this.item.shares.map((one) => [one.name, one.share]));
    const mine = this.item.decisions.find((one) => one.reviewer === this.reviewer);
    const buttons = this.facts.types.map((type, place) => make("button", {
      type: "button", "data-type": type, onclick: () => this.answer(type),
      class: `${type === this.item.answer ? "believed" : ""} ${mine?.answer === type ? "chosen" : ""}`,
    }, place < 9 ? make("kbd", {}, place + 1) : null, type, shares.has(type) ? make("span", { class: "share" }, percent(shares.get(type))) : null));
    if (this.editor) buttons.push(make("button", { type: "button", id: "save", class: "believed", onclick: () => this.save() }, make("kbd", {}, "Enter"), "Save the sentence"));
    show(byId("answers"), ...buttons);
  }

  async drawWhy(item, picked) {
    try {
      const found = await this.queue.explain(item.item);
      if (this.item === item) show(byId("evidence"), ...drawEvidence(found, item, picked));
    } catch (problem) {
      if (this.item === item) show(byId("evidence"), make("p", { class: "aside" }, problem.message));
    }
  }

  /** A class was chosen: the answer of a document, or the type of the picked tokens. */
  answer(type) {
    if (!this.item) return;
    if (this.editor) this.editor.mark(type);
    else this.decide({ kind: "decide", answer: type });
  }

  save() {
    if (this.editor) this.decide({ kind: "decide", spans: this.editor.spans });
    else if (this.item && this.item.answer !== null) this.decide({ kind: "decide", answer: this.item.answer });
  }

  /** Send a decision about the item, and go on with the next one at once. */
  decide(given) {
    if (!this.item) return;
    const { item, revision, chosen } = this.item;
    const body = {
      ...given, item, revision, chosen, reviewer: this.reviewer, settles: this.settle.value && given.kind !== "skip",
      seconds: Math.round(performance.now() - this.shownAt) / 1000, cause: byId("cause").value || null, note: byId("note").value,
    };
    byId("cause").value = byId("note").value = "";
    this.queue.sent.add(item);
    this.outbox.put("decisions", body, this.item);
    this.next();
  }

  async undo() {
    const answer = await this.outbox.put("undo", { reviewer: this.reviewer }, this.item);
    if (!answer) return;
    this.queue.sent.delete(answer.item.item);
    if (this.item) this.queue.putBack(this.item);
    this.open(answer.item);
  }

  onSaved(answer, request, item) {
    drawProgress(answer.progress);
    this.noticeRefit(answer.progress);
    if (!request.kind) return;
    this.queue.sent.delete(item.item);
    const mine = answer.item.decisions.find((one) => one.reviewer === this.reviewer);
    addRecent(`${answer.item.name}: ${mine ? describe(mine) : request.kind}`, () => this.openNumber(item.item));
    if (answer.item.in_conflict) this.tellConflict(answer.item);
  }

  tellConflict(item) {
    const others = item.decisions.filter((one) => one.reviewer !== this.reviewer).map((one) => `${one.reviewer}: ${describe(one)}`);
    this.notify(`Conflict about ${item.name}: ${others.join("; ")}. Both decisions are kept. `, "Look at it", () => this.openNumber(item.item));
  }

  /** Say something that stays until the reviewer has seen it. */
  notify(sentence, name, act = () => {}) {
    const done = () => { byId("notice").hidden = true; act(); };
    show(byId("notice"), sentence, make("button", { type: "button", class: "quiet", onclick: done }, name));
    byId("notice").hidden = false;
  }

  onRefused(problem, request, item) {
    this.notify(`Not saved: ${problem.message} `, "Close");
    if (!request.kind) return;
    this.queue.sent.delete(item.item);
    this.queue.putBack(item);
  }

  tellSaved() {
    const { saved, waiting } = this.outbox;
    byId("saved").textContent = waiting ? `saving ${waiting}…` : saved ? `saved ${saved}` : "";
  }

  async openNumber(item) {
    if (this.item) this.queue.putBack(this.item);
    this.queue.evidence.delete(item);
    this.open(await this.api.get(`items/${item}`));
  }

  /** After a refit, reload the queue and the standings of the annotators. */
  noticeRefit(progress) {
    if (progress.counts.fits === this.fits) return;
    const isFirst = this.fits === null;
    this.fits = progress.counts.fits;
    drawRefit(progress.last);
    if (isFirst) return;
    this.queue.restart();
    this.api.get("annotators").then(drawAnnotators);
  }

  async poll() {
    if (!document.hidden) {
      try {
        const progress = await this.api.get("progress");
        drawProgress(progress);
        this.noticeRefit(progress);
      } catch (problem) {
        tell(byId("problem"), problem.message);
      }
    }
    setTimeout(() => this.poll(), POLL);
  }

  async filter() {
    await this.queue.restart(readFilter());
    await this.next();
  }

  async export() {
    byId("export").disabled = true;
    try {
      drawExports(await this.api.post("exports"), (name) => this.api.download(name));
    } catch (problem) {
      tell(byId("problem"), problem.message);
    }
    byId("export").disabled = false;
  }

  /** Keys, unless somebody is writing. */
  key(event) {
    if (event.ctrlKey || event.metaKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest("input:not([type=checkbox]), select, textarea")) {
      if (event.key === "Escape" || (event.key === "Enter" && event.target.id === "note")) event.target.blur();
      return;
    }
    if (event.key === "Enter" && event.target.closest("button, summary, a")) return;
    if (this.keyIsOurs(event)) event.preventDefault();
  }

  keyIsOurs(event) {
    if (this.editor?.key(event)) return true;
    const type = /^[1-9]$/.test(event.key) ? this.facts.types[Number(event.key) - 1] : undefined;
    const moves = {
      u: () => this.undo(), s: () => this.decide({ kind: "skip" }), c: () => this.decide({ kind: "cannot-say" }), Enter: () => this.save(),
      n: () => byId("note").focus(), "/": () => { byId("finding").open = true; byId("search").focus(); }, "?": () => byId("help").showModal(),
    };
    const move = type !== undefined ? () => this.answer(type) : moves[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    move?.();
    return Boolean(move);
  }

  listen() {
    document.addEventListener("keydown", (event) => this.key(event));
    const clicks = {
      undo: () => this.undo(), skip: () => this.decide({ kind: "skip" }), "cannot-say": () => this.decide({ kind: "cannot-say" }),
      export: () => this.export(), "help-button": () => byId("help").showModal(),
      refit: () => this.refit(), retrain: () => this.refit({ epochs: 3 }),
      clear: () => { byId("filters").reset(); this.filter(); },
    };
    for (const [id, act] of Object.entries(clicks)) byId(id).addEventListener("click", act);
    let pending;
    byId("filters").addEventListener("input", () => { clearTimeout(pending); pending = setTimeout(() => this.filter(), 200); });
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
  }

  /** Fit again with every decision made so far: those on their way arrive first. */
  async refit(body) {
    await this.outbox.last;
    drawProgress(await this.api.post("refits", body));
  }

  async begin() {
    document.title = `Review of ${this.facts.title}`;
    byId("title").textContent = this.facts.title;
    byId("reviewer").textContent = this.reviewer;
    byId("retrain").hidden = !this.facts.has_classifier;
    drawKeys(this.facts);
    const people = await this.api.get("annotators");
    drawAnnotators(people);
    fillChoices(this.facts, people);
    if (this.facts.suggestions) await drawSuggestions(this.api);
    const progress = await this.api.get("progress");
    drawProgress(progress);
    drawRefit(progress.last);
    this.fits = progress.counts.fits;
    this.listen();
    await this.next();
    setTimeout(() => this.poll(), POLL);
  }
}

rememberTheme();
login().then(({ token, reviewer, facts }) => new Review(new Api(token), reviewer, facts).begin())
  .catch((problem) => tell(byId("problem"), problem.message));
