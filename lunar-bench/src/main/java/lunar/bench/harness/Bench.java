package lunar.bench.harness;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** Runs a benchmark: prints its results to the terminal, and ends with status 1 on failure. */
public final class Bench {
    private Bench() {}

    /** Runs a bench with its arguments. */
    @FunctionalInterface
    public interface Program {
        void run(String[] args, PrintStream out)
                throws BenchException, IOException, InterruptedException;
    }

    public static void main(String name, String[] args, Program program)
            throws InterruptedException {
        var out = new PrintStream(new FileOutputStream(FileDescriptor.out), true,
                StandardCharsets.UTF_8);
        try {
            program.run(args, out);
        } catch (BenchException | IOException e) {
            out.println(name + ": " + e.getMessage());
            System.exit(1);
        }
    }
}
