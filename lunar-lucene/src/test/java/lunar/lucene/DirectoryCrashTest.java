package lunar.lucene;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import lunar.block.NoSpaceException;
import lunar.testkit.PowerCutDevice;
import lunar.testkit.Seed;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.IndexOutput;
import org.junit.jupiter.api.Test;

/**
 * Writes, renames, deletes and syncs files at random while the power is cut: what was synced must be complete under its
 * name, unless it was renamed or deleted since; and no file may be incomplete.
 */
class DirectoryCrashTest {
    private static final int SIZE = 4 << 20;
    private static final int RUNS = 120;

    /** Contents by name, as a program sees them; and as they were at the last commit. */
    private final Map<String, Long> files = new TreeMap<>();
    private Map<String, Long> durable = new TreeMap<>();
    /** Every table of names there has been since the last commit: one that was in progress may have counted. */
    private final List<Map<String, Long>> since = new ArrayList<>();
    /** Length and seed of each content. */
    private final Map<Long, Integer> lengths = new HashMap<>();

    @Test
    void shouldKeepSyncedDataAfterAPowerCut() throws Exception {
        long seed = Seed.next();
        for (int run = 0; run < RUNS; run++) {
            run(seed + run);
        }
    }

    private void run(long seed) throws IOException {
        var random = new Random(seed);
        files.clear();
        durable = new TreeMap<>();
        since.clear();
        var blank = PowerCutDevice.create(SIZE, random);
        LunarDirectory.format(blank);
        PowerCutDevice device = blank.afterCut(random.nextInt(400));
        blank.close();
        LunarDirectory directory = null;
        try {
            directory = LunarDirectory.open(device);
            for (int step = 0; step < 300; step++) {
                step(directory, random);
            }
        } catch (IOException | AlreadyClosedException e) {
            if (!device.isCut()) {
                throw new AssertionError("seed " + seed, e);
            }
        } finally {
            try {
                if (directory != null) {
                    directory.close();
                }
            } catch (IOException _) {
                // its power is off
            }
        }
        PowerCutDevice after = device.afterCut(Long.MAX_VALUE);
        device.close();
        try (var recovered = LunarDirectory.open(after)) {
            verify(recovered, "seed " + seed);
        }
        after.close();
    }

    private void step(LunarDirectory directory, Random random) throws IOException {
        List<String> names = new ArrayList<>(files.keySet());
        String some = names.isEmpty() ? "" : names.get(random.nextInt(names.size()));
        switch (random.nextInt(names.isEmpty() ? 1 : 6)) {
            case 0, 1, 2 -> {
                String name = "f" + random.nextInt(1_000_000);
                if (!files.containsKey(name)) {
                    long content = random.nextLong();
                    int length = random.nextInt(random.nextBoolean() ? 200_000 : 3000);
                    lengths.put(content, length);
                    try (IndexOutput out = directory.createOutput(name, IOContext.DEFAULT)) {
                        out.writeBytes(bytes(content, length), length);
                        files.put(name, content); // closing it may commit others, where space is short
                        since.add(new TreeMap<>(files));
                    } catch (NoSpaceException _) {
                        files.remove(name);
                        directory.deleteFile(name);
                        String victim = names.getFirst();
                        directory.deleteFile(victim);
                        files.remove(victim);
                    }
                }
            }
            case 3 -> {
                directory.deleteFile(some);
                files.remove(some);
            }
            case 4 -> {
                String to = "r" + random.nextInt(1_000_000);
                if (!files.containsKey(to)) {
                    directory.rename(some, to);
                    files.put(to, files.remove(some));
                }
            }
            default -> {
                since.add(new TreeMap<>(files));
                directory.sync(List.of(some));
                durable = new TreeMap<>(files);
                since.clear();
            }
        }
        since.add(new TreeMap<>(files));
    }

    private void verify(LunarDirectory directory, String what) throws IOException {
        Map<String, Integer> wrong = new TreeMap<>();
        Map<String, Long> expected = null;
        List<String> names = List.of(directory.listAll());
        since.add(durable);
        for (Map<String, Long> each : since) {
            if (names.equals(List.copyOf(each.keySet()))) {
                expected = each;
            }
        }
        assertThat(expected).as(what + ": files there were at one time, since the last commit")
                .isNotNull();
        for (String name : names) {
            long content = expected.get(name);
            byte[] bytes = bytes(content, lengths.get(content));
            try (IndexInput in = directory.openInput(name, IOContext.DEFAULT)) {
                byte[] found = new byte[(int) in.length()];
                in.readBytes(found, 0, found.length);
                int differs = Arrays.mismatch(found, bytes);
                if (differs >= 0) {
                    wrong.put(name, differs);
                }
            }
        }
        assertThat(wrong).as(what).isEmpty();
    }

    private static byte[] bytes(long content, int length) {
        byte[] bytes = new byte[length];
        new Random(content).nextBytes(bytes);
        return bytes;
    }
}
