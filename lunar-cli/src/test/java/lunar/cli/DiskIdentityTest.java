package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import lunar.block.Identity;
import lunar.cli.CommandRun.Serving;
import lunar.initiator.Initiator;
import lunar.initiator.ScsiResult;
import lunar.initiator.Session;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import lunar.scsi.reservation.PersistentReserveOut;
import lunar.scsi.reservation.ReservationKeys;
import lunar.scsi.reservation.ReservationType;
import lunar.scsi.reservation.ReserveOutParameters;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/** Tests that each image is one disk to hosts, and that images are never confused, whatever their paths. */
class DiskIdentityTest {
    private static final long KEY = 0x1122334455667788L;
    private static final byte[] READ_KEYS = HexFormat.of().parseHex("5e00000000000000ff00");

    @TempDir
    Path folder;
    private Path image;

    @BeforeEach
    void name() { image = folder.resolve("disk.img"); }

    private String[] at(String options, String state) {
        return new String[]{"file:" + image + options, "--portal", "127.0.0.1:0", "--state",
                folder.resolve(state).toString()};
    }

    /** The UUID that hosts see, as the serial number of the disk. */
    private static String uuid(String uri) {
        return new JsonMapper().readTree(CommandRun.of("info", uri, "--json").succeeds().out())
                .get("serial").asString().replaceFirst("(.{8})(.{4})(.{4})(.{4})(.{12})",
                        "$1-$2-$3-$4-$5");
    }

    /** Returns the identity of LUN 0 of a server on these devices. */
    private String served(String... args) throws Exception {
        var server = new ServingProcess(folder, args);
        try {
            return uuid(server.uri());
        } finally {
            server.kill();
        }
    }

    private static void cp(String... args) throws IOException, InterruptedException {
        var command = new java.util.ArrayList<>(List.of("cp"));
        command.addAll(List.of(args));
        Process process = new ProcessBuilder(command).inheritIO().start();
        assertThat(process.waitFor()).isZero();
    }

    @Test
    void shouldDifferWhereTwoHostsServeTheSamePath() throws Exception {
        assumeTrue(canMount(), "no mount namespaces here");
        Path mounted = Files.createDirectory(folder.resolve("mounted"));
        String uri = "file:" + mounted.resolve("disk.img") + "?size=1MiB";
        ServingProcess[] hosts = new ServingProcess[2];
        try {
            for (int i = 0; i < 2; i++) {
                Path own = Files.createDirectory(folder.resolve("host" + i));
                hosts[i] = new ServingProcess(own,
                        List.of("unshare", "-m", "sh", "-c", "mount --bind \"$0\" \"$1\" && shift"
                                + " && exec \"$@\"", own.toString(), mounted.toString()),
                        uri, "--portal", "127.0.0.1:0", "--state", own.resolve("state").toString());
            }
            assertThat(uuid(hosts[0].uri())).isNotEqualTo(uuid(hosts[1].uri()));
        } finally {
            for (ServingProcess host : hosts) {
                if (host != null) {
                    host.kill();
                }
            }
        }
    }

    private static boolean canMount() throws InterruptedException {
        try {
            Process probe = new ProcessBuilder("unshare", "-m", "mount", "--bind", "/tmp", "/tmp")
                    .start();
            return probe.waitFor(120, TimeUnit.SECONDS) && probe.exitValue() == 0;
        } catch (IOException _) {
            return false;
        }
    }

    @Test
    void shouldIdentifyAnImageButNotItsCopies() throws Exception {
        String original = served(at("?size=1MiB", "state"));
        Path copy = folder.resolve("copy.img");
        cp("-a", image.toString(), copy.toString());
        Path moved = Files.move(image, folder.resolve("moved.img"));
        try (var serving = new Serving(2, "serve", "file:" + moved, "file:" + copy, "--portal",
                "127.0.0.1:0", "--state", folder.resolve("state").toString())) {
            assertThat(uuid(serving.uri(0))).isEqualTo(original);
            assertThat(uuid(serving.uri(1))).isNotEqualTo(original);
        }
        CommandRun.of("serve", "file:" + moved, "file:" + copy + "?identity=" + original,
                "--portal", "127.0.0.1:0").fails(1, original, "one is a copy");
    }

    @Test
    void shouldServeOneFileAsOneUnit() throws Exception {
        Files.write(image, new byte[1 << 20]);
        String uri = "file:" + image + "?read-only=true";
        CommandRun.of("serve", uri, "cache=1MiB:" + uri, "--portal", "127.0.0.1:0").fails(1,
                "already in use by this process");
    }

