package lunar.cli.command;

import java.util.Locale;
import java.util.function.LongConsumer;
import lunar.block.Size;

/** Progress of work on bytes, as a bar on a terminal; no output otherwise. */
public final class Progress implements LongConsumer, AutoCloseable {
    private final ProgressBar bar;
    private final String what;
    private final long totalBytes;
    private final long startNs = System.nanoTime();

    public Progress(Console console, String what, long totalBytes) {
        bar = new ProgressBar(console);
        this.what = what;
        this.totalBytes = totalBytes;
    }

    @Override
    public void accept(long doneBytes) {
        if (!bar.isDue()) {
            return;
        }
        double part = (double) doneBytes / totalBytes;
        double seconds = (System.nanoTime() - startNs) / 1e9;
        long left = part > 0 ? Math.round(seconds / part - seconds) : 0;
        bar.draw(what, part, String.format(Locale.ROOT, "%s %.0f MB/s, %d s left",
                Size.format(doneBytes), doneBytes / 1e6 / Math.max(seconds, 1e-3), left));
    }

    /** Removes the bar. */
    @Override
    public void close() { bar.close(); }
}
