// Decisions on their way to the disk: sent in order, one by one, and called saved only when the server says so.

const name = () => crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;

export class Outbox {
  constructor(api) {
    this.api = api;
    this.last = Promise.resolve();
    this.waiting = 0;
    this.saved = 0;
    this.onchange = () => {};
    this.onsaved = () => {};
    this.onrefused = () => {};
  }

  /** Send a decision about an item, after those before it. */
  put(path, body, item) {
    const request = { request: name(), ...body };
    this.waiting += 1;
    this.onchange();
    this.last = this.last.then(() => this.deliver(path, request, item));
    return this.last;
  }

  async deliver(path, request, item) {
    try {
      const answer = await this.api.post(path, request);
      this.saved += 1;
      this.waiting -= 1;
      this.onsaved(answer, request, item);
      return answer;
    } catch (problem) {
      this.waiting -= 1;
      this.onrefused(problem, request, item);
      return null;
    } finally {
      this.onchange();
    }
  }
}
