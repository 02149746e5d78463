// The program as a graph in flat arrays: operands and users of each op, cones, exact values as text.

const makeGraph = (data) => {
  const { n, text } = data;
  const operands = text.map((words) => Array.from(words.matchAll(/%(\d+)/g), (found) => Number(found[1])));
  const userStart = new Int32Array(n + 1);
  for (const list of operands) for (const op of new Set(list)) userStart[op + 1]++;
  for (let op = 0; op < n; op++) userStart[op + 1] += userStart[op];
  const users = new Int32Array(userStart[n]);
  const next = userStart.slice(0, n);
  operands.forEach((list, op) => { for (const operand of new Set(list)) users[next[operand]++] = op; });
  const usersOf = (op) => users.subarray(userStart[op], userStart[op + 1]);
  const outputsOf = new Map();
  for (const output of data.outputs) {
    if (output.op === null) continue;
    if (!outputsOf.has(output.op)) outputsOf.set(output.op, []);
    outputsOf.get(output.op).push(output);
  }

  // All ops that `op` depends on (along operandsOf) or that depend on it (along usersOf), without itself.
  const reach = (op, step) => {
    const seen = new Set([op]);
    const open = [op];
    while (open.length) for (const other of step(open.pop())) if (!seen.has(other)) { seen.add(other); open.push(other); }
    seen.delete(op);
    return seen;
  };

  const typeOf = (op) => data.types[data.type[op]];
  const widthOf = (op) => { const [k, i, f] = typeOf(op); return k + i + f; };
  const typeName = ([k, i, f]) => `${k ? "s" : "u"}${k + i + f}.${f}`;

  return {
    n, data, operands, usersOf, outputsOf, typeOf, widthOf, typeName,
    operandsOf: (op) => operands[op],
    behind: (op) => reach(op, (each) => operands[each]),
    ahead: (op) => reach(op, usersOf),
    kindOf: (op) => data.kinds[data.kind[op]],
    // The number of bins, of hit bins and of unreachable bins; null if coverage was not measured.
    binsOf: (op) => (data.bins ? data.bins.slice(3 * op, 3 * op + 3) : null),
    describe: (op) => `${data.kinds[data.kind[op]].name} ${typeName(typeOf(op))} ${text[op]}`,
  };
};

// The exact value raw * 2**-f, as a decimal number if that is short.
const real = (raw, f) => {
  const value = BigInt(raw);
  if (f <= 0) return f > -64 ? String(value << BigInt(-f)) : `${value}·2^${-f}`;
  if (f > 24) return `${value}·2^-${f}`;
  const scale = 1n << BigInt(f), size = value < 0n ? -value : value;
  const rest = ((size % scale) * 5n ** BigInt(f)).toString().padStart(f, "0").replace(/0+$/, "");
  return `${value < 0n ? "-" : ""}${size / scale}${rest && `.${rest}`}`;
};

// The share of reachable bins of an op that were hit, from 0 to 1; 1 if none is reachable.
const coveredShare = ([bins, hit, unreachable]) => (bins > unreachable ? hit / (bins - unreachable) : 1);
