package lunar.cli.command;

import java.io.OutputStream;
import java.io.PrintWriter;
import lunar.cli.log.StandardError;

/**
 * Output streams of a command.
 *
 * @param out results, flushed at each line
 * @param err errors and notices, flushed at each line
 * @param raw stream below {@code out}, for binary results
 * @param real whether these are the process's standard streams, which may be a terminal
 */
public record Console(PrintWriter out, PrintWriter err, OutputStream raw, boolean real) {
    /** A console for text only. */
    public Console(PrintWriter out, PrintWriter err, boolean real) {
        this(out, err, OutputStream.nullOutputStream(), real);
    }

    /** Whether the output is a terminal: progress and colours are for people only. */

    @SuppressWarnings("SystemConsoleNull") // that of JDK 25 is null again where there is no terminal
    public boolean isTerminal() {
        var console = real ? System.console() : null;
        return console != null && console.isTerminal();
    }

    /** A remark that is no result. */
    public void remark(String line) {
        err.println((real ? StandardError.now().warningPrefix() : "") + "lunar: " + line);
    }
}
