package lunar.bench.harness;

import java.util.ArrayList;
import java.util.Formatter;
import java.util.List;
import java.util.Locale;
import java.util.stream.DoubleStream;

/**
 * An SVG chart: panels, up to three in a row, each with means and their 95 % confidence intervals over a linear x axis
 * and a logarithmic y axis. Text is not converted to paths.
 *
 * @param title of the figure
 * @param subtitle what was measured
 * @param yTitle of the y axis, which the panels share
 */
public record Chart(String title, String subtitle, String yTitle, List<Panel> panels) {
    private static final int PANEL_WIDTH = 400;
    private static final int PANEL_HEIGHT = 320;
    private static final int LEFT = 70;
    private static final int GAP = 40;
    private static final int TOP = 84;
    private static final int BOTTOM = 92;
    private static final int COLUMNS = 3;
    private static final int ROW = PANEL_HEIGHT + 90;
    private static final int WHISKER = 4;
    private static final int LEGEND_ROW = 18;
    private static final double MARK = 4.5;
    /** Okabe and Ito's colours, which the colour-blind can tell apart too. */
    private static final List<String> COLOURS = List.of("#0072b2", "#d55e00", "#009e73", "#cc79a7",
            "#e69f00", "#56b4e9");
    private static final int[] STEPS = {1, 2, 5, 10};

    /** A mark on the x axis. */
    public record Tick(double x, String text) {}

    /** A mean at a place of the x axis. */
    public record Point(double x, Estimate y) {}

    /** @param line whether a line leads through the points */
    public record Series(String name, boolean line, List<Point> points) {}

    /**
     * Plot of the chart.
     *
     * @param from left end of the x axis
     * @param to its right end
     */
    public record Panel(String title, String xTitle, double from, double to, List<Tick> ticks,
            List<Series> series) {}

