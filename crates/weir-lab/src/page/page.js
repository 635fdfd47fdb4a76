(async () => {
  "use strict";
  const byId = (id) => document.getElementById(id);

  const inflate = async (id) => {
    const packed = Uint8Array.from(atob(byId(id).textContent.trim()), (c) => c.charCodeAt(0));
    const inflated = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(inflated).text();
  };

  const config = {
    responsive: true,
    displaylogo: false,
    doubleClick: "reset",
    modeBarButtons: [["toImage"]],
  };

  // Figures over time show the same stretch of it: zooming one zooms all that are drawn.
  const overTime = [];
  let following = false;

  const follow = async (leader) => {
    if (following) return;
    following = true;
    const range = leader.layout.xaxis.range.slice();
    const others = overTime.filter((plot) => plot !== leader);
    await Promise.all(others.map((plot) => Plotly.relayout(plot, { "xaxis.range": range.slice() })));
    following = false;
  };

  const draw = async (figure) => {
    const plot = byId(figure.id);
    if (figure.overTime && overTime.length > 0) {
      figure.layout.xaxis.range = overTime[0].layout.xaxis.range.slice();
    }
    await Plotly.newPlot(plot, figure.data, figure.layout, config);
    if (!figure.overTime) return;
    overTime.push(plot);
    plot.on("plotly_relayout", (change) => {
      if (Object.keys(change).some((key) => key.startsWith("xaxis."))) follow(plot);
    });
  };

  // What is folded away has no width yet: it is drawn when it is unfolded.
  const drawWhenVisible = (figure) => {
    const fold = byId(figure.id).closest("details");
    if (!fold || fold.open) return draw(figure);
    fold.addEventListener("toggle", () => draw(figure), { once: true });
  };

  try {
    const library = document.createElement("script");
    library.textContent = await inflate("library");
    document.head.append(library);
    for (const figure of JSON.parse(await inflate("figures"))) await drawWhenVisible(figure);
  } catch (error) {
    byId("unsupported").hidden = false;
    throw error;
  }
})();
