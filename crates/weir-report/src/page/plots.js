"use strict";
// One plot: what the figure's description says, as uPlot wants it.

const colours = new Map();
const colour = (name) => {
  if (!colours.has(name)) {
    colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  }
  return colours.get(name);
};

const rounded = (value, digits) => String(Number(value.toPrecision(digits)));

// A value with its unit.
const withUnit = (value, unit) => {
  if (value === null || value === undefined) return "";
  if (unit === "share") return `${rounded(100 * value, 3)} %`;
  return `${rounded(value, 3)} ${unit}`.trim();
};

const element = (name, className, text) => {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
};

const narrow = (width) => width < 560;
const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif";
const DECADES = [0.1, 1, 10, 100, 1000, 10000, 100000];

// Places for numbers on a logarithmic axis, as many as there is room for.
const logarithmic = (min, max, room) => {
  const within = (steps) => {
    const all = DECADES.flatMap((decade) => steps.map((step) => Number((decade * step).toPrecision(2))));
    return all.filter((value) => value >= min * 0.999 && value <= max * 1.001);
  };
  const choices = [[1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]].map(within);
  return choices.find((choice) => choice.length <= room) ?? choices[3];
};

// The indices of what is seen of `x`.
const seen = (x, [from, to]) => {
  let first = x.findIndex((value) => value >= from);
  if (first < 0) first = x.length;
  let end = first;
  while (end < x.length && x[end] <= to) end += 1;
  return [first, end];
};

// Points between two gaps: no line shows them.
const alone = (y) => {
  const gap = (value) => value === null || value === undefined;
  return y.flatMap((value, i) => (!gap(value) && gap(y[i - 1]) && gap(y[i + 1]) ? [i] : []));
};

// Means of what is within half a second of each place; a gap stays one.
const smoothed = (x, y) => {
  let [first, end, sum, count] = [0, 0, 0, 0];
  const take = (value, sign) => {
    if (typeof value !== "number") return;
    sum += sign * value;
    count += sign;
  };
  return y.map((value, i) => {
    // Times are shown to the millisecond: a place that is half a second away is one by more than rounding.
    for (; end < x.length && x[end] < x[i] + 0.499; end += 1) take(y[end], 1);
    for (; x[first] < x[i] - 0.499; first += 1) take(y[first], -1);
    return typeof value === "number" && count > 0 ? sum / count : value;
  });
};

const series = (curve, y) => {
  const common = {
    label: curve.name,
    stroke: () => colour(curve.colour),
    width: curve.width,
    dash: curve.dash,
    spanGaps: false,
    value: (_, value) => withUnit(value, curve.unit),
  };
  const lone = alone(y);
  const points = { show: false, filter: () => lone, size: 4, width: 1, stroke: common.stroke, fill: common.stroke };
  const steps = uPlot.paths.stepped({ align: 1 });
  switch (curve.form) {
    case "ticks":
      return { ...common, scale: "tick", paths: () => null, points: { show: false } };
    case "area":
      return { ...common, paths: steps, fill: () => colour("capacity"), points: { show: false } };
    case "steps":
      return { ...common, paths: steps, points: { show: false } };
    default:
      return { ...common, points: lone.length > 0 ? points : { show: false } };
  }
};

const drawTicks = (u, curve, index) => {
  const { ctx, bbox } = u;
  ctx.strokeStyle = colour(curve.colour);
  ctx.lineWidth = 1.2 * devicePixelRatio;
  ctx.beginPath();
  const [first, end] = seen(u.data[0], [u.scales.x.min, u.scales.x.max]);
  for (let i = first; i < end; i += 1) {
    if (!(u.data[index][i] > 0)) continue;
    const x = u.valToPos(u.data[0][i], "x", true);
    ctx.moveTo(x, bbox.top + bbox.height);
    ctx.lineTo(x, bbox.top + bbox.height - 9 * devicePixelRatio);
  }
  ctx.stroke();
};

