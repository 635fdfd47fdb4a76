// The last ten decisions, each with its reason.
class DecisionList {
  static MOST = 10;

  constructor(list) {
    this.list = list;
    this.rows = [];
  }

  static rate(kbps) {
    return `${(kbps / 1000).toFixed(2)}`;
  }

  static number(value) {
    return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
  }

  static evidence({ name, unit, value, threshold }) {
    const [scale, shown] = unit === "bit/s" ? [1e-6, "Mbit/s"] : [1, unit];
    const against = threshold === null ? "" : ` against ${DecisionList.number(threshold * scale)}`;
    return `${name} ${DecisionList.number(value * scale)}${against}${shown ? " " + shown : ""}`;
  }

  add(row) {
    const last = this.rows.find((own) => own.number === row.number);
    if (last) Object.assign(last, row);
    else this.rows.push(row);
    this.rows.sort((one, other) => other.number - one.number);
    this.rows.length = Math.min(this.rows.length, DecisionList.MOST);
    this.list.replaceChildren(...this.rows.map((row) => {
      const item = document.createElement("li");
      const text = `${row.t.toFixed(1)} s: ${DecisionList.rate(row.from_kbps)} → ${DecisionList.rate(row.to_kbps)} Mbit/s, ${row.why} `;
      const evidence = document.createElement("span");
      evidence.className = "evidence";
      evidence.textContent = row.evidence.map(DecisionList.evidence).join("; ");
      item.append(text, evidence);
      item.dataset.number = row.number;
      item.dataset.why = row.why;
      item.dataset.fell = String(row.to_kbps < row.from_kbps);
      return item;
    }));
  }

  clear() {
    this.rows = [];
    this.list.replaceChildren();
  }
}
