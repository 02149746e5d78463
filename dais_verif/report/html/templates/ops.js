// The list of all ops, one page at a time, with the information of the picture for readers who cannot see it.

const PAGE_ROWS = 50;

const makeList = (graph) => {
  const table = document.getElementById("ops"), byId = (id) => document.getElementById(id);
  const { data } = graph;
  const columns = [
    ["Op", (op) => op, (op) => link(op)],
    ["Kind", (op) => graph.kindOf(op).name, (op) => graph.kindOf(op).name],
    ["Computes", null, (op) => inCode(data.text[op])],
    ["Type", (op) => graph.typeName(graph.typeOf(op)), (op) => inCode(graph.typeName(graph.typeOf(op)))],
    ["Width", (op) => graph.widthOf(op), (op) => graph.widthOf(op)],
    ["Level", (op) => data.level[op], (op) => data.level[op]],
    ["Users", (op) => graph.usersOf(op).length, (op) => graph.usersOf(op).length],
  ];
  if (data.bins) columns.push(["Coverage", (op) => coveredShare(graph.binsOf(op)), (op) => coverageWords(graph.binsOf(op))]);
  if (data.claims) columns.push(["Proof", (op) => data.claims[op], (op) => CLAIMS[data.claims[op]]]);
  const numeric = new Set(["Op", "Width", "Level", "Users", "Coverage"]);
  let ops = [], page = 0, order = null;

  const head = table.tHead.insertRow();
  const headers = columns.map(([title]) => {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = title;
    if (numeric.has(title)) cell.className = "number";
    head.append(cell);
    return cell;
  });
  columns.forEach(([, key], at) => {
    if (key) sortableHeader(headers[at], headers, (ascending) => { order = [key, ascending ? 1 : -1]; sort(); show(0); });
  });

  const sort = () => {
    if (!order) return;
    const [key, sign] = order;
    const keys = new Map(ops.map((op) => [op, key(op)]));
    const compare = (a, b) => { const [x, y] = [keys.get(a), keys.get(b)]; return (x < y ? -1 : x > y ? 1 : 0) * sign || a - b; };
    ops = Array.from(ops).sort(compare);
  };
  const show = (wanted) => {
    const pages = Math.max(Math.ceil(ops.length / PAGE_ROWS), 1);
    page = Math.min(Math.max(wanted, 0), pages - 1);
    const shown = ops.slice(page * PAGE_ROWS, (page + 1) * PAGE_ROWS);
    table.tBodies[0].replaceChildren(...shown.map((op) => {
      const row = document.createElement("tr");
      columns.forEach(([title, , content], at) => {
        const cell = document.createElement(at ? "td" : "th");
        if (!at) cell.scope = "row";
        if (numeric.has(title)) cell.className = "number";
        cell.append(content(op));
        row.append(cell);
      });
      return row;
    }));
    const from = page * PAGE_ROWS + 1, to = page * PAGE_ROWS + shown.length;
    byId("ops-shown").textContent = shown.length ? `Ops ${from.toLocaleString("en")} to ${to.toLocaleString("en")} of ${ops.length.toLocaleString("en")}` : "No matching op";
    byId("page-number").textContent = `page ${page + 1} of ${pages}`;
    byId("first-page").disabled = byId("page-before").disabled = page === 0;
    byId("last-page").disabled = byId("page-after").disabled = page === pages - 1;
  };
  byId("first-page").addEventListener("click", () => show(0));
  byId("page-before").addEventListener("click", () => show(page - 1));
  byId("page-after").addEventListener("click", () => show(page + 1));
  byId("last-page").addEventListener("click", () => show(Infinity));
  return { list: (wanted) => { ops = wanted; sort(); show(0); } };
};

const CLAIMS = { P: "proved", R: "refuted", U: "unknown", "-": "no claim" };
const link = (op) => { const a = document.createElement("a"); a.href = `#op-${op}`; a.textContent = `op ${op}`; return a; };
const inCode = (text) => { const code = document.createElement("code"); code.textContent = text; return code; };
const coverageWords = ([bins, hit, unreachable]) => `${hit} of ${bins - unreachable}`;
