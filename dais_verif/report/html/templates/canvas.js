// The picture: levels are blocks of columns from left to right, ops are boxes. A canvas can draw any number of ops.

const CELL = 96, ROW = 26, BOX = 78, TALL = 20, GAP = 56;

// Okabe and Ito's colours, which also colour-blind readers can distinguish; a glyph carries the same information.
const FAMILIES = {
  input: ["#56b4e9", "in"], const: ["#b9b9b9", "c"], sum: ["#0072b2", "+"], relu: ["#009e73", "max"],
  quant: ["#f0e442", "q"], mux: ["#e69f00", "?:"], mul: ["#d55e00", "×"], lookup: ["#cc79a7", "[ ]"], bits: ["#4d4d4d", "&"],
};
const GLYPHS = { sub: "−", add_const: "+c", sum: "Σ", add_term: "+c", neg: "−x", quant_shift: "q«", bit_unary: "~", bit_unary_neg: "~" };
// A sequential scale from dark to light, so that it also works in greyscale.
const RAMP = ["#35105c", "#3b3f8c", "#2c6d8e", "#1f988b", "#4fc06a", "#b5de2b", "#fde725"];
// Muted colours for good states, strong ones for bad states.
const SHARES = [
  [1, "#0072b2", "every reachable bin hit"], [0.9, "#f0e442", "90 % or more"], [0.5, "#e69f00", "half or more"],
  [0, "#d55e00", "less than half"],
];
const PROVED = { P: "#0072b2", R: "#d55e00", U: "#f0e442", "-": "#b9b9b9" };
const glyphOf = (kind) => GLYPHS[kind.name] ?? FAMILIES[kind.family][1];
const inkOn = (colour) => {
  const [r, g, b] = [1, 3, 5].map((at) => (Number.parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000000" : "#ffffff";
};
const ramp = (share) => RAMP[Math.min(Math.floor(share * RAMP.length), RAMP.length - 1)];

// The position of each op. A level has as many columns as the aspect ratio of the screen needs; within a level, ops are
// placed near the height of their operands, which keeps lines short.
const layOut = (graph, aspect) => {
  const { n, data: { level } } = graph;
  const levels = [];
  for (let op = 0; op < n; op++) (levels[level[op]] ??= []).push(op);
  const columnsFor = (rows) => levels.reduce((sum, ops) => sum + Math.ceil(ops.length / rows), 0);
  let least = 1, most = Math.max(1, ...levels.map((ops) => ops.length));
  while (least < most) {
    const rows = (least + most) >> 1;
    if ((columnsFor(rows) * CELL + levels.length * GAP) / (rows * ROW) > aspect) least = rows + 1;
    else most = rows;
  }
  const rows = least, x = new Float64Array(n), y = new Float64Array(n), place = new Float64Array(n);
  const columns = [], blocks = [];
  let left = 0;
  levels.forEach((ops, at) => {
    for (const op of ops) {
      const list = graph.operandsOf(op);
      place[op] = list.length ? list.reduce((sum, operand) => sum + place[operand], 0) / list.length : 0;
    }
    ops.sort((a, b) => place[a] - place[b] || a - b);
    ops.forEach((op, order) => { place[op] = (order + 0.5) / ops.length; });
    const block = { level: at, left, ops };
    for (let start = 0; start < ops.length; start += rows) {
      const column = ops.slice(start, start + rows);
      const top = ((rows - column.length) * ROW) / 2;
      column.forEach((op, row) => { x[op] = left; y[op] = top + row * ROW; });
      columns.push({ left, top, ops: column });
      left += CELL;
    }
    block.right = left - (CELL - BOX);
    blocks.push(block);
    left += GAP;
  });
  return { x, y, columns, blocks, width: Math.max(left - GAP - (CELL - BOX), 1), height: rows * ROW, levels };
};

const makePicture = (graph, canvas, colourOf, isDimmed) => {
  const pen = canvas.getContext("2d");
  const layout = layOut(graph, 2);
  const camera = { x: 0, y: 0, scale: 1 };
  const state = { selected: -1, behind: new Set(), ahead: new Set(), found: new Set(), blamed: new Set(graph.data.blamed) };
  let wide = 1, tall = 1, waiting = false, styles = {};

  const redraw = () => { if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; draw(); }); } };
  const restyle = () => {
    const computed = getComputedStyle(document.documentElement);
    for (const name of ["ink", "quiet", "rule", "raised", "bad", "link"]) styles[name] = computed.getPropertyValue(`--${name}`).trim();
    redraw();
  };
  const limits = () => [Math.min(wide / (layout.width + 40), tall / (layout.height + 60)) * 0.8, 3];
  const clamp = (scale) => { const [low, high] = limits(); return Math.min(Math.max(scale, Math.min(low, high)), high); };
  const fit = () => {
    camera.scale = Math.min(clamp(Math.min(wide / (layout.width + 40), tall / (layout.height + 60))), 1.5);
    camera.x = layout.width / 2 - wide / 2 / camera.scale;
    camera.y = layout.height / 2 - (tall / 2 + 8) / camera.scale;
    redraw();
  };
  const zoom = (factor, px = wide / 2, py = tall / 2) => {
    const scale = clamp(camera.scale * factor);
    camera.x += px / camera.scale - px / scale;
    camera.y += py / camera.scale - py / scale;
    camera.scale = scale;
    redraw();
  };
  const move = (dx, dy) => { camera.x -= dx / camera.scale; camera.y -= dy / camera.scale; redraw(); };
  const show = (op) => {
    if (camera.scale < 0.6) camera.scale = 0.9;
    const px = (layout.x[op] - camera.x) * camera.scale, py = (layout.y[op] - camera.y) * camera.scale;
    if (px < 20 || py < 30 || px > wide - 90 || py > tall - 30) {
      camera.x = layout.x[op] + BOX / 2 - wide / 2 / camera.scale;
      camera.y = layout.y[op] + TALL / 2 - tall / 2 / camera.scale;
    }
    redraw();
  };
  const at = (px, py) => {
    const wx = px / camera.scale + camera.x, wy = py / camera.scale + camera.y, near = 4 / camera.scale;
    for (const column of layout.columns) {
      if (wx < column.left - near || wx > column.left + BOX + near) continue;
      const op = column.ops[Math.floor((wy - column.top) / ROW)];
      if (op !== undefined) return op;
    }
    return -1;
  };

  const visible = () => {
    const right = camera.x + wide / camera.scale, bottom = camera.y + tall / camera.scale;
    const ops = [];
    for (const column of layout.columns) {
      if (column.left > right || column.left + BOX < camera.x) continue;
      const first = Math.max(0, Math.floor((camera.y - column.top) / ROW));
      const last = Math.min(column.ops.length, Math.ceil((bottom - column.top) / ROW));
      for (let row = first; row < last; row++) ops.push(column.ops[row]);
    }
    return ops;
  };

  const edge = (from, to) => {
    const x0 = layout.x[from] + BOX, y0 = layout.y[from] + TALL / 2, x1 = layout.x[to], y1 = layout.y[to] + TALL / 2;
    const bend = Math.max((x1 - x0) / 2, 20);
    pen.moveTo(x0, y0);
    pen.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
  };
  const strokeEdges = (pairs, colour, width, alpha) => {
    pen.beginPath();
    for (const [from, to] of pairs) edge(from, to);
    pen.strokeStyle = colour; pen.lineWidth = width / camera.scale; pen.globalAlpha = alpha;
    pen.stroke();
    pen.globalAlpha = 1;
  };
  const drawEdges = (ops) => {
    const cone = state.selected >= 0;
    if (camera.scale > 0.22 && ops.length < 2500) {
      const pairs = [];
      for (const op of ops) for (const operand of graph.operandsOf(op)) pairs.push([operand, op]);
      for (const op of ops) for (const user of graph.usersOf(op)) if (layout.x[user] * camera.scale > (camera.x * camera.scale + wide)) pairs.push([op, user]);
      strokeEdges(pairs, styles.quiet, 1, cone ? 0.12 : pairs.length > 800 ? 0.22 : 0.45);
    }
    if (!cone) return;
    const behind = [], ahead = [], inCone = (set, op) => op === state.selected || set.has(op);
    for (const op of [state.selected, ...state.behind]) for (const operand of graph.operandsOf(op)) behind.push([operand, op]);
    for (const op of state.ahead) for (const operand of graph.operandsOf(op)) if (inCone(state.ahead, operand)) ahead.push([operand, op]);
    if (behind.length < 20000) strokeEdges(behind, styles.link, 1.2, 0.55);
    if (ahead.length < 20000) strokeEdges(ahead, styles.bad, 1.2, 0.45);
    strokeEdges(graph.operandsOf(state.selected).map((operand) => [operand, state.selected]), styles.link, 2.5, 1);
    strokeEdges(Array.from(graph.usersOf(state.selected), (user) => [state.selected, user]), styles.bad, 2.5, 1);
  };
  const drawBoxes = (ops) => {
    const groups = new Map();
    for (const op of ops) {
      const cone = state.selected < 0 || op === state.selected || state.behind.has(op) || state.ahead.has(op);
      const faint = isDimmed(op) || !cone;
      const key = `${faint ? 1 : 0}${colourOf(op)}`;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(op);
    }
    const least = 1 / camera.scale, boxWide = Math.max(BOX, least), boxTall = Math.max(TALL, camera.scale * ROW < 3 ? ROW : 0, least);
    for (const [key, group] of groups) {
      pen.globalAlpha = key[0] === "1" ? 0.16 : 1;
      pen.fillStyle = key.slice(1);
      pen.beginPath();
      for (const op of group) pen.rect(layout.x[op], layout.y[op], boxWide, boxTall);
      pen.fill();
      if (camera.scale * TALL >= 9) {
        pen.fillStyle = inkOn(key.slice(1));
        pen.font = `600 11px ${getComputedStyle(canvas).fontFamily}`;
        pen.textBaseline = "middle";
        for (const op of group) {
          const y = layout.y[op] + TALL / 2 + 0.5;
          pen.textAlign = "left"; pen.fillText(glyphOf(graph.kindOf(op)), layout.x[op] + 4, y);
          pen.textAlign = "right"; pen.fillText(String(op), layout.x[op] + BOX - 4, y);
        }
      }
    }
    pen.globalAlpha = 1;
  };
  const outline = (op, colour, width) => {
    const pad = width / camera.scale;
    pen.strokeStyle = colour; pen.lineWidth = width / camera.scale;
    pen.strokeRect(layout.x[op] - pad, layout.y[op] - pad, BOX + 2 * pad, TALL + 2 * pad);
  };
  const drawLevels = () => {
    pen.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    pen.textAlign = "left"; pen.textBaseline = "top";
    let free = -Infinity;
    pen.globalAlpha = 0.88;
    pen.fillStyle = styles.raised;
    pen.fillRect(0, 0, wide, 22);
    pen.globalAlpha = 1;
    for (const block of layout.blocks) {
      const px = (block.left - camera.x) * camera.scale, right = (block.right - camera.x) * camera.scale;
      if (right < 0 || px > wide) continue;
      pen.fillStyle = styles.rule;
      pen.fillRect(px, 17, Math.max(right - px, 1), 2);
      const label = free === -Infinity ? `level ${block.level}` : String(block.level), from = Math.max(px, 4);
      if (from < free || from > wide - 130) continue;
      pen.fillStyle = styles.quiet;
      pen.fillText(label, from, 3);
      free = from + pen.measureText(label).width + 10;
    }
  };
  const draw = () => {
    const ratio = devicePixelRatio || 1;
    if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(tall * ratio)) {
      canvas.width = Math.round(wide * ratio);
      canvas.height = Math.round(tall * ratio);
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = styles.raised;
    pen.fillRect(0, 0, wide, tall);
    pen.save();
    pen.scale(camera.scale, camera.scale);
    pen.translate(-camera.x, -camera.y);
    const ops = visible();
    drawEdges(ops);
    drawBoxes(ops);
    for (const op of state.found) outline(op, styles.ink, 1.5);
    for (const op of state.blamed) outline(op, styles.bad, 3);
    if (state.selected >= 0) outline(state.selected, styles.ink, 3);
    pen.restore();
    drawLevels();
  };

  let fitted = false;
  new ResizeObserver(() => {
    const box = canvas.getBoundingClientRect();
    if (!box.width || !box.height) return;
    wide = canvas.clientWidth; tall = canvas.clientHeight;
    if (!fitted) { fitted = true; fit(); }
    redraw();
  }).observe(canvas);
  restyle();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", restyle);
  // For printing, draw immediately: no animation frame follows.
  const forPaper = () => { restyle(); if (wide > 1) draw(); };
  matchMedia("print").addEventListener("change", forPaper);
  addEventListener("beforeprint", forPaper);
  addEventListener("afterprint", forPaper);
  return { layout, camera, state, redraw, fit, zoom, move, show, at };
};
