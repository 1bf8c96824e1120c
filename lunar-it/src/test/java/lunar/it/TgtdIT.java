package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.Devices;
import lunar.block.NotSupportedException;
import lunar.initiator.ChapOptions;
import lunar.initiator.Initiator;
import lunar.initiator.IscsiUri;
import lunar.initiator.LunDevice;
import lunar.initiator.Session;
import lunar.initiator.SessionOptions;
import lunar.iscsi.LoginException;
import lunar.iscsi.login.ChapAlgorithm;
import lunar.iscsi.login.ChapCredentials;
import lunar.iscsi.login.DigestChoice;
import lunar.iscsi.login.Offer;
import lunar.iscsi.login.Secret;
import lunar.iscsi.text.DiscoveredTarget;
import lunar.scsi.Lun;
import lunar.scsi.vpd.Inquiry;
import lunar.scsi.vpd.StandardInquiry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests Lunar's initiator with tgtd, a foreign target. */
class TgtdIT {
    private static final String HOST = "iqn.2026-11.org.lunar:it";
    private static final ChapCredentials READER = new ChapCredentials("reader",
            Secret.of("secret-of-reader"));
    private static final ChapCredentials WRITER = new ChapCredentials("writer",
            Secret.of("secret-of-writer"));
    private static final long SIZE = 64 << 20;
    private static final int DEPTH = 32;
    private static final long MIX = 0x9e37_79b9_7f4a_7c15L;

    @TempDir
    private static Path folder;

    private static Tgtd tgtd;
    private static Initiator initiator;

    @BeforeAll
    static void start() throws Exception {
        tgtd = Tgtd.start(folder);
        initiator = Initiator.create(HOST);
        tgtd.addTarget("plain", SIZE);
        String digests = tgtd.addTarget("digests", SIZE);
        tgtd.parameter(digests, "HeaderDigest", "CRC32C");
        tgtd.parameter(digests, "DataDigest", "CRC32C");
        String solicited = tgtd.addTarget("solicited", SIZE);
        tgtd.parameter(solicited, "ImmediateData", "No");
        tgtd.parameter(solicited, "InitialR2T", "Yes");
        String unsolicited = tgtd.addTarget("unsolicited", SIZE);
        tgtd.parameter(unsolicited, "InitialR2T", "No");
        tgtd.parameter(unsolicited, "MaxOutstandingR2T", "4");
        String small = tgtd.addTarget("small", SIZE);
        tgtd.parameter(small, "MaxRecvDataSegmentLength", "1024");
        tgtd.parameter(small, "MaxXmitDataSegmentLength", "512");
        tgtd.parameter(small, "FirstBurstLength", "1024");
        tgtd.parameter(small, "MaxBurstLength", "2048");
        account("reader");
        account("writer");
        String chap = tgtd.addTarget("chap", SIZE);
        bind(chap, "reader");
        String mutual = tgtd.addTarget("mutual", SIZE);
        bind(mutual, "reader");
        tgtd.admin("--op", "bind", "--mode", "account", "--tid", mutual, "--user", "writer",
                "--outgoing");
    }

    private static void account(String user) throws Exception {
        tgtd.admin("--op", "new", "--mode", "account", "--user", user, "--password",
                "secret-of-" + user);
    }

    private static void bind(String tid, String user) throws Exception {
        tgtd.admin("--op", "bind", "--mode", "account", "--tid", tid, "--user", user);
    }

    @AfterAll
    static void stop() {
        if (initiator != null) {
            initiator.close();
        }
        if (tgtd != null) {
            tgtd.close();
        }
    }

    private static SessionOptions at(String target) {
        return SessionOptions.of("127.0.0.1", tgtd.port(), Tgtd.name(target));
    }

