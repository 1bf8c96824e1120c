package lunar.osd.store.directory;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A process that changes a store by random scripts until it is killed, a thread for each of some partitions. It prints
 * the number of the partition for each step that was acknowledged.
 */
final class CrashWriter {
    /** Partitions. */
    static final int THREADS = 3;
    /** The first of the partitions. */
    static final long FIRST = 0x10000;

    private CrashWriter() {}

    /** Starts one. */
    static Process start(Path store, long seed, boolean everyChange) throws IOException {
        String path = System.getProperty("surefire.test.class.path");
        return new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-ea", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path") + (path == null ? "" : ":" + path),
                CrashWriter.class.getName(), store.toString(), Long.toString(seed),
                Boolean.toString(everyChange))
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    /** The random numbers of a thread. */
    static Random random(long seed, int thread) {
        return new Random(seed * 31 + thread);
    }

    public static void main(String[] arguments) throws Exception {
        long seed = Long.parseLong(arguments[1]);
        var options = new StoreOptions(true, Boolean.parseBoolean(arguments[2]));
        // Without a buffer: a line is in the pipe when it is acknowledged.
        var output = new FileOutputStream(FileDescriptor.out);
        DirectoryObjectStore store = DirectoryObjectStore.open(Path.of(arguments[0]), options);
        List<PartitionModel> models = new ArrayList<>();
        for (int thread = 0; thread < THREADS; thread++) {
            models.add(PartitionModel.read(store, FIRST + thread));
        }
        output.write("open\n".getBytes(StandardCharsets.US_ASCII));
        for (int thread = 0; thread < THREADS; thread++) {
            int mine = thread;
            Thread.ofPlatform().start(() -> {
                try {
                    run(store, models.get(mine), random(seed, mine), output,
                            (mine + "\n").getBytes(StandardCharsets.US_ASCII));
                } catch (Exception | Error e) { // the killer must notice it
                    System.err.println("thread " + mine + ", seed " + seed + ": " + e);
                    e.printStackTrace();
                    Runtime.getRuntime().halt(3);
                }
            });
        }
    }

    private static void run(DirectoryObjectStore store, PartitionModel model, Random random,
            FileOutputStream output, byte[] line) throws IOException {
        for (;;) {
            ScriptStep step = ScriptStep.next(random, model);
            step.call().on(store);
            step.model().run();
            output.write(line);
        }
    }
}
