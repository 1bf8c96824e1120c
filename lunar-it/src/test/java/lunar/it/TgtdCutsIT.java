package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import lunar.block.Size;
import lunar.cli.Main;
import lunar.testkit.Seed;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Copies data to tgtd and back while its connections are cut every second, in the middle of PDUs. The property {@code
 * lunar.cuts.size} is the amount to copy; a thorough run takes {@code 1GiB}.
 */
class TgtdCutsIT {
    /** So that some seconds go by, however fast the machine is. */
    private static final long PACE_BYTES = 32 << 20;

    private static final long ENOUGH_BYTES = 1 << 20;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"plain, ''", "digests, ?header-digest=crc32c&data-digest=crc32c"})
    void shouldCopyAndVerifyWhileConnectionsAreCutEverySecond(String name, String options)
            throws Exception {
        long bytes = Size.parse(System.getProperty("lunar.cuts.size", "128MiB"));
        long seed = Seed.next();
        Path source = RandomImage.write(folder.resolve("source"), bytes, seed);
        try (var tgtd = Tgtd.start(folder)) {
            String tid = tgtd.addTarget(name, bytes);
            tgtd.parameter(tid, "DefaultTime2Wait", "0");
            if (!options.isEmpty()) {
                tgtd.parameter(tid, "HeaderDigest", "CRC32C");
                tgtd.parameter(tid, "DataDigest", "CRC32C");
            }
            try (var proxy = new CutProxy(tgtd.port(), PACE_BYTES)) {
                CompletableFuture<String> copy = CompletableFuture.supplyAsync(() -> lunar("copy",
                        source.toString(), "iscsi://127.0.0.1:" + proxy.port() + "/"
                                + Tgtd.name(name) + "/1" + options,
                        "--verify"));
                int cuts = cutEverySecond(proxy, new Random(seed), copy);
                assertThat(copy.get()).contains("copied " + bytes + " bytes")
                        .contains("no differences");
                assertThat(cuts).as("cuts").isPositive();
                System.err.println(bytes + " bytes, " + name + ": " + cuts + " cuts");
            }
            assertThat(Files.mismatch(source, folder.resolve(name + ".img"))).isNegative();
        }
    }

    /** In each second in which data move, so that the first login gets through. */
    private static int cutEverySecond(CutProxy proxy, Random random, CompletableFuture<?> copy)
            throws InterruptedException {
        int cuts = 0;
        long before = 0;
        while (!copy.isDone()) {
            TimeUnit.SECONDS.sleep(1);
            long now = proxy.passed();
            if (now - before > ENOUGH_BYTES) {
                cuts += proxy.cutInside(random);
                before = now;
            }
        }
        return cuts;
    }

    private static String lunar(String... args) {
        var out = new ByteArrayOutputStream();
        var err = new ByteArrayOutputStream();
        int status = Main.run(args, new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
        assertThat(status).as(err.toString(StandardCharsets.UTF_8)).isZero();
        return out.toString(StandardCharsets.UTF_8);
    }
}
