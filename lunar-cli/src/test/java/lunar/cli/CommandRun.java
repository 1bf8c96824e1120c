package lunar.cli;

import lunar.cli.serve.Serving;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Result of a command that ran in this process, and its output. */
record CommandRun(int status, String out, String err) {

    static CommandRun of(String... args) {
        var out = new ByteArrayOutputStream();
        var err = new ByteArrayOutputStream();
        int status = Main.run(args, stream(out), stream(err));
        return new CommandRun(status, out.toString(StandardCharsets.UTF_8),
                err.toString(StandardCharsets.UTF_8));
    }

    private static PrintStream stream(ByteArrayOutputStream bytes) {
        return new PrintStream(bytes, true, StandardCharsets.UTF_8);
    }

    CommandRun succeeds() {
        assertThat(status).as(err).isZero();
        return this;
    }

    /** Asserts one line on standard error with these words, the exit status, and nothing on standard output. */
    void fails(int expected, String... words) {
        assertThat(err).as("status " + status + ", out: " + out).startsWith("lunar: ")
                .contains(words).endsWith("\n").doesNotContain("Exception");
        assertThat(err.lines()).hasSize(1);
        assertThat(out).isEmpty();
        assertThat(status).isEqualTo(expected);
    }

    /** A {@code serve} that runs until it is closed. */
    static final class Serving implements AutoCloseable {
        private final List<String> lines = new ArrayList<>();
        private final ByteArrayOutputStream err = new ByteArrayOutputStream();
        private final Thread thread;
        private volatile int status = -1;

        /** Returns when all LUNs are announced. */
        Serving(int luns, String... args) throws IOException {
            var pipe = new PipedInputStream(1 << 16);
            var out = new PrintStream(new PipedOutputStream(pipe), true, StandardCharsets.UTF_8);
            thread = Thread.ofPlatform().name("serve").start(() -> {
                status = Main.run(args, out, stream(err));
                out.close();
            });
            var reader = new BufferedReader(new InputStreamReader(pipe, StandardCharsets.UTF_8));
            while (lines.size() < luns) {
                String line = reader.readLine();
                assertThat(line).as("serve ended: " + err).isNotNull();
                lines.add(line);
            }
        }

        List<String> lines() { return lines; }

        String portal() { return lines.getFirst().replaceFirst(".* on ", ""); }

        /** The port alone. */
        String port() { return portal().replaceFirst(".*:", ""); }

        String uri(int lun) {
            return "iscsi://" + portal() + "/" + lines.getFirst().split(" ")[1] + "/" + lun;
        }

        /** Ends it, and says with what status. */
        int end() throws InterruptedException {
            thread.interrupt();
            thread.join();
            return status;
        }

        @Override
        public void close() {
            try {
                end();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted while a server ended", e);
            }
        }
    }
}
