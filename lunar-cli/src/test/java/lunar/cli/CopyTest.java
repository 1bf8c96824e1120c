package lunar.cli;

import lunar.cli.command.Failure;
import lunar.cli.config.OpenDevices;
import lunar.cli.copy.DeviceComparison;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CopyTest {
    @TempDir
    Path folder;

    /** Noise with runs of zeroes, and holes. */
    private Path image(String name, int bytes, long seed) throws IOException {
        Path file = folder.resolve(name);
        var random = new Random(seed);
        try (var out = new RandomAccessFile(file.toFile(), "rw")) {
            out.setLength(bytes);
            for (int at = 0; at < bytes;) {
                int length = Math.min(bytes - at, 512 * (1 + random.nextInt(400)));
                if (random.nextBoolean()) {
                    byte[] noise = new byte[length];
                    if (random.nextBoolean()) {
                        random.nextBytes(noise);
                    }
                    out.seek(at);
                    out.write(noise);
                }
                at += length;
            }
        }
        return file;
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "--no-sparse", "--block-size 4k --qd 64",
            "--block-size 64KiB --qd 1"})
    void shouldCopyEveryByteToALunAndBack(String options) throws Exception {
        long seed = Seed.next();
        Path source = image("source.img", (5 << 20) + 4096, seed);
        Path back = folder.resolve("back.img");
        try (var serving = new CommandRun.Serving(2, "serve", "--portal", "127.0.0.1:0",
                "ram:8MiB", "ram:" + ((5 << 20) + 4096) + "?block-size=4k")) {
            for (int lun = 0; lun < 2; lun++) {
                run("copy " + image("noise.img", 5 << 20, seed + 1) + " " + serving.uri(lun));
                assertThat(run("copy " + source + " " + serving.uri(lun) + " --verify " + options)
                        .out())
                        .contains("copied 5246976 bytes", "MB/s", "verified", "no differences");
                run("copy " + serving.uri(lun) + " " + back + " --verify " + options);
                byte[] expected = Files.readAllBytes(source);
                assertThat(java.util.Arrays.copyOf(Files.readAllBytes(back), expected.length))
                        .as("seed " + seed).isEqualTo(expected);
                Files.delete(back);
            }
        }
    }

    private static CommandRun run(String line) {
        return CommandRun.of(line.strip().split(" +")).succeeds();
    }

    @Test
    void shouldZeroOldContent() throws Exception {
        Path noise = folder.resolve("noise.img");
        byte[] bytes = new byte[4 << 20];
        new Random(1).nextBytes(bytes);
        Files.write(noise, bytes);
        Path zeroes = folder.resolve("zeroes.img");
        try (var file = new RandomAccessFile(zeroes.toFile(), "rw")) {
            file.setLength(3 << 20);
        }
        assertThat(run("copy " + zeroes + " " + noise + " --verify").out())
                .contains("3 MiB of it zeroes");
        byte[] expected = bytes.clone();
        java.util.Arrays.fill(expected, 0, 3 << 20, (byte) 0);
        assertThat(Files.readAllBytes(noise)).isEqualTo(expected);
    }

    @Test
    void shouldWriteJson() throws Exception {
        Path source = image("source.img", 1 << 20, Seed.next());
        CommandRun run = CommandRun.of("copy", source.toString(), folder.resolve("new.img")
                .toString(), "--verify", "--json").succeeds();
        var json = new tools.jackson.databind.json.JsonMapper().readTree(run.out());
        assertThat(json.get("bytes").asLong()).isEqualTo(1 << 20);
        assertThat(json.get("zeroBytes").asLong()).isBetween(0L, 1L << 20);
        assertThat(json.get("seconds").asDouble()).isPositive();
        assertThat(json.get("verified").asBoolean()).isTrue();
    }

    @Test
    void shouldCreateTheFileItCopiesTo() throws Exception {
        Path source = image("source.img", 1 << 20, 7);
        Path copy = folder.resolve("copy.img");
        run("copy " + source + " " + copy);
        assertThat(copy).hasSameBinaryContentAs(source);
        Path empty = Files.createFile(folder.resolve("empty.img"));
        run("copy file:" + source + " file:" + empty);
        assertThat(empty).hasSameBinaryContentAs(source);
    }

    @Test
    void shouldRejectASmallerDestinationBeforeItWrites() throws Exception {
        Path source = image("source.img", 2 << 20, 7);
        Path small = Files.write(folder.resolve("small.img"), new byte[1 << 20]);
        CommandRun.of("copy", source.toString(), small.toString()).fails(1, "less than",
                "larger");
        assertThat(Files.readAllBytes(small)).containsOnly(0);
    }

    @Test
    void shouldRejectPartialBlocks() throws Exception {
        Path source = image("source.img", (1 << 20) + 512, 7);
        CommandRun.of("copy", source.toString(), "ram:2MiB?block-size=4k").fails(1, "4096");
        Path odd = Files.write(folder.resolve("odd.img"), new byte[1000]);
        CommandRun.of("copy", odd.toString(), "ram:2MiB").fails(1, "1000", "512");
    }

    @Test
    void shouldRejectToCopyAFileToItself() throws Exception {
        Path source = image("source.img", 1 << 20, 7);
        CommandRun.of("copy", source.toString(), "file:" + source).fails(1, "both");
    }

    @Test
    void shouldFindADifference() throws Exception {
        Path source = image("source.img", 1 << 20, 7);
        Path copy = folder.resolve("copy.img");
        run("copy " + source + " " + copy);
        try (var file = new RandomAccessFile(copy.toFile(), "rw")) {
            file.seek(777_777);
            int before = file.read();
            file.seek(777_777);
            file.write(before + 1);
        }
        try (var devices = new OpenDevices()) {
            var comparison = new DeviceComparison(devices.open("file:" + source),
                    devices.open("file:" + copy), 4, 64 << 10, _ -> {});
            org.assertj.core.api.Assertions.assertThatThrownBy(comparison::run)
                    .isInstanceOf(Failure.class).hasMessageContaining("byte 777777");
        }
    }

    @Test
    void shouldReportAFailureOfTheSource() throws Exception {
        Path copy = folder.resolve("copy.img");
        CommandRun.of("copy", "--no-sparse", "fault=1,op=read:ram:4MiB", copy.toString()).fails(1,
                "READ");
        assertThat(copy).doesNotExist();
    }
}
