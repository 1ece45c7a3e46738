// Who reviews, and the token: from the address, from the browser's memory, or asked for.

import { Api } from "./api.js";
import { byId, tell } from "./dom.js";

const remember = (name, value) => { try { localStorage.setItem(`crowdlogic-${name}`, value); } catch { /* no storage */ } };
const recall = (name) => { try { return localStorage.getItem(`crowdlogic-${name}`) ?? ""; } catch { return ""; } };
const keep = (token) => { try { sessionStorage.setItem("crowdlogic-token", token); } catch { /* no storage */ } };
const kept = () => { try { return sessionStorage.getItem("crowdlogic-token") ?? ""; } catch { return ""; } };

/** The token and the reviewer, once the server accepts them; and what the review is about. */
export async function login() {
  const given = new URLSearchParams(location.hash.slice(1));
  const token = given.get("token") ?? kept();
  const reviewer = given.get("reviewer") ?? recall("reviewer");
  byId("reviewer").addEventListener("click", () => { remember("reviewer", ""); location.hash = ""; keep(token); location.reload(); });
  const facts = await tryToken(token);
  if (facts && reviewer) return accept(token, reviewer, facts);
  return askFor(token, reviewer, facts);
}

async function tryToken(token) {
  try {
    return await new Api(token).get("session");
  } catch (problem) {
    if (problem.status !== 401) throw problem;
    return null;
  }
}

function accept(token, reviewer, facts) {
  remember("reviewer", reviewer);
  keep(token);
  return { token, reviewer, facts };
}

function askFor(token, reviewer, facts) {
  byId("login-name").value = reviewer;
  byId("login-secret-box").hidden = Boolean(facts);
  byId("login").showModal();
  byId("login").addEventListener("cancel", (event) => event.preventDefault());
  document.documentElement.dataset.ready = "true";
  return new Promise((done) => {
    byId("login-form").addEventListener("submit", async (event) => {
      event.preventDefault();
      const secret = facts ? token : byId("login-secret").value;
      const found = facts ?? await tryToken(secret);
      const name = byId("login-name").value.trim();
      tell(byId("login-problem"), found ? "" : "The server does not accept this.");
      if (!found || !name) return;
      byId("login").close();
      done(accept(secret, name, found));
    });
  });
}

/** Light or dark: as the system has it, or as the reviewer last chose. */
export function rememberTheme() {
  const root = document.documentElement;
  if (["dark", "light"].includes(recall("theme"))) root.dataset.theme = recall("theme");
  const isDark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const label = () => { byId("theme").textContent = isDark() ? "Light" : "Dark"; };
  byId("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember("theme", root.dataset.theme);
    label();
  });
  label();
}
