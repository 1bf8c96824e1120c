package lunar.cli.command;

import java.util.Locale;

/** A bar in the last line of a terminal; no output otherwise. Not thread-safe. */
public final class ProgressBar implements AutoCloseable {
    private static final int WIDTH = 30;
    private static final long REDRAW_NS = 100_000_000;

    private final Console console;
    private final boolean shown;
    private long drawnNs = System.nanoTime() - REDRAW_NS;

    public ProgressBar(Console console) {
        this.console = console;
        shown = console.isTerminal();
    }

    /** Whether it is time to draw the bar again. */
    public boolean isDue() {
        return shown && System.nanoTime() - drawnNs >= REDRAW_NS;
    }

    /**
     * Draws the bar.
     *
     * @param part how much is done, 0 to 1
     * @param rest text behind the bar
     */
    public void draw(String what, double part, String rest) {
        drawnNs = System.nanoTime();
        int filled = (int) (part * WIDTH);
        console.err().print(String.format(Locale.ROOT, "\r%s [%s%s] %3.0f%% %s \u001b[K", what,
                "#".repeat(filled), ".".repeat(WIDTH - filled), 100 * part, rest));
        console.err().flush();
    }

    /** Removes the bar. */
    @Override
    public void close() {
        if (shown) {
            console.err().print("\r\u001b[K");
            console.err().flush();
        }
    }
}
