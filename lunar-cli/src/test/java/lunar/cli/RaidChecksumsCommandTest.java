package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;
import lunar.testkit.Seed;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Tests {@code lunar raid create --checksums}: silent corruption of any member is detected and repaired. */
class RaidChecksumsCommandTest {
    /** Where a superblock says where the data begin: docs/raid-format.md, "Superblock". */
    private static final int DATA_AT = 128;
    private static final int CHUNK_BYTES = 16 << 10;
    private static final int ROT_BYTES = 4096;

    private final long seed = Seed.next();
    private final Random random = new Random(seed);

    @TempDir
    Path temporary;

    private RaidFolder raid;
    private byte[] content = new byte[1 << 20];

    @BeforeEach
    void name() { raid = new RaidFolder(temporary); }

    private void createAndFill(String volume, int members, String... more) throws Exception {
        raid.create(volume, members, more);
        random.nextBytes(content);
        Path image = Files.write(raid.path("image"), content);
        raid.run("copy", image.toString(), volume).succeeds();
    }

    private byte[] read(String volume) throws Exception {
        raid.run("copy", volume, raid.path("back").toString()).succeeds();
        return Arrays.copyOf(Files.readAllBytes(raid.path("back")), content.length);
    }

    private void assertContent(String volume) throws Exception {
        assertThat(Arrays.mismatch(read(volume), content)).as("seed " + seed).isEqualTo(-1);
    }

    /** The member's part of a stripe becomes something else. */
    private void rot(int slot, long stripe) throws Exception {
        byte[] rubbish = new byte[ROT_BYTES];
        random.nextBytes(rubbish);
        try (var file = new RandomAccessFile(raid.path("m" + slot).toFile(), "rw")) {
            file.seek(DATA_AT);
            file.seek(file.readLong() + stripe * CHUNK_BYTES);
            file.write(rubbish);
        }
    }

    private byte[] data(int slot) throws Exception {
        try (var file = new RandomAccessFile(raid.path("m" + slot).toFile(), "r")) {
            file.seek(DATA_AT);
            file.seek(file.readLong());
            byte[] data = new byte[(int) (file.length() - file.getFilePointer())];
            file.readFully(data);
            return data;
        }
    }

    @ParameterizedTest
    @CsvSource({"raid1:vol, 2", "raid5:vol, 3"})
    void shouldRepairTheWrongCopy(String volume, int members) throws Exception {
        createAndFill(volume, members, "--checksums", "--chunk", "16k");
        assertThat(raid.status(volume).path("checksums").asBoolean(false)).isTrue();
        assertThat(raid.raid("status", volume).succeeds().out()).contains("  checksums  clean");
        for (int slot = 0; slot < members; slot++) { // of one stripe, so data and parity have their turn
            byte[] before = data(slot);
            rot(slot, 0);
            JsonNode status = RaidFolder.json(slot % 2 == 0
                    ? raid.raid("scrub", volume, "--json")
                    : raid.raid("scrub", volume, "--repair", "--json"));
            String what = "seed " + seed + ": " + status;
            assertThat(status.path("lastScrub").path("repairs").asInt(0)).as(what).isPositive();
            assertThat(status.path("lastScrub").path("mismatches").asInt(-1)).as(what).isZero();
            for (int other = 0; other < members; other++) {
                int repairs = status.path("slots").path(other).path("repairs").asInt(0);
                assertThat(repairs > 0).as(what).isEqualTo(other == slot);
            }
            assertThat(Arrays.mismatch(data(slot), before)).as(what).isEqualTo(-1);
        }
        assertThat(raid.raid("scrub", volume).succeeds().out()).contains("no differences")
                .doesNotContain("repaired");
        assertContent(volume);
    }

    @Test
    void shouldReadWhatIsRightWhereReadsAreCompared() throws Exception {
        createAndFill("raid5:vol", 3, "--checksums", "--chunk", "16k");
        rot(0, 0); // D0 of the first stripe
        assertThat(Arrays.mismatch(read("raid5:vol"), content)).as("compared with nothing")
                .isBetween(0, ROT_BYTES - 1);
        assertContent("raid5:vol?verify-reads=yes");
        assertContent("raid5:vol"); // it was written back
        rot(1, 0);
        Files.writeString(raid.config(), "verify-reads = \"yes\"\n", StandardOpenOption.APPEND);
        assertContent("raid5:vol");
        assertContent("raid5:vol?verify-reads=no");
        raid.run("info", "raid5:vol?verify-reads=perhaps").fails(1, "is not one of no, yes");
    }

    @Test
    void shouldFailToReadUncachedBlocks() throws Exception {
        createAndFill("raid1:vol", 2, "--checksums");
        rot(0, 0);
        rot(1, 0);
        raid.run("copy", "raid1:vol?verify-reads=yes", raid.path("back").toString()).fails(1,
                "cannot be read");
        JsonNode status = RaidFolder.json(raid.raid("status", "raid1:vol", "--json"));
        assertThat(status.path("state").asString("")).as("no member is given up for it")
                .isEqualTo("clean");
        CommandRun scrub = raid.raid("scrub", "raid1:vol");
        assertThat(scrub.status()).as(scrub.out()).isEqualTo(1);
    }

    @Test
    void shouldNotKnowWithoutChecksums() throws Exception {
        createAndFill("raid5:vol", 3, "--chunk", "16k");
        rot(0, 0);
        CommandRun scrub = raid.raid("scrub", "raid5:vol");
        assertThat(scrub.out()).contains("1 differ");
        assertThat(scrub.status()).isEqualTo(1);
        assertThat(Arrays.mismatch(read("raid5:vol?verify-reads=yes"), content))
                .isBetween(0, ROT_BYTES - 1);
    }
}
