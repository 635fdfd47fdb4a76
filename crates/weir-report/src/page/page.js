// The page: inflates what it brings along, and its tools.

const inflate = async (id) => {
  const packed = Uint8Array.from(atob(document.getElementById(id).textContent.trim()), (c) => c.charCodeAt(0));
  const inflated = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(inflated).text();
};

// Where the locale is POSIX a browser's language may be none, over which the library stumbles.
const mendLanguage = () => {
  try {
    Intl.NumberFormat(navigator.language);
  } catch {
    Object.defineProperty(navigator, "language", { value: "en" });
  }
};

const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// Which controllers are shown, everywhere.
const pick = () => {
  const boxes = all("input[data-pick]");
  view.hidden = new Set(boxes.filter((box) => !box.checked).map((box) => Number(box.dataset.pick)));
  // A mark in the scatter is no HTML element: it has the attribute alone.
  all("[data-controller]").forEach((own) => { own.toggleAttribute("hidden", view.hidden.has(Number(own.dataset.controller))); });
  document.getElementById("picked").textContent = `${boxes.length - view.hidden.size} of ${boxes.length} shown`;
  showCurves();
  zoom(...view.now);
};

// The curves of all controllers in one plot: those of hidden controllers and those that were touched are not shown.
const showCurves = () => {
  const entry = drawn.find(({ figure }) => !figure.time);
  if (!entry) return;
  const [u] = entry.plots;
  entry.figure.plots[0].curves.forEach(({ controller }, i) => {
    const button = document.querySelector(`button[data-curve="${controller}"]`);
    const show = !view.hidden.has(controller) && button?.getAttribute("aria-pressed") !== "false";
    if (u.series[i + 1].show !== show) u.setSeries(i + 1, { show });
  });
};

const pickers = () => {
  for (const box of all("input[data-pick]")) box.addEventListener("change", pick);
  for (const button of all("button[data-pick]")) {
    button.addEventListener("click", () => {
      all("input[data-pick]").forEach((box) => { box.checked = button.dataset.pick === "all"; });
      pick();
    });
  }
  for (const button of all("button[data-curve]")) {
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") === "false"));
      showCurves();
    });
  }
  document.addEventListener("drawn", ({ detail: { figure, plots: [u] } }) => {
    if (figure.time) return;
    showCurves();
    u.hooks.setSeries = [...(u.hooks.setSeries ?? []), (_u, index, { focus }) => {
      // The same is shown when a curve is hidden.
      if (focus === undefined) return;
      const near = index === null ? null : figure.plots[0].curves[index - 1]?.controller;
      all("button[data-curve]").forEach((own) => {
        own.classList.toggle("near", near !== null && Number(own.dataset.curve) === near);
      });
    }];
  });
};

const views = {
  all: showAll,
  in: () => zoom(view.now[0] * 0.75 + view.now[1] * 0.25, view.now[0] * 0.25 + view.now[1] * 0.75),
  out: () => zoom(view.now[0] * 1.5 - view.now[1] * 0.5, view.now[1] * 1.5 - view.now[0] * 0.5),
  back: () => zoom(...view.now.map((end) => end - (view.now[1] - view.now[0]) / 2)),
  on: () => zoom(...view.now.map((end) => end + (view.now[1] - view.now[0]) / 2)),
};

// Rows by a column: what has no value stands last. The first touch puts the better values first, the next turns it.
const sortBy = (table, button) => {
  const column = Number(button.dataset.column);
  const value = (body) => {
    const cell = body.rows[0].cells[column];
    return column === 0 ? cell.textContent : cell.dataset.value === undefined ? null : Number(cell.dataset.value);
  };
  const head = button.closest("th");
  const first = button.dataset.first ?? "ascending";
  const other = first === "ascending" ? "descending" : "ascending";
  const order = head.getAttribute("aria-sort") === first ? other : first;
  all("th[aria-sort]", table).forEach((own) => own.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", order);
  const sign = order === "ascending" ? 1 : -1;
  const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b, "en") : a - b);
  const bodies = [...table.tBodies].sort((one, two) => {
    const [a, b] = [value(one), value(two)];
    return a === null || b === null ? (a === null) - (b === null) : sign * compare(a, b);
  });
  table.append(...bodies);
};

const start = async () => {
  for (const button of all("button.sort")) {
    button.addEventListener("click", () => sortBy(button.closest("table"), button));
  }
  try {
    mendLanguage();
    const library = document.createElement("script");
    library.textContent = await inflate("library");
    document.head.append(library);
    shared = JSON.parse(await inflate("figures"));
  } catch (error) {
    document.getElementById("unsupported").hidden = false;
    throw error;
  }
  view.full = shared.time;
  view.now = shared.time;
  rescale();
  pickers();
  for (const button of all("button[data-view]")) {
    button.addEventListener("click", views[button.dataset.view]);
  }
  drawWhenNear();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
};

start();
