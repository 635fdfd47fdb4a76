// Figures: plots below each other with the names of their curves, and the stretch of time that all of them show.

const view = { full: [0, 1], now: [0, 1], rate: [0, 1], delay: [1, 1000], hidden: new Set() };
let shared = {};
const drawn = [];

const isFull = () => view.now[0] <= view.full[0] && view.now[1] >= view.full[1];

// What the leading curves of all controllers that are shown have within sight, in order.
const leading = (scale) => {
  const values = [];
  for (const figure of shared.figures) {
    if (!figure.time || view.hidden.has(figure.controller)) continue;
    const [first, end] = seen(figure.x, view.now);
    for (const plot of figure.plots.filter((own) => own.scale === scale)) {
      for (const { y } of plot.curves.filter((curve) => curve.leads)) {
        values.push(...y.slice(first, end).filter((value) => typeof value === "number"));
      }
    }
  }
  return values.sort((a, b) => a - b);
};

const rescale = () => {
  view.rate = shared.rate;
  view.delay = shared.delay;
  if (isFull() && view.hidden.size === 0) return;
  const rates = leading("rate");
  const delays = leading("delay");
  const usual = rates[Math.max(Math.ceil(0.99 * rates.length), 1) - 1];
  if (usual > 0) view.rate = [0, 1.3 * usual];
  if (delays.length > 0) view.delay = [delays[0] / 1.4, delays[delays.length - 1] * 1.4];
};

const ranges = {
  rate: () => view.rate,
  delay: () => view.delay,
  share: () => [0, 1.02],
  zero: (_u, _min, max) => [0, max > 0 ? 1.08 * max : 1],
  auto: (_u, min, max) => {
    if (min === null || min === undefined) return [0, 1];
    const room = 0.06 * (max - min) || 0.06 * Math.abs(max) || 1;
    return [min - room, max + room];
  },
};

// A plot shows what is in sight: rates as they are where it is a part of the run, and else as means over a second.
const showView = (u) => {
  if (u.courses) u.setData(isFull() ? u.courses.smooth : u.courses.raw, false);
  u.setScale("x", { min: view.now[0], max: view.now[1] });
};

const zoom = (from, to) => {
  const [first, last] = view.full;
  const length = Math.min(Math.max(to - from, 0.2), last - first);
  const start = Math.min(Math.max(from, first), last - length);
  view.now = [start, start + length];
  rescale();
  for (const { figure, plots } of drawn) {
    if (figure.time) plots.forEach(showView);
  }
};

const showAll = () => zoom(...view.full);

const selected = (u) => {
  const { left, width } = u.select;
  if (width < 4) return;
  const [from, to] = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
  u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
  zoom(from, to);
};

// The name of a curve: touched it hides the curve, and beside it stands the value below the cursor.
const key = (keys, curve) => {
  const button = element("button", "key");
  button.type = "button";
  button.setAttribute("aria-pressed", "true");
  const swatch = element("i");
  swatch.style.borderTop = curve.form === "ticks" ? "" : `${Math.max(curve.width, 1)}px ${
    curve.dash ? "dashed" : "solid"} var(--${curve.colour})`;
  if (curve.form === "ticks") swatch.style.cssText = `width:2px;height:10px;background:var(--${curve.colour})`;
  if (curve.form === "area") swatch.style.cssText += ";height:10px;background:var(--capacity)";
  const value = element("b");
  button.append(swatch, curve.name, value);
  keys.append(button);
  return { button, value };
};

const addKeys = (keys, plot, u) => {
  if (plot.focus) return () => {};
  if (plot.lanes) {
    const items = plot.lanes.map((lane) => {
      const item = element("span", "key", plot.lanes.length > 1 ? `${lane.name} limited by` : "limited by");
      const value = element("b");
      item.append(value);
      keys.append(item);
      return value;
    });
    return (time) => plot.lanes.forEach((lane, i) => {
      const factor = time === null ? null : factorAt(lane, time);
      items[i].textContent = factor === null ? "" : shared.factors[factor];
    });
  }
  const items = plot.curves.map((curve, i) => {
    const { button, value } = key(keys, curve);
    button.addEventListener("click", () => {
      const show = !u.series[i + 1].show;
      button.setAttribute("aria-pressed", String(show));
      u.setSeries(i + 1, { show });
    });
    return value;
  });
  return (_time, index) => plot.curves.forEach((curve, i) => {
    items[i].textContent = index === null ? "" : withUnit(u.data[i + 1][index], curve.unit);
  });
};