    /** Tells where a word belongs, so that misplaced blocks are found. */
    private static void fill(MemorySegment buffer, long offsetBytes, long salt) {
        for (long i = 0; i < buffer.byteSize(); i += Long.BYTES) {
            buffer.set(ValueLayout.JAVA_LONG, i, (offsetBytes + i + salt) * MIX);
        }
    }

    /** Writes or verifies the whole device with so many requests in flight. */
    private static void run(BlockDevice device, int requestBytes, long salt, boolean write)
            throws Exception {
        var permits = new Semaphore(DEPTH);
        var failures = new ConcurrentLinkedQueue<Object>();
        var buffers = new ConcurrentLinkedQueue<MemorySegment>();
        for (int i = 0; i < DEPTH; i++) {
            buffers.add(Arena.ofAuto().allocate(requestBytes, 4096));
        }
        MemorySegment expected = Arena.ofAuto().allocate(requestBytes, 8);
        int blocks = requestBytes / device.blockSize();
        for (long offset = 0; offset < SIZE; offset += requestBytes) {
            assertThat(permits.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
            MemorySegment buffer = buffers.remove();
            long at = offset;
            var request = new BlockRequest();
            if (write) {
                fill(buffer, at, salt);
                request.asWrite(at / device.blockSize(), blocks, buffer, false);
            } else {
                request.asRead(at / device.blockSize(), blocks, buffer);
            }
            device.submit(request.onCompletion((_, failure) -> {
                if (failure != null) {
                    failures.add(failure);
                } else if (!write) {
                    fill(expected, at, salt); // completions run one after the other on one thread
                    if (buffer.mismatch(expected) >= 0) {
                        failures.add("wrong data behind byte " + at);
                    }
                }
                buffers.add(buffer);
                permits.release();
            }));
        }
        assertThat(permits.tryAcquire(DEPTH, 60, TimeUnit.SECONDS)).isTrue();
        assertThat(failures).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"plain, 65536", "plain, 1048576", "plain, 4096", "digests, 65536",
            "digests, 1048576", "solicited, 131072", "unsolicited, 524288", "small, 65536"})
    void shouldWriteAndVerifyAtDepth(String target, int requestBytes) throws Exception {
        Offer offer = target.equals("digests")
                ? Offer.DEFAULT.withHeaderDigest(DigestChoice.REQUIRE_CRC32C)
                        .withDataDigest(DigestChoice.REQUIRE_CRC32C)
                : Offer.DEFAULT;
        try (Session session = initiator.login(at(target).withOffer(offer));
                LunDevice device = session.open(Lun.of(1))) {
            assertThat(session.parameters().headerDigest()).isEqualTo(target.equals("digests"));
            assertThat(session.parameters().dataDigest()).isEqualTo(target.equals("digests"));
            assertThat(device.sizeBytes()).isEqualTo(SIZE);
            run(device, requestBytes, requestBytes, true);
            device.flush();
            run(device, requestBytes, requestBytes, false);
        }
    }

    @Test
    void shouldProveItselfByChap() throws Exception {
        try (Session session = initiator.login(at("chap").withChap(READER));
                LunDevice device = session.open(Lun.of(1))) {
            device.read(0, MemorySegment.ofArray(new byte[4096]));
        }
        var sha256 = ChapOptions.of(READER).withAlgorithms(List.of(ChapAlgorithm.SHA256));
        assertThatThrownBy(() -> initiator.login(at("chap").withChap(sha256)))
                .as("tgt's number 7 is SHA-1").isInstanceOf(LoginException.class)
                .hasMessageContaining("confuse sha-256 with sha-1");
        var wrong = new ChapCredentials("reader", Secret.of("not-the-secret"));
        assertThatThrownBy(() -> initiator.login(at("chap").withChap(wrong)))
                .isInstanceOf(LoginException.class).hasMessageContaining("authentication failed");
        assertThatThrownBy(() -> initiator.login(at("chap"))).isInstanceOf(LoginException.class)
                .hasMessageContaining("authentication failed");
    }