    @Test
    void shouldNotApplyReservationsToAnotherDisk() throws Exception {
        var first = new ServingProcess(folder, at("?size=1MiB", "state"));
        String before;
        try (var initiator = Initiator.create("iqn.2026-11.org.lunar:one");
                Session session = initiator.login(first.uri())) {
            before = uuid(first.uri());
            register(session);
            assertThat(keys(session)).containsExactly(KEY);
        } finally {
            first.kill();
        }
        Path kept = Files.move(image, folder.resolve("kept.img"));
        Files.write(image, new byte[1 << 20]);
        var second = new ServingProcess(folder, at("", "state"));
        try (var initiator = Initiator.create("iqn.2026-11.org.lunar:two");
                Session session = initiator.login(second.uri())) {
            assertThat(keys(session)).isEmpty();
            second.awaitErr("a different disk than the one");
            assertThat(second.err()).contains("a different disk than the one",
                    "?identity=" + before);
        } finally {
            second.kill();
        }
        var third = new ServingProcess(folder, "file:" + kept, "--portal", "127.0.0.1:0", "--state",
                folder.resolve("state").toString());
        try (var initiator = Initiator.create("iqn.2026-11.org.lunar:three");
                Session session = initiator.login(third.uri())) {
            assertThat(keys(session)).as("they are where the disk is").containsExactly(KEY);
        } finally {
            third.kill();
        }
    }

    private static void register(Session session) throws IOException {
        var registration = new ReserveOutParameters(0, KEY, false, false, true, List.of());
        good(session, new PersistentReserveOut(PersistentReserveOut.REGISTER, 0, 0, 24).bytes(),
                MemorySegment.NULL, MemorySegment.ofArray(registration.bytes()));
        good(session, new PersistentReserveOut(PersistentReserveOut.RESERVE, 0,
                ReservationType.EXCLUSIVE_ACCESS.code(), 24).bytes(), MemorySegment.NULL,
                MemorySegment.ofArray(ReserveOutParameters.of(KEY, 0).bytes()));
    }

    private static List<Long> keys(Session session) throws IOException {
        MemorySegment room = MemorySegment.ofArray(new byte[255]);
        good(session, READ_KEYS, room, MemorySegment.NULL);
        return ReservationKeys.decode(
                MemorySegment.ofArray(room.toArray(ValueLayout.JAVA_BYTE))).keys();
    }

    private static void good(Session session, byte[] cdb, MemorySegment in, MemorySegment out)
            throws IOException {
        ScsiResult result = session.execute(Lun.ZERO, cdb, in, out);
        if (result.status() == Status.CHECK_CONDITION.code()) { // the unit attention of a new nexus
            result = session.execute(Lun.ZERO, cdb, in, out);
        }
        assertThat(result.isGood()).as("%s", result).isTrue();
    }

    @Test
    void shouldNotMakeABlankDiskWhereOneWasServed() throws Exception {
        String before = served(at("?size=1MiB", "state"));
        Path unmounted = Files.move(image, folder.resolve("unmounted.img"));
        assertThat(ServingProcess.refused(at("?size=1MiB", "state"))).contains("does not exist",
                before, "mount", "create=yes");
        assertThat(image).doesNotExist();
        Files.createFile(image);
        assertThat(ServingProcess.refused(at("?size=1MiB", "state"))).contains("is empty", before);
        Files.move(unmounted, image, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        assertThat(served(at("?size=1MiB", "state"))).isEqualTo(before);
        Files.delete(image);
        assertThat(served(at("?size=1MiB&create=yes", "state"))).isNotEqualTo(before);
    }

    @Test
    void shouldKeepIdentityOfEarlierVersion() throws Exception {
        Files.write(image, new byte[1 << 20]);
        String known = Identity.uuidOf("file:" + image.toRealPath()).toString();
        Files.createDirectories(folder.resolve("state").resolve(known));
        assertThat(served(at("", "state"))).isEqualTo(known);
        Files.move(image, folder.resolve("moved.img"));
        Files.write(image, new byte[1 << 20]);
        assertThat(served(at("", "state"))).as("another image").isNotEqualTo(known);
        Path moved = folder.resolve("moved.img");
        assertThat(served("file:" + moved, "--portal", "127.0.0.1:0")).isEqualTo(known);
        Path other = Files.write(folder.resolve("other.img"), new byte[1 << 20]);
        assertThat(served("file:" + other + "?identity=path", "--portal", "127.0.0.1:0"))
                .as("by the word of the operator")
                .isEqualTo(Identity.uuidOf("file:" + other.toRealPath()).toString());
        assertThat(served("file:" + other, "--portal", "127.0.0.1:0")).as("said once")
                .isEqualTo(Identity.uuidOf("file:" + other.toRealPath()).toString());
    }

    @Test
    void shouldHaveANewIdentityInMemoryAtEachStart() throws Exception {
        String[] args = {"ram:1MiB", "--portal", "127.0.0.1:0", "--state",
                folder.resolve("state").toString()};
        assertThat(served(args)).isNotEqualTo(served(args));
    }
}
