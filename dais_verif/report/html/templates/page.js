// What every page does: lines to copy, tables to sort and to filter. All of it works on what the page already shows.
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

// Makes a header a button that sorts; `sort(ascending)` does it.
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
      body.append(...(ascending ? rows : rows.reverse()).map((pair) => pair[1]));
    });
  });
}

// A filter with a key compares with the attribute of that name, one of whose words it must be; without one it looks
// for its words in the whole row.
for (const filters of document.querySelectorAll("[data-filters]")) {
  const rows = [...document.getElementById(filters.dataset.filters).tBodies[0].rows];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const controls = [...filters.querySelectorAll("[data-key]")];
  const shown = filters.querySelector(".shown");
  const fits = (row, at, control) => {
    const wanted = control.type === "checkbox" ? (control.checked ? control.value : "") : control.value;
    if (!wanted) return true;
    if (!control.dataset.key) return wanted.toLowerCase().split(/\s+/).every((word) => texts[at].includes(word));
    const found = row.dataset[control.dataset.key] ?? "";
    return found === wanted || found.split(" ").includes(wanted);
  };
  const apply = () => {
    let count = 0;
    rows.forEach((row, at) => {
      row.hidden = !controls.every((control) => fits(row, at, control));
      count += !row.hidden;
    });
    shown.textContent = `${count.toLocaleString("en")} of ${rows.length.toLocaleString("en")} shown`;
  };
  for (const control of controls) control.addEventListener("input", apply);
  filters.querySelector("[data-clear]")?.addEventListener("click", () => {
    for (const control of controls) control.type === "checkbox" ? (control.checked = false) : (control.value = "");
    apply();
  });
  filters.hidden = false;
  apply();
}

// On paper everything is open.
const closed = [];
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details:not([open])")) { details.open = true; closed.push(details); }
});
addEventListener("afterprint", () => { while (closed.length) closed.pop().open = false; });
