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
  // Ids and texts are written unchanged, so that the file joins with the data that they came from.
  const cell = (value) => {
    const text = String(value ?? "");
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csv = (rows) => rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";

  // --- tables: sorted by the buttons in their heads, searched, paged and saved ----------------------------------------
  const AT_ONCE = 25;
  const seek = new Map(); // page -> a function that shows what a finding is about
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
      seek.set(table.dataset.name, (about) => { input.value = about; find(); input.scrollIntoView({ block: "center" }); });
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

  const everyData = JSON.parse(byId("data").textContent);
  /* the scripts of the pages */

  // --- from a finding to what it is about ----------------------------------------------------------------------------
  for (const link of all("[data-go]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const { go: name, about } = link.dataset;
      go(name);
      byId(`tab-${name}`).focus({ preventScroll: true });
      if (about) seek.get(name)?.(about);
    });
  }
  root.dataset.ready = "true";
})();
