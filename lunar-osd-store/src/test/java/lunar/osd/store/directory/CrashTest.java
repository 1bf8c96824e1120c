package lunar.osd.store.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process that changes a store is killed at random moments. Afterwards each partition has what was acknowledged, and
 * the step in flight entirely or not at all; nothing is left over. {@code main} takes a directory and the number of
 * kills.
 */
class CrashTest {
    private static final int KILLS = 15;

    @TempDir
    Path folder;

    @Test
    void shouldKeepWhatWasAcknowledged() throws Exception {
        long seed = Seed.next();
        run(folder.resolve("store"), seed, Integer.getInteger("lunar.osd.kills", KILLS));
    }

    public static void main(String[] arguments) throws Exception {
        long seed = Seed.next();
        System.out.println("seed " + seed);
        run(Path.of(arguments[0]), seed, Integer.parseInt(arguments[1]));
    }

    private static void run(Path store, long seed, int kills) throws Exception {
        var random = new Random(seed);
        List<PartitionModel> models = new ArrayList<>();
        for (int thread = 0; thread < CrashWriter.THREADS; thread++) {
            models.add(new PartitionModel(CrashWriter.FIRST + thread));
        }
        int steps = 0;
        // More kills where the machine is so slow that no process got to its first step.
        for (int kill = 0; kill < kills || steps == 0 && kill < 10 * kills; kill++) {
            long scripts = random.nextLong();
            boolean everyChange = random.nextInt(4) == 0;
            String what = "seed " + seed + ", kill " + kill + (everyChange ? ", stable" : "");
            int[] acknowledged = kill(store, scripts, everyChange, random, what);
            steps += Arrays.stream(acknowledged).sum();
            compare(store, models, scripts, acknowledged, what);
            if (kill % 50 == 49 || kill == kills - 1) {
                System.out.println(kill + 1 + " kills, " + steps + " steps");
            }
        }
        assertThat(steps).as("steps in all").isPositive();
    }

    /** Returns the number of steps that were acknowledged to each thread. */
    private static int[] kill(Path store, long scripts, boolean everyChange, Random random,
            String what) throws Exception {
        Process writer = CrashWriter.start(store, scripts, everyChange);
        boolean atStart = random.nextInt(8) == 0;
        InputStream output = writer.getInputStream();
        if (!atStart) {
            byte[] line = output.readNBytes("open\n".length());
            assertThat(new String(line, StandardCharsets.US_ASCII)).as(what).isEqualTo("open\n");
        }
        int millis = random.nextInt(atStart ? 2000 : 1 << random.nextInt(11));
        Thread.ofVirtual().start(() -> {
            try {
                Thread.sleep(millis);
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
            writer.toHandle().destroyForcibly(); // which leaves the output open
        });
        String rest = new String(output.readAllBytes(), StandardCharsets.US_ASCII);
        assertThat(writer.waitFor()).as(what + ": exit status").isEqualTo(128 + 9);
        int[] acknowledged = new int[CrashWriter.THREADS];
        rest.lines().filter(line -> line.matches("\\d"))
                .forEach(line -> acknowledged[Integer.parseInt(line)]++);
        return acknowledged;
    }

    private static void compare(Path folder, List<PartitionModel> models, long scripts,
            int[] acknowledged, String what) throws IOException {
        try (DirectoryObjectStore store = DirectoryObjectStore.open(folder,
                StoreOptions.CREATE)) {
            assertThat(store.check()).as(what).isEmpty();
            for (int thread = 0; thread < CrashWriter.THREADS; thread++) {
                PartitionModel model = models.get(thread);
                Random random = CrashWriter.random(scripts, thread);
                for (int i = 0; i < acknowledged[thread]; i++) {
                    ScriptStep.next(random, model).model().run();
                }
                PartitionModel found = PartitionModel.read(store, model.partition);
                compare(found, model, random, what + ", partition " + thread + ", step "
                        + acknowledged[thread]);
                models.set(thread, found);
            }
        }
        assertThat(files(folder)).as(what + ": files").hasSizeLessThanOrEqualTo(models.stream()
                .mapToInt(model -> model.objects.size()).sum());
    }

    private static List<Path> files(Path folder) throws IOException {
        try (var all = Files.walk(folder.resolve("data"))) {
            return all.filter(Files::isRegularFile).toList();
        }
    }

    private static void compare(PartitionModel found, PartitionModel acknowledged, Random random,
            String what) {
        if (found.differences(acknowledged).isEmpty()) {
            return;
        }
        PartitionModel with = acknowledged.copy();
        ScriptStep step = ScriptStep.next(random, with);
        step.model().run();
        assertThat(found.differences(acknowledged, with, step.inPlace()))
                .as(what + ", in flight: " + step.name()).isEmpty();
    }
}
