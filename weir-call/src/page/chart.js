"use strict";
// The chart of the last minute: rates above, frame delay below, and the limit as a strip.
class CallChart {
  static SPAN = 60;
  static WIDTH = 1000;
  static RATES = { top: 10, bottom: 210 };
  static DELAYS = { top: 240, bottom: 340 };
  static LIMITS = { top: 360, bottom: 378 };
  static LEFT = 70;

  constructor(svg) {
    this.svg = svg;
    svg.setAttribute("viewBox", `0 0 ${CallChart.WIDTH} 390`);
    this.series = { target: [], received: [], capacity: [], delay: [] };
    this.limits = [];
    this.grid = this.append("g");
    this.strip = this.append("g");
    this.lines = {};
    for (const name of Object.keys(this.series)) {
      this.lines[name] = this.append("polyline", svg, { class: `line ${name}`, id: `line-${name}` });
    }
  }

  append(kind, parent = this.svg, attributes = {}, text = null) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", kind);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== null) element.textContent = text;
    return parent.appendChild(element);
  }

  add(name, t, value) {
    this.series[name].push([t, value]);
  }

  addLimit(t, limit) {
    const last = this.limits.at(-1);
    if (last && last.limit === limit) last.to = t;
    else this.limits.push({ from: last ? last.to : t, to: t, limit });
  }

  static scale(values, least) {
    const most = Math.max(least, ...values);
    const step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000].find((step) => most / step <= 5) ?? most / 5;
    return { most: Math.ceil(most / step) * step, step };
  }

  draw(now) {
    const begin = now - CallChart.SPAN;
    const x = (t) => CallChart.LEFT + (Math.max(t, begin) - begin) / CallChart.SPAN * (CallChart.WIDTH - CallChart.LEFT - 10);
    for (const name of Object.keys(this.series)) {
      this.series[name] = this.series[name].filter(([t]) => t >= begin);
    }
    this.limits = this.limits.filter(({ to }) => to >= begin);
    this.grid.replaceChildren();
    const rates = ["target", "received", "capacity"];
    const parts = [
      [rates, CallChart.RATES, 0.5, "Mbit/s"],
      [["delay"], CallChart.DELAYS, 100, "ms"],
    ];
    for (const [names, { top, bottom }, least, unit] of parts) {
      const values = names.flatMap((name) => this.series[name].map(([, value]) => value));
      const { most, step } = CallChart.scale(values, least);
      const y = (value) => bottom - value / most * (bottom - top);
      for (let value = 0; value <= most * 1.001; value += step) {
        this.append("line", this.grid, { class: "grid", x1: CallChart.LEFT, x2: CallChart.WIDTH - 10, y1: y(value), y2: y(value) });
        const text = `${+value.toFixed(1)}${value + step > most * 1.001 ? " " + unit : ""}`;
        this.append("text", this.grid, { class: "mark", x: CallChart.LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, text);
      }
      for (const name of names) {
        const points = this.series[name].map(([t, value]) => `${x(t).toFixed(1)},${y(value).toFixed(1)}`);
        this.lines[name].setAttribute("points", points.join(" "));
        this.lines[name].dataset.last = this.series[name].at(-1)?.[1] ?? "";
      }
    }
    this.strip.replaceChildren();
    const { top, bottom } = CallChart.LIMITS;
    for (const { from, to, limit } of this.limits) {
      const [left, right] = [x(from), x(to)];
      this.append("rect", this.strip, { class: "limit", x: left, y: top, width: Math.max(right - left - 1, 0), height: bottom - top });
      if (right - left > 8 * limit.length) this.append("text", this.strip, { class: "mark", x: left + 4, y: bottom - 5 }, limit);
    }
    this.append("text", this.strip, { class: "mark", x: CallChart.LEFT - 6, y: bottom - 5, "text-anchor": "end" }, "limit");
  }
}
