package lunar.bench.load;

import lunar.bench.harness.BenchException;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import tools.jackson.databind.json.JsonMapper;

/**
 * Process of a client: executes each {@link LoadOrder}, one per input line, and writes a {@link LoadResult}. The
 * process persists, so that its code is compiled when it is measured, like that of a long-running initiator; it ends
 * with its standard input, so that it does not outlive a killed benchmark.
 */
public final class LoadAgent {
    private LoadAgent() {}

    /** Which client: {@code lunar}, {@code libiscsi} or {@code model}. */
    public static void main(String[] args) throws IOException, InterruptedException {
        Load load = switch (args[0]) {
            case "lunar" -> new LunarLoad();
            case "libiscsi" -> new LibiscsiLoad();
            case "model" -> new ModelLoad();
            default -> throw new IllegalArgumentException("not a client: " + args[0]);
        };
        var json = new JsonMapper();
        var out = new PrintStream(new FileOutputStream(FileDescriptor.out), true,
                StandardCharsets.UTF_8);
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(json.writeValueAsString(
                    answer(load, json.readValue(line, LoadOrder.class))));
        }
        System.exit(0); // whatever threads an initiator has
    }

    private static LoadResult answer(Load load, LoadOrder order) throws InterruptedException {
        try {
            return load.run(order);
        } catch (BenchException | IOException e) {
            return LoadResult.failed(String.valueOf(e.getMessage()));
        }
    }
}
