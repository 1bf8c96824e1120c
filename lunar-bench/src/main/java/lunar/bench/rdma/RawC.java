package lunar.bench.rdma;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import lunar.bench.harness.BenchException;
import lunar.bench.harness.Cores;
import lunar.bench.harness.Processes;

/** Compiles and runs {@code javia.c}, a C program with the loop of {@link lunar.rdma.probe.Probe}. */
final class RawC {
    /** Name of this contender in the results. */
    static final String NAME = "raw C";

    private static final int COMPILE_SECONDS = 60;
    private static final int RUN_SECONDS = 120;
    private static final int END_SECONDS = 10;

    private final Path program;
    private final Path log;

    private RawC(Path program, Path log) {
        this.program = program;
        this.log = log;
    }

    /** Compiles the program; empty if the compiler or the headers of libfabric are missing. */
    static Optional<RawC> compile(Path directory) throws IOException, InterruptedException {
        Path source = directory.resolve("javia.c");
        try (InputStream in = Objects
                .requireNonNull(RawC.class.getResourceAsStream("javia.c"), "javia.c")) {
            Files.write(source, in.readAllBytes());
        }
        Path program = directory.resolve("javia");
        Path log = directory.resolve("javia.log");
        try {
            String _ = Processes.run(log, COMPILE_SECONDS, List.of("cc", "-O2", "-o",
                    program.toString(), source.toString(), "-lfabric"));
            return Optional.of(new RawC(program, log));
        } catch (BenchException _) {
            return Optional.empty();
        }
    }

    /** Measures the time for a number of messages between two processes in nanoseconds, after a tenth as many. */
    long measure(String provider, Mode mode, int messageBytes, int count)
            throws BenchException, IOException, InterruptedException {
        Process server = new ProcessBuilder("taskset", "-c", Cores.last(), program.toString(),
                provider, "serve", mode.text(),
                Integer.toString(messageBytes)).redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            String port = new BufferedReader(
                    new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8))
                    .readLine();
            if (port == null) {
                throw new BenchException("javia.c does not serve over " + provider);
            }
            return Long.parseLong(Processes.run(log, RUN_SECONDS,
                    List.of("taskset", "-c", Cores.first(), program.toString(), provider, "run",
                            mode.text(),
                            Integer.toString(messageBytes), port,
                            Integer.toString(count / 10 + 1), Integer.toString(count)))
                    .strip());
        } finally {
            if (!server.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                server.destroyForcibly();
            }
        }
    }
}
