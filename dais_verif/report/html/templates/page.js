// Functions of every page: copy lines, sort and filter tables. They only use content that is already on the page.
"use strict";

const say = (text) => { document.getElementById("said").textContent = text; };

const copyText = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
};

for (const line of document.querySelectorAll(".line")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy: ${line.textContent}`);
  button.addEventListener("click", async () => {
    await copyText(line.querySelector("code").textContent);
    button.textContent = "Copied";
    say("Copied");
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  line.append(button);
}

// Turns a table header into a button that calls `sort(ascending)`.
const sortableHeader = (header, headers, sort) => {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...header.childNodes);
  header.append(button);
  button.addEventListener("click", () => {
    const ascending = header.getAttribute("aria-sort") !== "ascending";
    for (const other of headers) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    sort(ascending);
    say(`Sorted by ${button.textContent}, ${ascending ? "ascending" : "descending"}`);
  });
};

for (const table of document.querySelectorAll("table.sortable")) {
  const headers = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  headers.forEach((header, column) => {
    if (header.dataset.sort === undefined) return;
    const numeric = header.dataset.sort === "number";
    const keyOf = (row) => {
      const cell = row.cells[column];
      const text = cell.dataset.value ?? cell.textContent.trim();
      return numeric ? Number.parseFloat(text) || 0 : text;
    };
    sortableHeader(header, headers, (ascending) => {
      const compare = numeric ? (a, b) => a[0] - b[0] : (a, b) => a[0].localeCompare(b[0], "en", { numeric: true });
      const rows = [...body.rows].map((row) => [keyOf(row), row]).sort(compare);
      const sorted = document.createDocumentFragment();
      for (const [, row] of ascending ? rows : rows.reverse()) sorted.append(row);
      body.append(sorted);
      table.dispatchEvent(new Event("sorted"));
    });
  });
}

// A filter with a key must be one of the words in the row's attribute of that name. A filter without a key searches its
// words in the whole row. At most MOST_ROWS matching rows are shown, since drawing all of them may be slow.
const MOST_ROWS = 500;

for (const filters of document.querySelectorAll("[data-filters]")) {
  const table = document.getElementById(filters.dataset.filters), body = table.tBodies[0];
  const controls = [...filters.querySelectorAll("[data-key]")];
  const shown = filters.querySelector(".shown"), texts = new WeakMap();
  const textOf = (row) => {
    if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
    return texts.get(row);
  };
  const fits = (row, control) => {
    const wanted = control.type === "checkbox" ? (control.checked ? control.value : "") : control.value;
    if (!wanted) return true;
    if (!control.dataset.key) return wanted.toLowerCase().split(/\s+/).every((word) => textOf(row).includes(word));
    const found = row.dataset[control.dataset.key] ?? "";
    return found === wanted || found.split(" ").includes(wanted);
  };
  const more = document.createElement("button");
  more.type = "button";
  filters.append(more);
  let most = MOST_ROWS;
  const apply = () => {
    let fitting = 0;
    for (const row of body.rows) {
      const fit = controls.every((control) => fits(row, control));
      fitting += fit;
      row.hidden = !fit || fitting > most;
    }
    const number = (count) => count.toLocaleString("en");
    const all = `${number(fitting)} of ${number(body.rows.length)}`;
    shown.textContent = fitting > most ? `the first ${number(most)} of ${number(fitting)} matches` : `${all} shown`;
    more.hidden = fitting <= most;
    more.textContent = `Show all ${number(fitting)}`;
  };
  more.addEventListener("click", () => { most = Infinity; apply(); });
  table.addEventListener("sorted", apply);
  for (const control of controls) control.addEventListener("input", apply);
  filters.querySelector("[data-clear]")?.addEventListener("click", () => {
    for (const control of controls) control.type === "checkbox" ? (control.checked = false) : (control.value = "");
    apply();
  });
  filters.hidden = false;
  apply();
}

// For printing, open all sections except lists of files.
const closed = [];
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details:not([open], .screen)")) { details.open = true; closed.push(details); }
});
addEventListener("afterprint", () => { while (closed.length) closed.pop().open = false; });