// What a decision was, beside the cursor.
const addTip = (row, plot, u) => {
  const tip = element("p", "tip");
  tip.hidden = true;
  row.append(tip);
  return () => {
    const { left, top } = u.cursor;
    const decision = left >= 0 && u.over.matches(":hover") ? decisionAt(u, plot.lanes, left, top) : null;
    tip.hidden = decision === null;
    if (decision === null) return;
    tip.textContent = decision[2];
    const at = u.valToPos(decision[0], "x") + u.over.offsetLeft;
    tip.style.left = `${Math.max(0, Math.min(at - tip.offsetWidth / 2, row.clientWidth - tip.offsetWidth))}px`;
  };
};

// A signal's title shows its value itself.
const addTitle = (host, plot, u) => {
  const title = element("p", "signal", plot.title);
  const value = element("b");
  title.append(value);
  host.prepend(title);
  return (_time, index) => {
    const [greatest, least] = [1, 2].map((row) => (index === null ? null : u.data[row][index]));
    value.textContent = withUnit(least, "") === withUnit(greatest, "")
      ? withUnit(least, plot.label)
      : `${withUnit(least, "")} to ${withUnit(greatest, plot.label)}`;
  };
};

const draw = (figure, host) => {
  const keys = element("div", "keys");
  host.append(keys);
  const width = host.clientWidth;
  const x = {
    kind: figure.time ? "time" : "delay",
    values: figure.x,
    range: figure.time ? () => view.now : () => [figure.x[0], figure.x[figure.x.length - 1]],
  };
  const updates = [];
  const entry = { figure, host, plots: [], seen: true };
  const setCursor = (u) => {
    const index = u.cursor.left >= 0 && u.cursor.idx !== undefined ? u.cursor.idx : null;
    const time = index === null ? null : u.posToVal(u.cursor.left, "x");
    if (entry.seen) updates[u.own]?.(time, index);
  };
  const allowed = (type) => type === "mousemove" || type === "mouseleave";
  const handlers = {
    hooks: { setCursor: [setCursor], setSelect: [selected] },
    cursor: figure.time && {
      sync: { key: "time", setSeries: false, scales: ["x", null], filters: { pub: allowed, sub: allowed } },
      bind: { dblclick: () => () => { showAll(); return null; } },
    },
  };
  figure.plots.forEach((plot, own) => {
    const row = element("div", "row");
    host.append(row);
    plot.last = own === figure.plots.length - 1 || Boolean(plot.title);
    plot.focus = !figure.time;
    const u = drawPlot(row, plot, x, width, ranges[plot.scale], handlers);
    u.own = own;
    if (u.courses && !isFull()) showView(u);
    entry.plots.push(u);
    const values = plot.title ? addTitle(row, plot, u) : addKeys(keys, plot, u);
    const tip = plot.lanes?.some((lane) => lane.ticks) ? addTip(row, plot, u) : () => {};
    updates.push((time, index) => { values(time, index); tip(); });
  });
  if (!keys.firstChild) keys.remove();
  host.style.minHeight = "";
  drawn.push(entry);
  new ResizeObserver(() => {
    const now = host.clientWidth;
    if (now > 0) entry.plots.forEach((u) => { if (u.width !== now) u.setSize({ width: now, height: u.height }); });
  }).observe(host);
  return entry;
};

// Draws each figure when it comes near, and all of them before they are printed.
const drawWhenNear = () => {
  const waiting = new Map(shared.figures.map((figure) => [document.getElementById(figure.id), figure]));
  const entries = new Map();
  const drawNow = (host) => {
    if (!waiting.has(host) || host.clientWidth === 0) return;
    entries.set(host, draw(waiting.get(host), host));
    waiting.delete(host);
    host.dispatchEvent(new CustomEvent("drawn", { bubbles: true, detail: entries.get(host) }));
  };
  const observer = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) {
      if (isIntersecting) drawNow(target);
      if (entries.has(target)) entries.get(target).seen = isIntersecting;
    }
  }, { rootMargin: "500px" });
  waiting.forEach((_, host) => observer.observe(host));
  addEventListener("beforeprint", () => [...waiting.keys()].forEach(drawNow));
};

const recolour = () => {
  colours.clear();
  drawn.forEach(({ plots }) => plots.forEach((u) => u.redraw(true)));
};
