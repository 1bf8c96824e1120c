package lunar.cli;

import java.io.PrintWriter;

/**
 * Where a command writes.
 *
 * @param out results, flushed at each line
 * @param err errors and remarks, flushed at each line
 * @param real whether these are the process's own streams, which may be a terminal
 */
record Console(PrintWriter out, PrintWriter err, boolean real) {

    /** Whether somebody watches: progress and colours are for them only. */
    boolean isTerminal() {
        if (!real) {
            return false;
        }
        var console = System.console();
        return console != null && console.isTerminal();
    }

    /** A remark that is no result. */
    void remark(String line) { err.println("lunar: " + line); }
}
