package lunar.bench.objects;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.JavaCommand;
import lunar.bench.harness.ServerProbe;

/** A {@link StoreProcess} from outside; closing it kills the process. */
final class StoreRun implements AutoCloseable {
    private final Process process;
    private final BufferedReader lines;
    private final ServerProbe probe;
    private final Map<String, Double> figures = new HashMap<>();

    private StoreRun(Process process, Path log) {
        this.process = process;
        this.probe = new ServerProbe(process.pid(), log.resolveSibling(""));
        this.lines = process.inputReader(StandardCharsets.UTF_8);
    }

    /** @param heap most bytes of the heap, as {@code -Xmx} takes them */
    static StoreRun start(String heap, Path log, String... args) throws BenchException {
        try {
            return new StoreRun(new ProcessBuilder(
                    JavaCommand.of(List.of("-Xmx" + heap), StoreProcess.class, args))
                    .redirectError(log.toFile()).start(), log);
        } catch (IOException e) {
            throw new BenchException("a store does not start: " + e.getMessage(), e);
        }
    }

    /** Reads the next line; false if the work has ended. */
    boolean next() throws BenchException, IOException {
        String line = lines.readLine();
        if (line == null) {
            throw new BenchException("the process of the store has ended, see its log");
        }
        String[] words = line.split(" ", 2);
        figures.put(words[0], Double.parseDouble(words[1]));
        return !words[0].equals("ended");
    }

    /** Returns a figure that was printed; 0 if it was not yet. */
    double figure(String word) {
        return figures.getOrDefault(word, 0.0);
    }

    /** Observes the process. */
    ServerProbe probe() { return probe; }

    /** Kills the process, as {@code kill -9} does. */
    @Override
    public void close() {
        process.toHandle().destroyForcibly();
        process.onExit().join();
    }
}
