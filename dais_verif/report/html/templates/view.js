// The view: search, kinds, keys, pointers, and details of the selected op.

const startView = () => {
  const source = document.getElementById("program-data");
  if (!source) return;
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(source.textContent);
  byId("view").hidden = false;
  const graph = makeGraph(data), { n } = graph, canvas = byId("picture");
  const shownKinds = data.kinds.map(() => true);
  const widest = Math.max(1, ...data.types.map(([k, i, f]) => k + i + f));
  const words = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

  // The legend of colours.
  const colourings = { kind: ["Kind", (op) => FAMILIES[graph.kindOf(op).family][0]], width: ["Width", (op) => ramp((graph.widthOf(op) - 1) / widest)] };
  if (data.bins) colourings.coverage = ["Coverage", (op) => SHARES.find(([least]) => coveredShare(graph.binsOf(op)) >= least)[1]];
  if (data.claims) colourings.proof = ["Proof", (op) => PROVED[data.claims[op]]];
  const scales = {
    kind: () => [],
    width: () => [[RAMP[0], "1 bit"], ...[1, 2, 3, 4, 5].map((at) => [RAMP[at], ""]), [RAMP[6], words(widest, "bit")]],
    coverage: () => SHARES.map(([, colour, text]) => [colour, text]),
    proof: () => Object.entries(PROVED).map(([claim, colour]) => [colour, CLAIMS[claim]]),
  };
  let colouring = "kind";
  for (const [key, [title]] of Object.entries(colourings)) byId("colouring").append(new Option(title, key));
  const picture = makePicture(graph, canvas, (op) => colourings[colouring][1](op), (op) => !shownKinds[data.kind[op]]);
  const list = makeList(graph);
  const swatch = (colour, glyph = "") => {
    const box = document.createElement("span");
    box.className = "swatch";
    box.setAttribute("aria-hidden", "true");
    box.style.background = colour;
    box.style.color = inkOn(colour);
    box.textContent = glyph;
    return box;
  };
  const drawScale = () => {
    byId("scale").replaceChildren(...scales[colouring]().map(([colour, text]) => {
      const item = document.createElement("span");
      item.append(swatch(colour), text);
      return item;
    }));
  };
  byId("colouring").addEventListener("input", (event) => { colouring = event.target.value; drawScale(); picture.redraw(); });
  drawScale();

  // The ops that are shown, and those that a search finds.
  let found = [], searched = "";
  const counts = data.kinds.map(() => 0);
  for (const kind of data.kind) counts[kind]++;
  data.kinds.forEach((kind, at) => {
    const label = document.createElement("label"), box = document.createElement("input");
    box.type = "checkbox";
    box.checked = true;
    box.addEventListener("input", () => { shownKinds[at] = box.checked; search(); });
    label.append(box, swatch(FAMILIES[kind.family][0], glyphOf(kind)), `${kind.name} ${counts[at].toLocaleString("en")}`);
    byId("kinds").append(label);
  });
  const search = () => {
    const query = byId("find").value.trim().toLowerCase(), number = /^%?(\d+)$/.exec(query);
    const kept = [];
    for (let op = 0; op < n; op++) {
      if (!shownKinds[data.kind[op]]) continue;
      if (number ? op === Number(number[1]) : !query || fits(op, query)) kept.push(op);
    }
    found = query ? kept : [];
    picture.state.found = new Set(found.slice(0, 5000));
    byId("found").textContent = query ? `${words(found.length, "op")} found` : kept.length < n ? `${words(kept.length, "op")} shown` : "";
    byId("next").disabled = byId("previous").disabled = !found.length;
    list.list(kept);
    picture.redraw();
    if (number && found.length && query !== searched) choose(found[0], true);
    searched = query;
  };
  const texts = [];
  const fits = (op, query) => {
    const text = (texts[op] ??= graph.describe(op).toLowerCase());
    return query.split(/\s+/).every((word) => text.includes(word));
  };
  const step = (way) => {
    if (!found.length) return;
    const at = found.indexOf(picture.state.selected);
    choose(found[at < 0 ? (way > 0 ? 0 : found.length - 1) : (at + way + found.length) % found.length], true);
  };
  byId("find").addEventListener("input", search);
  byId("find").addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); step(event.shiftKey ? -1 : 1); }
  });
  byId("next").addEventListener("click", () => step(1));
  byId("previous").addEventListener("click", () => step(-1));

  // The selected op.
  const choose = (op, show = false) => {
    const { state } = picture;
    if (!(op >= 0 && op < n)) { state.selected = -1; state.behind = state.ahead = new Set(); } else {
      state.selected = op;
      state.behind = graph.behind(op);
      state.ahead = graph.ahead(op);
      if (show) picture.show(op);
      say(`Op ${op}, ${graph.describe(op)}, level ${data.level[op]}`);
    }
    describe();
    // Put the op into the address bar without a new entry in the history.
    if (state.selected >= 0 && location.hash !== `#op-${op}`) history.replaceState(null, "", `#op-${op}`);
    picture.redraw();
  };
  const row = (body, title, ...content) => {
    const term = document.createElement("dt"), fact = document.createElement("dd");
    term.textContent = title;
    fact.append(...content);
    body.append(term, fact);
  };
  const links = (ops, most = 24) => {
    const parts = [];
    for (const op of ops.slice(0, most)) parts.push(parts.length ? ", " : "", link(op));
    if (ops.length > most) parts.push(` and ${(ops.length - most).toLocaleString("en")} more`);
    return parts.length ? parts : ["none"];
  };
  const expression = (text) => {
    const code = document.createElement("code");
    for (const part of text.split(/(%\d+)/)) {
      if (!/^%\d+$/.test(part)) { code.append(part); continue; }
      const a = link(Number(part.slice(1)));
      a.textContent = part;
      code.append(a);
    }
    return code;
  };
  const describe = () => {
    const { selected: op, behind, ahead } = picture.state, title = byId("details-title"), body = byId("details-body");
    byId("details").classList.toggle("chosen", op >= 0);
    if (op < 0) { title.textContent = "No op selected"; body.replaceChildren("Click an op, search for one, or use the arrow keys."); return; }
    const kind = graph.kindOf(op), type = graph.typeOf(op), [k, i, f] = type, width = k + i + f;
    title.textContent = `Op ${op}: ${kind.name}`;
    const facts = document.createElement("dl");
    row(facts, "Computes", expression(data.text[op]), ` (${kind.words})`);
    row(facts, "Type", inCode(graph.typeName(type)), ` ${k ? "signed" : "unsigned"}, ${words(width, "bit")}, ${f} of them fractional`);
    row(facts, "Range", `${real(data.low[op], f)} to ${real(data.high[op], f)}`, width ? ` (raw ${data.low[op]} to ${data.high[op]})` : "", data.declared ? ", from the intervals that the source declares" : ", from types only");
    const changes = ["its type always holds the exact result", "its type may not hold the exact result", "its type never holds the exact result"][data.changes[op]];
    row(facts, kind.promise ? "Promise" : "Quantised", kind.promise ? changes.replace("always", "is shown to") .replace("is shown to holds", "is shown to hold") : changes);
    row(facts, "Level", String(data.level[op]));
    const bins = graph.binsOf(op);
    if (bins) {
      const open = data.open[op] ?? [], items = document.createElement("ul");
      for (const text of open) { const item = document.createElement("li"); item.textContent = text; items.append(item); }
      row(facts, "Coverage", `${coverageWords(bins)} reachable bins hit${bins[2] ? `, ${bins[2]} unreachable` : ""}`, ...(open.length ? [items] : []));
    } else row(facts, "Coverage", "not measured");
    if (data.claims) row(facts, "Proof", CLAIMS[data.claims[op]]);
    row(facts, "Operands", ...links([...new Set(graph.operandsOf(op))]));
    row(facts, "Users", ...links(Array.from(graph.usersOf(op))));
    const reached = data.outputs.filter((output) => output.op !== null && (output.op === op || ahead.has(output.op)));
    row(facts, "Cone", `depends on ${words(behind.size, "op")}; ${words(ahead.size, "op")} depend${ahead.size === 1 ? "s" : ""} on it`);
    row(facts, "Outputs", reached.length ? `reaches ${words(reached.length, "output")}: ${reached.slice(0, 16).map((output) => output.output).join(", ")}${reached.length > 16 ? ", …" : ""}` : "reaches none");
    if (picture.state.blamed.has(op)) { const note = document.createElement("strong"); note.textContent = "the first op whose value diverges"; row(facts, "Mismatch", note); }
    body.replaceChildren(facts);
  };

  // Keys.
  const beside = (op, way) => {
    const ops = picture.layout.levels[data.level[op]];
    return ops[Math.min(Math.max(ops.indexOf(op) + way, 0), ops.length - 1)];
  };
  const keys = {
    "+": () => picture.zoom(1.4), "=": () => picture.zoom(1.4), "-": () => picture.zoom(1 / 1.4), 0: () => picture.fit(),
    Escape: () => choose(-1), Enter: () => byId("details-title").focus(),
    Home: () => choose(0, true), End: () => choose(n - 1, true),
    ArrowLeft: (op) => choose(graph.operandsOf(op)[0] ?? op, true), ArrowRight: (op) => choose(graph.usersOf(op)[0] ?? op, true),
    ArrowUp: (op) => choose(beside(op, -1), true), ArrowDown: (op) => choose(beside(op, 1), true),
  };
  const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !n) return;
    if (event.shiftKey && moves[event.key]) picture.move(...moves[event.key]);
    else if (event.key.startsWith("Arrow") && picture.state.selected < 0) choose(0, true);
    else if (keys[event.key]) keys[event.key](picture.state.selected);
    else return;
    event.preventDefault();
  });
  byId("zoom-in").addEventListener("click", () => picture.zoom(1.4));
  byId("zoom-out").addEventListener("click", () => picture.zoom(1 / 1.4));
  byId("fit").addEventListener("click", () => picture.fit());

  // Mouse and touch. One finger scrolls the page; two fingers pan and zoom.
  const down = new Map();
  let moved = 0;
  const middle = () => {
    const all = [...down.values()], size = all.length || 1;
    const x = all.reduce((sum, p) => sum + p.x, 0) / size, y = all.reduce((sum, p) => sum + p.y, 0) / size;
    return { x, y, spread: all.length > 1 ? Math.hypot(all[0].x - all[1].x, all[0].y - all[1].y) : 0 };
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    if (down.size === 1) moved = 0;
    canvas.classList.add("moving");
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!down.has(event.pointerId)) return;
    const before = middle();
    down.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    const after = middle();
    moved += Math.hypot(after.x - before.x, after.y - before.y);
    if (moved < 4 && down.size === 1) return;
    picture.move(after.x - before.x, after.y - before.y);
    if (before.spread && after.spread) picture.zoom(after.spread / before.spread, after.x, after.y);
  });
  const up = (event) => {
    const clicked = down.delete(event.pointerId) && event.type === "pointerup" && !down.size && moved < 4;
    if (!down.size) canvas.classList.remove("moving");
    if (!clicked) return;
    choose(picture.at(event.offsetX, event.offsetY));
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
    event.preventDefault();
    picture.zoom(2 ** (-event.deltaY / (event.deltaMode ? 12 : 240)), event.offsetX, event.offsetY);
  }, { passive: false });

  // Links to ops, within the view and from the rest of the page.
  const follow = () => {
    const wanted = /^#op-(\d+)$/.exec(location.hash);
    if (!wanted || Number(wanted[1]) >= n) return;
    choose(Number(wanted[1]), true);
    byId("program").scrollIntoView();
    byId("details-title").focus({ preventScroll: true });
  };
  addEventListener("hashchange", follow);
  document.addEventListener("click", (event) => {
    // A second click on the same link does not change the hash, but should select the op again.
    const anchor = event.target.closest?.("a[href^='#op-']");
    if (anchor && anchor.getAttribute("href") === location.hash) follow();
  });
  search();
  follow();
};
startView();
