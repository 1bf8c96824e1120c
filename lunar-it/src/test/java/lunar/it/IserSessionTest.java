package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import lunar.block.BlockDevice;
import lunar.initiator.Exchange;
import lunar.initiator.Initiator;
import lunar.initiator.InitiatorOptions;
import lunar.initiator.ScsiResult;
import lunar.initiator.Session;
import lunar.initiator.SessionOptions;
import lunar.iscsi.LoginException;
import lunar.iscsi.login.DigestChoice;
import lunar.iscsi.login.Offer;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.iscsi.pdu.TaskManagementResponseCode;
import lunar.iscsi.spi.Transports;
import lunar.iscsi.text.DiscoveredTarget;
import lunar.scsi.Bytes;
import lunar.scsi.Lun;
import lunar.target.PortalSpec;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;
import lunar.testkit.Seed;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tests sessions over iSER: login, discovery, data, several connections, reset. */
class IserSessionTest {
    private static final int BLOCK = 512;
    private static final int TCP = 0;
    private static final int ISER = 1;

    @BeforeAll
    static void requireDevice() { RdmaDevices.require(); }

    private static ServedTarget served(UnaryOperator<TargetServer.Builder> changes, String... uris)
            throws IOException {
        return ServedTarget.of(UnaryOperator.identity(),
                server -> changes.apply(server.portal(iser())), uris);
    }

    private static PortalSpec iser() {
        return PortalSpec.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .withTransport(Transports.ISER);
    }

    private static SessionOptions options(ServedTarget target) {
        return SessionOptions.of("127.0.0.1", target.server().portals().get(ISER).getPort(),
                ServedTarget.NAME).withTransport(Transports.ISER);
    }

    private static Initiator initiator() { return Initiator.create("iqn.2026-11.org.lunar:iser"); }

    @Test
    void shouldRefuseALoginThatRequiresDigests() throws Exception {
        try (var target = served(UnaryOperator.identity(), "ram:1MiB");
                var initiator = initiator()) {
            SessionOptions demanding = options(target).withOffer(
                    Offer.DEFAULT.withDataDigest(DigestChoice.REQUIRE_CRC32C));
            assertThatThrownBy(() -> initiator.login(demanding))
                    .isInstanceOf(LoginException.class).hasMessageContaining("DataDigest");
            try (Session session = initiator.login(options(target));
                    BlockDevice device = session.open(Lun.ZERO)) {
                device.flush();
            }
        }
    }

    @Test
    void shouldReportOnlyPortalsOfTheSessionsTransport() throws Exception {
        try (var target = served(UnaryOperator.identity(), "ram:1MiB");
                var initiator = initiator()) {
            for (int portal : new int[]{TCP, ISER}) {
                int port = target.server().portals().get(portal).getPort();
                List<DiscoveredTarget> found = initiator
                        .discover(SessionOptions.of("127.0.0.1", port, "")
                                .withTransport(portal == TCP ? Transports.ISCSI : Transports.ISER));
                assertThat(found).hasSize(1);
                assertThat(found.getFirst().addresses()).extracting(address -> address.port())
                        .containsExactly(port);
            }
        }
    }

    /** The text of the response exceeds a message. */
    @Test
    void shouldFindManyTargets() throws Exception {
        int count = 100;
        TargetServer.Builder builder = TargetServer.builder().portal(iser());
        for (int i = 0; i < count; i++) {
            builder.target(TargetSpec.of(String.format("iqn.2026-11.org.lunar:many-%040d", i)));
        }
        try (TargetServer server = builder.start(); var initiator = initiator()) {
            assertThat(initiator.discover(
                    SessionOptions.of("127.0.0.1", server.portals().getFirst().getPort(), "")
                            .withTransport(Transports.ISER)))
                    .hasSize(count);
        }
    }