    @Test
    void shouldLetTheTargetProveItselfByMutualChap() throws Exception {
        try (Session session = initiator.login(at("mutual").withMutualChap(READER, WRITER))) {
            assertThat(session.loginResult().chapUser()).contains("writer");
            assertThat(session.luns()).contains(Lun.of(1));
        }
        var wrong = new ChapCredentials("writer", Secret.of("not-the-secret"));
        assertThatThrownBy(() -> initiator.login(at("mutual").withMutualChap(READER, wrong)))
                .isInstanceOf(LoginException.class).hasMessageContaining("authenticate itself");
    }

    @Test
    void shouldAcceptCredentialsFromAUri() throws Exception {
        Path own = Files.writeString(folder.resolve("own"), "secret-of-reader\n");
        Path theirs = Files.writeString(folder.resolve("theirs"), "secret-of-writer\n");
        String uri = "iscsi://reader@" + tgtd.portal() + "/" + Tgtd.name("mutual")
                + "/1?secret-file=" + own + "&mutual-user=writer&mutual-secret-file=" + theirs;
        try (BlockDevice device = Devices.open(uri)) {
            assertThat(device.sizeBytes()).isEqualTo(SIZE);
            assertThat(device.identity().vendor()).isEqualTo("IET");
        }
        assertThat(IscsiUri.parse(uri).toString()).doesNotContain("secret-of");
    }

    @Test
    void shouldDiscoverEveryTarget() throws Exception {
        assertThat(initiator.discover(tgtd.portal())).extracting(DiscoveredTarget::name)
                .contains(Tgtd.name("plain"), Tgtd.name("chap"), Tgtd.name("small"));
        assertThat(initiator.discover(tgtd.portal()).getFirst().addresses().getFirst().port())
                .isEqualTo(tgtd.port());
    }

    @Test
    void shouldReportMissingTargetOrDisk() throws Exception {
        assertThatThrownBy(() -> initiator.login(at("nosuch"))).isInstanceOf(LoginException.class)
                .hasMessageContaining("no such target");
        try (Session session = initiator.login(at("plain"))) {
            assertThatThrownBy(() -> session.open(Lun.ZERO))
                    .isInstanceOf(NotSupportedException.class).hasMessageContaining("LUN 0, 1");
            assertThatThrownBy(() -> session.open(Lun.of(7)))
                    .hasMessageContaining("does not exist");
        }
    }

    @Test
    void shouldPassCommandsThrough() throws Exception {
        try (Session session = initiator.login(at("plain"))) {
            MemorySegment data = MemorySegment.ofArray(new byte[96]);
            var result = session.execute(Lun.of(1), new Inquiry(false, 0, 96).bytes(), data,
                    MemorySegment.NULL);
            assertThat(result.isGood()).isTrue();
            assertThat(StandardInquiry.decode(data.asSlice(0, result.dataInBytes())).vendor())
                    .isEqualTo("IET");
        }
    }

    @Test
    void shouldSurviveATargetThatIsKilled() throws Exception {
        Path own = Files.createDirectory(folder.resolve("killed"));
        try (var mortal = Tgtd.start(own)) {
            mortal.addTarget("mortal", SIZE);
            Session session = initiator
                    .login(SessionOptions.of("127.0.0.1", mortal.port(), Tgtd.name("mortal")));
            LunDevice device = session.open(Lun.of(1));
            var reads = new ArrayList<CompletableFuture<Void>>();
            for (int i = 0; i < 200; i++) {
                reads.add(device.submitRead(i, MemorySegment.ofArray(new byte[512])));
            }
            mortal.close();
            for (var read : reads) {
                assertThat(read.handle((_, _) -> true).get(60, TimeUnit.SECONDS)).isTrue();
            }
            assertThatThrownBy(() -> device.read(0, MemorySegment.ofArray(new byte[512])))
                    .isInstanceOf(DeviceGoneException.class);
            device.close();
            session.close();
        }
    }
}
