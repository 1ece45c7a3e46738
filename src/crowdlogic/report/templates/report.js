"use strict";
(() => {
  // Data only ever becomes text: elements are made by name, and strings are set as text.
  const byId = (id) => document.getElementById(id);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const make = (name, className, ...children) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    for (const child of children) if (child !== null && child !== undefined) made.append(child);
    return made;
  };
  const isolated = (words) => make("bdi", "", String(words));
  const percent = (share) => `${(100 * share).toFixed(share > 0.995 && share < 1 ? 2 : 1).replace(/\.0+$/, "")}%`;
  const count = (number) => number.toLocaleString("en");

  // --- the colour scheme ---------------------------------------------------------------------------------------------
  const root = document.documentElement;
  const themeButton = byId("theme");
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches);
  const nameTheme = () => { themeButton.textContent = isDark() ? "☀ Light" : "☾ Dark"; };
  themeButton.hidden = false;
  nameTheme();
  prefersDark.addEventListener("change", nameTheme);
  themeButton.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
    try { localStorage.setItem("crowdlogic-theme", root.dataset.theme); } catch { /* no storage: it is not remembered */ }
  });

  // --- pages ---------------------------------------------------------------------------------------------------------
  const tabs = all("[role=tab]");
  const show = (name) => {
    const wanted = tabs.find((tab) => tab.getAttribute("aria-controls") === name) || tabs[0];
    for (const tab of tabs) {
      tab.setAttribute("aria-selected", String(tab === wanted));
      tab.tabIndex = tab === wanted ? 0 : -1;
      byId(tab.getAttribute("aria-controls")).hidden = tab !== wanted;
    }
    wanted.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  const go = (name) => {
    show(name);
    try { history.replaceState(null, "", `#${name}`); } catch { /* the page still turns */ }
    window.scrollTo({ top: 0, behavior: "instant" });
  };
  tabs.forEach((tab, place) => {
    tab.addEventListener("click", () => go(tab.getAttribute("aria-controls")));
    tab.addEventListener("keydown", (event) => {
      const next = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: tabs.length - 1 }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      const other = tabs[(next + tabs.length) % tabs.length];
      go(other.getAttribute("aria-controls"));
      other.focus();
    });
  });
  window.addEventListener("hashchange", () => show(location.hash.slice(1)));
  show(location.hash.slice(1));

  // --- downloads -----------------------------------------------------------------------------------------------------
  const save = (name, type, text) => {
    const link = make("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  // A cell that a spreadsheet would take for a formula is kept as text by a leading quote.
  const cell = (value) => {
    const text = String(value ?? "");
    const plain = /^[=+@\t\r]|^-(?![\d.])/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
  };
  const csv = (rows) => rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";

  // --- tables: sorted by the buttons in their heads, searched, paged and saved ----------------------------------------
  const AT_ONCE = 25;
  const tools = new Map();
  for (const table of all("table.data")) {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => ({ row, words: row.textContent.toLowerCase() }));
    let kept = rows, open = AT_ONCE;
    const bar = make("div", "table-tools");
    const status = make("span");
    status.setAttribute("role", "status");
    const more = make("button", "quiet-button more", "Show more");
    more.type = "button";
    const draw = () => {
      body.replaceChildren(...kept.slice(0, open).map((one) => one.row));
      more.hidden = kept.length <= open;
      status.textContent = `${count(Math.min(open, kept.length))} of ${count(rows.length)}`;
    };
    more.addEventListener("click", () => { open += 100; draw(); });
    const value = (one, column) => {
      const found = one.row.cells[column];
      if (found.dataset.value === undefined) return found.textContent.trim().toLowerCase();
      return found.dataset.value === "" ? null : Number(found.dataset.value);
    };
    const heads = all("th", table.tHead);
    heads.forEach((head, column) => head.querySelector("button")?.addEventListener("click", () => {
      const first = head.classList.contains("number") ? "descending" : "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const order = head.getAttribute("aria-sort") === first ? other : first;
      heads.forEach((one) => one.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const compare = (a, b) => {
        const x = value(a, column), y = value(b, column);
        if (x === null || y === null) return (x === null) - (y === null);
        return sign * (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y)));
      };
      rows.sort(compare);
      kept = [...kept].sort(compare);
      draw();
    }));
    if (table.dataset.search) {
      const input = make("input");
      input.type = "search";
      input.placeholder = table.dataset.search;
      input.setAttribute("aria-label", table.dataset.search);
      const find = () => {
        const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
        kept = rows.filter((one) => words.every((word) => one.words.includes(word)));
        open = AT_ONCE;
        draw();
      };
      input.addEventListener("input", find);
      bar.append(input);
      tools.set(table.dataset.name, { input, find });
    }
    const button = make("button", "", "csv");
    button.type = "button";
    button.addEventListener("click", () => {
      const head = heads.map((one) => one.textContent.trim());
      const lines = rows.map((one) => [...one.row.cells].map((found) => found.dataset.value ?? found.textContent.trim().replace(/\s+/g, " ")));
      save(`${table.dataset.name}.csv`, "text/csv", csv([head, ...lines]));
    });
    if (rows.length > AT_ONCE || table.dataset.search) bar.append(status);
    bar.append(make("div", "downloads", button));
    table.parentElement.before(bar);
    table.parentElement.after(more);
    draw();
  }
  for (const list of all("ul[data-most], ol[data-most]")) {
    const hidden = [...list.children].slice(Number(list.dataset.most));
    if (!hidden.length) continue;
    const more = make("button", "quiet-button more", `Show ${hidden.length} more`);
    more.type = "button";
    hidden.forEach((one) => { one.hidden = true; });
    more.addEventListener("click", () => { hidden.forEach((one) => { one.hidden = false; }); more.remove(); });
    list.after(more);
  }

  // --- items ---------------------------------------------------------------------------------------------------------
  const data = JSON.parse(byId("data").textContent);
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
    return part(["What to believe", ...token], list);
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
    return part([`Votes, and how often each annotator is right`], list);
  };

  const SOURCES = { classifier: "the classifier", annotator: "", rule: "rule: ", transitions: "tag transitions", rest: "all at once" };
  const MOST_TERMS = 12;
  const evidence = (item) => {
    const why = item.evidence;
    const list = make("ul", "bars evidence");
    const terms = [...why.crowd, ...why.rules];
    const largest = Math.max(1, ...[...terms.map((one) => one.bits), why.bits, why.crowd_bits].filter((bits) => bits !== undefined).map(Math.abs));
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
    const ordered = [...why.crowd].sort((a, b) => Math.abs(b.bits ?? 1e9) - Math.abs(a.bits ?? 1e9));
    for (const one of ordered.slice(0, MOST_TERMS)) line(named(one), one.bits);
    const rest = ordered.slice(MOST_TERMS);
    if (rest.length) line(`${rest.length} more`, rest.reduce((sum, one) => sum + (one.bits ?? 0), 0));
    for (const one of why.rules) line(named(one), one.bits);
    line("all together", why.bits, "total");
    return part(["Why ", isolated(why.answer), " rather than ", isolated(why.rival), ", in bits: each doubles the odds"], list);
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
    byId("confidence-shown").textContent = `${confidence.value}%`;
    found = everything().filter((item) => wanted.every((word) => searched(item).includes(word))
      && (!byClass.value || classesOf(item).has(byClass.value))
      && (!byAnnotator.value || annotatorsOf(item).has(byAnnotator.value))
      && (most >= 1 || (item.confidence ?? 0) <= most));
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
  which?.addEventListener("input", options);
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

  // --- from a finding to what it is about ----------------------------------------------------------------------------
  for (const link of all("[data-go]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const { go: name, about } = link.dataset;
      go(name);
      byId(`tab-${name}`).focus({ preventScroll: true });
      if (!about) return;
      if (name === "labels") { search.value = about; filter(); if (!found.length) { search.value = ""; filter(); } }
      const table = tools.get(name);
      if (table) { table.input.value = about; table.find(); table.input.scrollIntoView({ block: "center" }); }
    });
  }
  root.dataset.ready = "true";
})();
