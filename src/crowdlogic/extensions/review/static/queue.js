// Items ahead of the reviewer: fetched before they are needed, so that nobody waits for the next one.

const AHEAD = 8;
const FEW = 5;

export class Queue {
  constructor(api, reviewer) {
    this.api = api;
    this.reviewer = reviewer;
    this.filter = {};
    this.items = [];
    this.evidence = new Map();
    this.sent = new Set();
    this.current = undefined;
    this.generation = 0;
    this.filling = null;
    this.onfitting = () => {};
  }

  /** The next item; null when there is none left. */
  async next() {
    if (!this.items.length) await this.fill();
    const item = this.items.shift() ?? null;
    this.current = item?.item;  // before more are asked for, so that it is not served again
    if (this.items.length < FEW) this.fill();
    return item;
  }

  fill() {
    this.filling ??= this.fetchMore().finally(() => { this.filling = null; });
    return this.filling;
  }

  async fetchMore() {
    const generation = this.generation;
    const holding = new Set([...this.sent, ...this.items.map((one) => one.item)]);
    if (this.current !== undefined) holding.add(this.current);
    const wanted = { ...this.filter, reviewer: this.reviewer, most: AHEAD, holding: [...holding].slice(-200) };
    const answer = await this.api.get("queue", wanted);
    if (generation !== this.generation) return this.fetchMore();
    this.onfitting(answer.fitting);
    this.items.push(...answer.items);
    for (const one of answer.items.slice(0, FEW)) this.explain(one.item);
  }

  /** Ask for other items: the beliefs have changed, or the filter has. */
  async restart(filter = this.filter) {
    this.filter = filter;
    this.generation += 1;
    this.items = [];
    this.evidence.clear();
    await this.fill();
  }

  /** Why an item has its answer; asked for once. */
  explain(item) {
    if (!this.evidence.has(item)) {
      const found = this.api.get(`items/${item}/evidence`);
      found.catch(() => this.evidence.delete(item));
      this.evidence.set(item, found);
    }
    return this.evidence.get(item);
  }

  putBack(item) {
    this.items.unshift(item);
  }
}