// A bar at the top wherever a curve is above it.
const drawClipped = (u, curve, index) => {
  const { ctx, bbox } = u;
  const { max } = u.scales.y;
  const [first, end] = seen(u.data[0], [u.scales.x.min, u.scales.x.max]);
  const height = (curve.form === "area" ? 2 : 3) * devicePixelRatio;
  ctx.fillStyle = colour(curve.colour);
  for (let i = first; i < end; i += 1) {
    if (!(u.data[index][i] > max)) continue;
    const left = u.valToPos(u.data[0][i], "x", true);
    const next = u.data[0][i + 1] ?? u.scales.x.max;
    const right = Math.min(u.valToPos(next, "x", true), bbox.left + bbox.width);
    ctx.fillRect(left, bbox.top, Math.max(right - left, devicePixelRatio), height);
  }
};

const drawGuide = (u, level) => {
  const { min, max } = u.scales.y;
  if (level < min || level > max) return;
  const { ctx, bbox } = u;
  const y = u.valToPos(level, "y", true);
  ctx.strokeStyle = colour("muted");
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.setLineDash([]);
};

const drawLanes = (u, lanes) => {
  const { ctx, bbox } = u;
  const height = bbox.height / lanes.length;
  lanes.forEach(({ edges, factors }, row) => {
    factors.forEach((factor, i) => {
      if (factor === null) return;
      const from = Math.max(u.valToPos(edges[i], "x", true), bbox.left);
      const to = Math.min(u.valToPos(edges[i + 1], "x", true), bbox.left + bbox.width);
      if (to <= from) return;
      ctx.fillStyle = colour(`factor-${factor}`);
      ctx.fillRect(from, bbox.top + row * height + 1, to - from, height - 2);
    });
  });
};

// Decisions: what lowered the rate is a line across the ribbon, what raised it one below, another factor one above.
const drawDecisions = (u, lanes) => {
  const { ctx, bbox } = u;
  const height = bbox.height / lanes.length;
  const [from, to] = [u.scales.x.min, u.scales.x.max];
  ctx.strokeStyle = colour("ink");
  ctx.lineWidth = devicePixelRatio;
  lanes.forEach(({ ticks = [] }, row) => {
    const top = bbox.top + row * height + 1;
    const low = top + height - 2;
    const ends = { "-1": [top, low], 0: [top, top + (low - top) / 4], 1: [low - (low - top) / 3, low] };
    const room = bbox.width / devicePixelRatio;
    const there = ticks.filter(([time]) => time >= from && time <= to);
    // Where they would be a grey veil, only what lowered the rate is seen.
    const shown = there.length > room / 4 ? there.filter(([, change]) => change < 0) : there;
    ctx.globalAlpha = shown.length > room / 4 ? 0.25 : 0.7;
    ctx.beginPath();
    for (const [time, change] of shown) {
      const x = u.valToPos(time, "x", true);
      ctx.moveTo(x, ends[change][0]);
      ctx.lineTo(x, ends[change][1]);
    }
    ctx.stroke();
  });
};

// The decision of a lane that is nearest to a place in the plot, if one is near.
const decisionAt = (u, lanes, left, top) => {
  const lane = lanes[Math.min(Math.floor(top / (u.over.clientHeight / lanes.length)), lanes.length - 1)];
  const apart = ([time]) => Math.abs(u.valToPos(time, "x") - left);
  const nearest = (lane?.ticks ?? []).reduce((best, own) => (best && apart(best) <= apart(own) ? best : own), null);
  return nearest && apart(nearest) <= 6 ? nearest : null;
};

// The factor in `lane` at a time; null where there is none.
const factorAt = ({ edges, factors }, time) => {
  const after = edges.findIndex((edge) => edge > time);
  return after > 0 ? factors[after - 1] : null;
};

