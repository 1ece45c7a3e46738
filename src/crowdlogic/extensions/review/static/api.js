// The server's endpoints. Every request brings the token; a server that does not answer is asked again.

export class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

const RETRIES = [250, 500, 1000, 2000, 4000, 4000, 4000];
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

export class Api {
  constructor(token) {
    this.token = token;
    this.onwaiting = () => {};
  }

  get(path, parameters = {}) {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters)) {
      for (const one of Array.isArray(value) ? value : [value]) {
        if (one !== null && one !== undefined && one !== "") query.append(name, one);
      }
    }
    return this.ask(`/api/${path}${query.size ? `?${query}` : ""}`, {});
  }

  post(path, body = {}) {
    const headers = { "Content-Type": "application/json" };
    return this.ask(`/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  }

  /** The answer as data. A request may be sent again: those that change something have a name of their own. */
  async ask(address, options) {
    const response = await this.send(address, options);
    const answer = await response.json();
    if (!response.ok) throw new Refused(response.status, answer.detail ?? response.statusText);
    return answer;
  }

  async send(address, options) {
    const headers = { ...options.headers };
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    for (const wait of [...RETRIES, null]) {
      try {
        const response = await fetch(address, { ...options, headers });
        if (response.status < 500 || response.status === 507 || wait === null) {
          this.onwaiting(false);
          return response;
        }
      } catch (problem) {
        if (wait === null) throw new Refused(0, "The server does not answer. Is it still running?");
      }
      this.onwaiting(true);
      await pause(wait);
    }
  }

  /** A file of the export, saved by the browser. */
  async download(name) {
    const response = await this.send(`/api/exports/${encodeURIComponent(name)}`, {});
    if (!response.ok) throw new Refused(response.status, (await response.json()).detail);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await response.blob());
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  }
}
