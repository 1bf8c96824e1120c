package lunar.cli.command;

import java.util.Locale;
import java.util.function.LongConsumer;
import lunar.block.Size;

/** A progress bar on a terminal; no output otherwise. */
public final class Progress implements LongConsumer, AutoCloseable {
    private static final int BAR_WIDTH = 30;
    private static final long REDRAW_NS = 100_000_000;

    private final Console console;
    private final String what;
    private final long totalBytes;
    private final boolean shown;
    private final long startNs = System.nanoTime();
    private long drawnNs = startNs - REDRAW_NS;

    public Progress(Console console, String what, long totalBytes) {
        this.console = console;
        this.what = what;
        this.totalBytes = totalBytes;
        shown = console.isTerminal();
    }

    @Override
    public void accept(long doneBytes) {
        long now = System.nanoTime();
        if (!shown || now - drawnNs < REDRAW_NS) {
            return;
        }
        drawnNs = now;
        double part = (double) doneBytes / totalBytes;
        double seconds = (now - startNs) / 1e9;
        long left = part > 0 ? Math.round(seconds / part - seconds) : 0;
        int filled = (int) (part * BAR_WIDTH);
        console.err().print(String.format(Locale.ROOT,
                "\r%s [%s%s] %3.0f%% %s %.0f MB/s, %d s left \u001b[K", what,
                "#".repeat(filled), ".".repeat(BAR_WIDTH - filled), 100 * part,
                Size.format(doneBytes), doneBytes / 1e6 / Math.max(seconds, 1e-3), left));
        console.err().flush();
    }

    /** Takes the bar away. */
    @Override
    public void close() {
        if (shown) {
            console.err().print("\r\u001b[K");
            console.err().flush();
        }
    }
}