const upright = (plot, width, range) => {
  const log = plot.scale === "delay";
  const share = plot.scale === "share";
  const label = narrow(width) || plot.lanes ? undefined : plot.label;
  const axis = {
    size: narrow(width) ? 44 : 52,
    label,
    labelSize: label ? 18 : 0,
    labelGap: 0,
    font: FONT,
    labelFont: FONT,
    gap: 4,
    stroke: () => colour("muted"),
    grid: { stroke: () => colour("grid"), width: 1 },
    ticks: { show: false },
    space: 26,
    values: (_, splits) => splits.map((value) => (share ? `${rounded(100 * value, 3)} %` : rounded(value, 4))),
  };
  if (log) {
    axis.splits = (_u, _axis, min, max) => logarithmic(min, max, Math.max(2, Math.floor(plot.height / 20)));
    axis.filter = (_u, splits) => splits;
  }
  if (plot.lanes) {
    const names = plot.lanes.map((lane) => lane.name);
    // What is beside lanes takes as much room as elsewhere, so that times stand below each other.
    axis.size += narrow(width) ? 0 : 18;
    axis.grid = { show: false };
    axis.splits = () => names.map((_, i) => i);
    const most = narrow(width) ? 7 : 11;
    axis.values = () => names.map((name) => (name.length > most ? `${name.slice(0, most - 1)}…` : name));
    axis.font = narrow(width) ? FONT.replace("12px", "9px") : FONT.replace("12px", "11px");
  }
  const scale = plot.lanes
    ? { range: [-0.5, plot.lanes.length - 0.5], dir: -1 }
    : { distr: log ? 3 : 1, range };
  return { axis, scale };
};

const level = (plot, x, width) => {
  const log = x.kind === "delay";
  return {
    show: plot.last,
    size: 24,
    gap: 2,
    font: FONT,
    stroke: () => colour("muted"),
    grid: { stroke: () => colour("grid"), width: 1 },
    ticks: { stroke: () => colour("capacity-edge"), size: 4, width: 1 },
    space: narrow(width) ? 44 : 70,
    ...(log && { splits: (_u, _axis, min, max) => logarithmic(min, max, width / 60), filter: (_u, splits) => splits }),
    values: (_, splits) => splits.map((value) => `${rounded(value, 6)} ${log ? "ms" : "s"}`),
  };
};

// Draws `plot` into `host`. `x` has the values and the kind of the level axis, `range` is that of the upright axis.
const drawPlot = (host, plot, x, width, range, handlers) => {
  const columns = plot.curves.map((curve) => curve.y.map((value) => (value === false ? undefined : value)));
  const data = [x.values, ...columns];
  if (plot.lanes) data.push(x.values.map(() => null));
  const { axis, scale } = upright(plot, width, range);
  const clips = plot.scale === "rate";
  const draw = (u) => {
    u.ctx.save();
    plot.curves.forEach((curve, i) => {
      if (!u.series[i + 1].show) return;
      if (curve.form === "ticks") drawTicks(u, curve, i + 1);
      else if (clips) drawClipped(u, curve, i + 1);
    });
    (plot.guides ?? []).forEach((guide) => drawGuide(u, guide));
    if (plot.lanes) {
      drawLanes(u, plot.lanes);
      drawDecisions(u, plot.lanes);
    }
    u.ctx.restore();
  };
  const banded = plot.curves.flatMap(({ form, colour: own }, i) =>
    form === "band" ? [{ series: [i + 1, i + 2], fill: () => `${colour(own)}38` }] : []);
  const own = plot.curves.map((curve, i) => series(curve, columns[i]));
  if (plot.lanes) own.push({ paths: () => null, points: { show: false } });
  const options = {
    width,
    height: plot.height + (plot.last ? 24 : 0),
    padding: [6, 24, plot.last ? 0 : 6, 0],
    legend: { show: false },
    scales: {
      x: { time: false, distr: x.kind === "delay" ? 3 : 1, range: x.range },
      y: scale,
      tick: { range: [0, 1] },
    },
    axes: [level(plot, x, width), axis],
    bands: banded,
    series: [{}, ...own],
    hooks: { draw: [draw], ...handlers.hooks },
    ...(plot.focus && { focus: { alpha: 0.25 } }),
    cursor: {
      y: false,
      points: { show: false },
      drag: { x: x.kind === "time", y: false, setScale: false },
      ...(plot.focus && { focus: { prox: 16 } }),
      ...handlers.cursor,
    },
  };
  const smooth = plot.smooth ? [x.values, ...columns.map((y) => smoothed(x.values, y))] : data;
  const u = new uPlot(options, smooth, host);
  if (plot.smooth) u.courses = { smooth, raw: data };
  return u;
};
