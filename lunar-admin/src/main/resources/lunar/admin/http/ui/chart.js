// Line charts of the last 5 minutes in SVG: reads as a line above an area, writes as a line.

import { duration, element, setText, timeOfDay } from "./format.js";

export const SPAN_MS = 300_000;
/** Margins in rem. */
const LEFT = 4.6;
const RIGHT = 1;
const TOP = 0.7;
const BOTTOM = 1.6;
const TICKS = 4;
const LINES = ["read", "write"];

function svg(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    made.setAttribute(name, value);
  }
  return made;
}

/** Returns the distance of grid lines for values up to a maximum: a power of 2, or 1, 2 or 5 of a decade. */
function gridStep(max, isBinary) {
  const least = max / TICKS;
  if (isBinary) {
    return 2 ** Math.ceil(Math.log2(least));
  }
  const decade = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((n) => n * decade).find((step) => step >= least * (1 - 1e-9));
}

/**
 * A chart of two values of each point of a history. The pointer, or the arrow keys, select a point, in all charts of a
 * group at once.
 */
export class Chart {
  #keys;
  #options;
  #svg = svg("svg", { role: "img", tabindex: "0", preserveAspectRatio: "none" });
  #grid = svg("g", { class: "grid", "aria-hidden": "true" });
  #area = svg("path", { class: "area" });
  #paths = LINES.map((name) => svg("path", { class: `line ${name}` }));
  #cursor = svg("line", { class: "cursor", "aria-hidden": "true" });
  #legend;
  #summary;
  #time = element("span", "chart-time dim");
  #width = 0;
  #height = 0;
  #margin = { left: 0, right: 0, top: 0, bottom: 0 };
  #drawnGrid = "";
  #history = [];
  #selected = null;
  #onSelect;