    @Test
    void shouldTransferDataOfNativeBuffers() throws Exception {
        var random = new Random(Seed.next());
        try (var target = served(UnaryOperator.identity(), "ram:8MiB");
                var initiator = initiator();
                Session session = initiator.login(options(target));
                BlockDevice device = session.open(Lun.ZERO);
                Arena arena = Arena.ofShared()) {
            for (int blocks : new int[]{1, 16, 17, 32, 33, 64, 4096, 8192}) {
                MemorySegment out = arena.allocate((long) blocks * BLOCK);
                byte[] data = new byte[blocks * BLOCK];
                random.nextBytes(data);
                out.copyFrom(MemorySegment.ofArray(data));
                MemorySegment in = arena.allocate((long) blocks * BLOCK);
                device.write(100, out);
                device.read(100, in);
                assertThat(in.mismatch(out)).as("%d blocks", blocks).isEqualTo(-1);
            }
        }
    }

    @Test
    void shouldRunASessionOverConnectionsOfSeveralLoops() throws Exception {
        try (var target = served(
                server -> server.loops(2)
                        .offer(TargetServer.DEFAULT_OFFER.withMaxConnections(4)),
                "ram:4MiB");
                var initiator = Initiator.create(InitiatorOptions
                        .of("iqn.2026-11.org.lunar:iser").withLoopCount(2));
                Session session = initiator.login(options(target).withConnections(4));
                BlockDevice device = session.open(Lun.ZERO)) {
            ServedTarget.await("connections", () -> session.connectionCount() == 4);
            var running = new ArrayList<CompletableFuture<Void>>();
            var buffers = new ArrayList<MemorySegment>();
            for (int i = 0; i < 64; i++) {
                MemorySegment buffer = MemorySegment.ofArray(new byte[64 * BLOCK]);
                buffer.fill((byte) i);
                buffers.add(buffer);
                running.add(device.submitWrite(64L * i, buffer));
            }
            for (CompletableFuture<Void> each : running) {
                each.get(60, TimeUnit.SECONDS);
            }
            for (int i = 0; i < 64; i++) {
                MemorySegment back = MemorySegment.ofArray(new byte[64 * BLOCK]);
                device.read(64L * i, back);
                assertThat(back.mismatch(buffers.get(i))).isEqualTo(-1);
            }
        }
    }

    @Test
    void shouldNotAccessBuffersOfCommandsAbortedByAReset() throws Exception {
        try (var target = served(UnaryOperator.identity(), "delay=4500ms:ram:1MiB");
                var initiator = initiator();
                Session session = initiator.login(options(target));
                Arena arena = Arena.ofShared()) {
            byte[] read = {0x28, 0, 0, 0, 0, 0, 0, 0, 64, 0};
            byte[] ready = {0, 0, 0, 0, 0, 0};
            while (!session.execute(Lun.ZERO, ready, MemorySegment.NULL, MemorySegment.NULL)
                    .isGood()) {
                Thread.onSpinWait(); // until all unit attentions are reported
            }
            List<MemorySegment> buffers = List.of(arena.allocate(64 * BLOCK),
                    MemorySegment.ofArray(new byte[64 * BLOCK]));
            buffers.forEach(buffer -> buffer.fill((byte) 0x5a));
            List<CompletableFuture<ScsiResult>> running = buffers.stream()
                    .map(buffer -> session.start(
                            Exchange.Scsi.reading(Lun.ZERO, Bytes.of(read), buffer))
                            .future())
                    .toList();
            assertThat(session.start(Exchange.Manage
                    .of(TaskManagementFunction.LOGICAL_UNIT_RESET, Lun.ZERO)).await())
                    .isEqualTo(TaskManagementResponseCode.FUNCTION_COMPLETE);
            running.forEach(each -> assertThatThrownBy(() -> each.get(60, TimeUnit.SECONDS))
                    .isInstanceOf(Exception.class));
            // The device has ended the aborted commands once it completes the next command.
            byte[] room = new byte[BLOCK];
            byte[] readOne = {0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0};
            while (!session.execute(Lun.ZERO, readOne, MemorySegment.ofArray(room),
                    MemorySegment.NULL).isGood()) {
                Thread.onSpinWait();
            }
            for (MemorySegment buffer : buffers) {
                assertThat(buffer.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 0x5a);
            }
            assertThat(session.isOpen()).isTrue();
        }
    }
}