    public String svg() {
        int width = LEFT + Math.min(panels.size(), COLUMNS) * (PANEL_WIDTH + GAP);
        int lower = (panels.size() - 1) / COLUMNS * ROW;
        int height = TOP + PANEL_HEIGHT + lower + BOTTOM + LEGEND_ROW * (legendRows(width) - 1);
        var text = new Formatter(Locale.ROOT);
        text.format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
                + "height=\"%d\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\" font-size=\"12\" "
                + "role=\"img\" aria-label=\"%s\">%n", width, height, width, height, escape(title));
        text.format("<title>%s</title>%n", escape(title));
        text.format("<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>%n", width, height);
        text.format("<text x=\"%d\" y=\"28\" font-size=\"17\" font-weight=\"600\">%s</text>%n",
                LEFT,
                escape(title));
        text.format("<text x=\"%d\" y=\"47\" fill=\"#555555\">%s</text>%n", LEFT, escape(subtitle));
        text.format(
                "<text transform=\"translate(18 %d) rotate(-90)\" text-anchor=\"middle\">%s</text>%n",
                TOP + (PANEL_HEIGHT + lower) / 2, escape(yTitle));
        Scale y = scale();
        for (int i = 0; i < panels.size(); i++) {
            int column = i % COLUMNS;
            text.format("<g transform=\"translate(0 %d)\">%n", i / COLUMNS * ROW);
            panel(text, panels.get(i), y, LEFT + column * (PANEL_WIDTH + GAP), column == 0);
            text.format("</g>%n");
        }
        legend(text, TOP + PANEL_HEIGHT + lower + BOTTOM - 18, width);
        return text.format("</svg>%n").toString();
    }

    /** A logarithmic axis. */
    private record Scale(double low, double high) {
        double y(double value) {
            double part = Math.log(Math.clamp(value, low, high) / low) / Math.log(high / low);
            return TOP + PANEL_HEIGHT * (1 - part);
        }

        /** 1, 2 and 5 times the powers of ten, or the powers alone where that would be too many. */
        List<Double> ticks() {
            var ticks = new ArrayList<Double>();
            boolean few = high / low < 2_000;
            for (double power = Math.pow(10,
                    Math.floor(Math.log10(low))); power <= high; power *= 10) {
                for (int step : few ? new int[]{1, 2, 5} : new int[]{1}) {
                    double value = step * power;
                    if (value >= low * 0.999 && value <= high * 1.001) {
                        ticks.add(value);
                    }
                }
            }
            return ticks;
        }
    }

    /** From the nearest round number below all to the nearest above all. */
    private Scale scale() {
        double low = values().min().orElse(1);
        double high = values().max().orElse(10);
        double below = Math.pow(10, Math.floor(Math.log10(low)));
        double above = Math.pow(10, Math.floor(Math.log10(high)));
        double from = below;
        for (int step : STEPS) {
            from = step * below <= low ? step * below : from;
        }
        double to = 0;
        for (int step : STEPS) {
            to = to == 0 && step * above >= high ? step * above : to;
        }
        return new Scale(from, Math.max(to, 2 * from));
    }

    private DoubleStream values() {
        return panels.stream().flatMap(panel -> panel.series.stream())
                .flatMap(series -> series.points.stream()).map(Point::y)
                .flatMapToDouble(one -> DoubleStream.of(one.mean(), one.low(), one.high()))
                .filter(value -> value > 0 && Double.isFinite(value));
    }

    private static void panel(Formatter text, Panel panel, Scale y, int left, boolean first) {
        int bottom = TOP + PANEL_HEIGHT;
        text.format("<text x=\"%d\" y=\"%d\" font-weight=\"600\">%s</text>%n", left, TOP - 10,
                escape(panel.title));
        for (double tick : y.ticks()) {
            text.format("<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#dddddd\"/>%n",
                    left,
                    y.y(tick), left + PANEL_WIDTH, y.y(tick));
            if (first) {
                text.format("<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>%n", left - 8,
                        y.y(tick) + 4, number(tick));
            }
        }
        for (Tick tick : panel.ticks) {
            double x = x(panel, tick.x, left);
            text.format("<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#555555\"/>%n",
                    x,
                    bottom, x, bottom + 5);
            text.format("<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>%n", x,
                    bottom + 19,
                    escape(tick.text));
        }
        text.format("<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"#555555\"/>%n", left, TOP,
                bottom,
                left + PANEL_WIDTH);
        text.format("<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>%n",
                left + PANEL_WIDTH / 2, bottom + 40, escape(panel.xTitle));
        for (int i = 0; i < panel.series.size(); i++) {
            series(text, panel, panel.series.get(i), y, left, i);
        }
    }

    private static double x(Panel panel, double value, int left) {
        return left + PANEL_WIDTH * (value - panel.from) / (panel.to - panel.from);
    }

    private static void series(Formatter text, Panel panel, Series series, Scale y, int left,
            int number) {
        String colour = COLOURS.get(number % COLOURS.size());
        if (series.line && series.points.size() > 1) {
            var path = new StringBuilder();
            for (Point point : series.points) {
                path.append(String.format(Locale.ROOT, "%s%.1f %.1f", path.isEmpty() ? "M" : "L",
                        x(panel, point.x, left), y.y(point.y.mean())));
            }
            text.format("<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\"/>%n", path,
                    colour);
        }
        for (Point point : series.points) {
            double x = x(panel, point.x, left);
            double low = y.y(point.y.low());
            double high = y.y(point.y.high());
            text.format("<path d=\"M%.1f %.1fV%.1fM%.1f %.1fh%dM%.1f %.1fh%d\" stroke=\"%s\" "
                    + "stroke-width=\"1.4\"><title>%s: %s</title></path>%n", x, low, high,
                    x - WHISKER, low, 2 * WHISKER, x - WHISKER, high, 2 * WHISKER, colour,
                    escape(series.name), number(point.y.mean()));
            mark(text, x, y.y(point.y.mean()), colour, number);
        }
    }

    /** Draws another shape for each series, for readers of grey prints. */
    private static void mark(Formatter text, double x, double y, String colour, int number) {
        switch (number % 4) {
            case 0 ->
                text.format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>%n", x, y,
                        MARK, colour);
            case 1 -> text.format(
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>%n",
                    x - MARK, y - MARK, 2 * MARK, 2 * MARK, colour);
            case 2 -> text.format("<path d=\"M%.1f %.1fl%.1f %.1fh%.1fz\" fill=\"%s\"/>%n", x,
                    y - 1.2 * MARK, 1.2 * MARK, 2.2 * MARK, -2.4 * MARK, colour);
            default -> text.format(
                    "<path d=\"M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz\" fill=\"%s\"/>%n", x,
                    y - 1.3 * MARK, 1.3 * MARK, 1.3 * MARK, -1.3 * MARK, 1.3 * MARK, -1.3 * MARK,
                    -1.3 * MARK, colour);
        }
    }

    /** Draws the legend of the first panel's series; the others have the same, in the same order. */
    private void legend(Formatter text, int top, int width) {
        double x = LEFT;
        int y = top;
        List<Series> all = panels.getFirst().series;
        for (int i = 0; i < all.size(); i++) {
            String name = all.get(i).name;
            if (x > LEFT && x + legendWidth(name) > width) {
                x = LEFT;
                y += LEGEND_ROW;
            }
            mark(text, x + MARK, y - MARK + 0.5, COLOURS.get(i % COLOURS.size()), i);
            text.format("<text x=\"%.1f\" y=\"%d\">%s</text>%n", x + 16, y, escape(name));
            x += legendWidth(name);
        }
    }

    private int legendRows(int width) {
        int rows = 1;
        int x = LEFT;
        for (Series series : panels.getFirst().series) {
            if (x > LEFT && x + legendWidth(series.name) > width) {
                x = LEFT;
                rows++;
            }
            x += legendWidth(series.name);
        }
        return rows;
    }

    /** Near enough. */
    private static int legendWidth(String name) {
        return 40 + 7 * name.length();
    }

    private static String number(double value) {
        return value >= 10 || value == Math.rint(value)
                ? String.format(Locale.ROOT, "%,.0f", value)
                : String.format(Locale.ROOT, "%.2g", value);
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">%n", "&gt;").replace("\"",
                "&quot;");
    }
}