  /**
   * @param keys of the read and the written value in a point
   * @param options title, labels of both lines, format, isBinary, floor: the least maximum of the axis
   * @param onSelect called with the selected point, or null
   */
  constructor(figure, keys, options, onSelect) {
    this.#keys = keys;
    this.#options = options;
    this.#onSelect = onSelect;
    this.#legend = keys.map((_, i) => ({
      value: element("span", "value"), peak: element("span", "dim peak"),
      item: element("li", LINES[i]),
    }));
    this.#legend.forEach((entry, i) => entry.item.append(element("span", "swatch"),
      element("span", "name", options.labels[i]), entry.value, entry.peak));
    this.#summary = element("p", "unseen");
    this.#summary.id = `${figure.id}-summary`;
    this.#svg.setAttribute("aria-label", `${options.title}, line chart`);
    this.#svg.setAttribute("aria-describedby", this.#summary.id);
    this.#svg.append(this.#grid, this.#area, ...this.#paths, this.#cursor);
    const plot = element("div", "plot", this.#svg);
    figure.append(element("figcaption", "",
      element("h2", "", options.title, this.#time),
      element("ul", "legend", ...this.#legend.map((entry) => entry.item))), plot, this.#summary);
    new ResizeObserver(() => this.#resize(plot)).observe(plot);
    this.#listen();
  }

  #resize(plot) {
    this.#width = plot.clientWidth;
    this.#height = plot.clientHeight;
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    this.#margin = { left: LEFT * rem, right: RIGHT * rem, top: TOP * rem, bottom: BOTTOM * rem };
    this.#svg.setAttribute("viewBox", `0 0 ${this.#width} ${this.#height}`);
    this.draw(this.#history);
  }

  #listen() {
    this.#svg.addEventListener("pointermove", (event) => {
      const x = event.clientX - this.#svg.getBoundingClientRect().left;
      const { left, right } = this.#margin;
      const share = (x - left) / (this.#width - left - right);
      this.#onSelect(this.#nearest(this.#end() - SPAN_MS * (1 - share)));
    });
    this.#svg.addEventListener("pointerleave", () => this.#onSelect(null));
    this.#svg.addEventListener("blur", () => this.#onSelect(null));
    this.#svg.addEventListener("keydown", (event) => {
      const at = this.#history.indexOf(this.#selected);
      const last = this.#history.length - 1;
      const target = {
        ArrowLeft: at < 0 ? last : Math.max(0, at - 1),
        ArrowRight: at < 0 ? last : Math.min(last, at + 1),
        Home: 0, End: last, Escape: -1,
      }[event.key];
      if (target !== undefined) {
        event.preventDefault();
        this.#onSelect(this.#history[target] ?? null);
      }
    });
  }

  #end() { return this.#history.at(-1)?.time ?? 0; }

  #nearest(time) {
    return this.#history.reduce((best, point) => best === null
      || Math.abs(point.time - time) < Math.abs(best.time - time) ? point : best, null);
  }

  /** Shows the values of a point instead of the latest ones; null ends that. */
  select(point) {
    this.#selected = point;
    this.draw(this.#history);
  }

  /** Draws points in the order of time; before one with isGap, the lines are interrupted. */
  draw(history) {
    this.#history = history;
    if (this.#selected !== null && !history.includes(this.#selected)) {
      this.#selected = null;
    }
    this.#drawLegend();
    if (this.#width === 0) {
      return;
    }
    const values = history.flatMap((point) => this.#keys.map((key) => point[key] ?? 0));
    const max = Math.max(this.#options.floor, ...values);
    const step = gridStep(max, this.#options.isBinary);
    const top = step * Math.ceil(max / step - 1e-9);
    this.#drawGrid(step, top);
    const end = this.#height - this.#margin.bottom;
    const y = (value) => end - (end - this.#margin.top) * value / top;
    this.#paths.forEach((path, i) => path.setAttribute("d", this.#line(this.#keys[i], y, false)));
    this.#area.setAttribute("d", this.#line(this.#keys[0], y, true));
    const x = this.#selected === null ? -10 : this.#x(this.#selected.time);
    Object.entries({ x1: x, x2: x, y1: this.#margin.top, y2: end })
      .forEach(([name, value]) => this.#cursor.setAttribute(name, value));
  }

  #x(time) {
    const { left, right } = this.#margin;
    return left + (this.#width - left - right) * (1 - (this.#end() - time) / SPAN_MS);
  }

  /** Returns the path of a line, or of the area below it; a point without a value interrupts it. */
  #line(key, y, isArea) {
    let path = "";
    let run = [];
    const endRun = () => {
      if (run.length > 0) {
        const x = (point) => point[0].toFixed(1);
        path += `M${run.map((point) => `${x(point)} ${point[1].toFixed(1)}`).join("L")}`;
        if (isArea) {
          path += `L${x(run.at(-1))} ${y(0)}L${x(run[0])} ${y(0)}Z`;
        } else if (run.length === 1) {
          path += "h1"; // a dot
        }
      }
      run = [];
    };
    for (const point of this.#history) {
      const value = point[key];
      if (point.isGap || value === null) {
        endRun();
      }
      if (value !== null) {
        run.push([this.#x(point.time), y(value)]);
      }
    }
    endRun();
    return path;
  }

  #drawGrid(step, top) {
    const state = `${this.#width} ${this.#height} ${step} ${top}`;
    if (state === this.#drawnGrid) {
      return;
    }
    this.#drawnGrid = state;
    const parts = [];
    const { left, top: above, bottom: below } = this.#margin;
    const right = this.#width - this.#margin.right;
    const bottom = this.#height - below;
    for (let value = 0; value <= top * 1.001; value += step) {
      const y = Math.round(bottom - (bottom - above) * value / top) + 0.5;
      const text = svg("text", { x: left - 8, y, "dominant-baseline": "middle", "text-anchor": "end" });
      text.textContent = this.#options.axis(value);
      parts.push(svg("line", { x1: left, x2: right, y1: y, y2: y }), text);
    }
    for (let minute = 0; minute <= 5; minute++) {
      const x = left + (right - left) * (1 - minute / 5);
      const anchor = minute === 0 ? "end" : "middle";
      const text = svg("text",
        { x: minute === 0 ? this.#width : x, y: this.#height - 5, "text-anchor": anchor });
      text.textContent = minute === 0 ? "now" : `−${minute} min`;
      parts.push(text);
    }
    this.#grid.replaceChildren(...parts);
  }

  #drawLegend() {
    const { format, title, labels } = this.#options;
    const shown = this.#selected ?? this.#history.at(-1);
    setText(this.#time, this.#selected ? timeOfDay(this.#selected.wall) : "");
    const sentences = this.#legend.map((entry, i) => {
      const key = this.#keys[i];
      const values = this.#history.map((point) => point[key]).filter((value) => value !== null);
      const peak = values.length ? Math.max(...values) : null;
      const mean = values.length ? values.reduce((sum, n) => sum + n, 0) / values.length : null;
      setText(entry.value, format(shown?.[key] ?? null));
      setText(entry.peak, `peak ${format(peak)}`);
      return `${labels[i]}: now ${format(this.#history.at(-1)?.[key] ?? null)},`
        + ` mean ${format(mean)}, peak ${format(peak)}.`;
    });
    const span = this.#history.length ? this.#end() - this.#history[0].time : 0;
    setText(this.#summary, `${title} of the last ${duration(span / 1000)}. ${sentences.join(" ")}`);
  }
}
