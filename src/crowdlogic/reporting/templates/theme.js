"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    const kept = localStorage.getItem("crowdlogic-theme");
    if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  } catch { /* a page opened from a file may have no storage */ }
})();
