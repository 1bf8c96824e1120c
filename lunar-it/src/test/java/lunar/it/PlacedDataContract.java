package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.UnaryOperator;
import lunar.block.BlockDevice;
import lunar.block.DeadlineException;
import lunar.block.DeviceGoneException;
import lunar.initiator.Initiator;
import lunar.initiator.ScsiResult;
import lunar.initiator.Session;
import lunar.initiator.SessionOptions;
import lunar.initiator.Timeouts;
import lunar.iscsi.login.Offer;
import lunar.iscsi.pdu.Residual;
import lunar.iscsi.spi.Transports;
import lunar.scsi.Lun;
import lunar.target.PortalSpec;
import lunar.testkit.Seed;
import lunar.testkit.echo.EchoSpec;
import org.junit.jupiter.api.Test;

/** Tests initiator and target over a transport that moves the data of commands itself, as RDMA does. */
abstract class PlacedDataContract {
    private static final int TCP = 0;
    private static final int PLACING = 1;
    private static final int BLOCK = 512;

    private final Initiator initiator = Initiator.create("iqn.2026-11.org.lunar:placed");
    private final String scheme;

    /** @param scheme of the transport */
    PlacedDataContract(String scheme) {
        this.scheme = scheme;
    }

    /** Starts a target with a TCP portal and a portal of the transport. */
    private ServedTarget served(String uri) throws IOException {
        return ServedTarget.of(spec -> spec.withLun(1, EchoSpec.of("echo-1")),
                server -> server.portal(PortalSpec
                        .of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                        .withTransport(scheme)),
                uri);
    }

    private SessionOptions options(ServedTarget target, int portal) {
        return SessionOptions.of("127.0.0.1",
                target.server().portals().get(portal).getPort(), ServedTarget.NAME)
                .withTransport(portal == TCP
                        ? Transports.ISCSI
                        : scheme);
    }

    private Session login(ServedTarget target, UnaryOperator<SessionOptions> changes)
            throws IOException {
        return initiator.login(changes.apply(options(target, PLACING)));
    }

    private static byte[] bytes(Random random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private static byte[] read(BlockDevice device, long block, int blocks) throws IOException {
        byte[] content = new byte[blocks * BLOCK];
        device.read(block, MemorySegment.ofArray(content));
        return content;
    }

    @Test
    void shouldTransferDataOfAllSizes() throws Exception {
        UnaryOperator<SessionOptions> smallBursts = options -> options.withOffer(
                Offer.DEFAULT.withBurstLengths(4096, 16 * 1024)
                        .withMaxReceiveDataSegmentLength(4096));
        UnaryOperator<SessionOptions> noUnsolicited = options -> options.withOffer(
                Offer.DEFAULT.withInitialR2t(true).withImmediateData(false));
        for (UnaryOperator<SessionOptions> changes : Arrays.asList(
                UnaryOperator.<SessionOptions>identity(), smallBursts, noUnsolicited)) {
            var random = new Random(Seed.next());
            try (var target = served("ram:4MiB");
                    var threads = Executors.newFixedThreadPool(4);
                    var tcp = initiator.login(options(target, TCP));
                    var placing = login(target, changes);
                    var there = tcp.open(Lun.ZERO);
                    var here = placing.open(Lun.ZERO)) {
                var running = new ArrayList<Future<Boolean>>();
                for (int thread = 0; thread < 4; thread++) {
                    long first = thread * 2048L;
                    var mine = new Random(random.nextLong());
                    Callable<Boolean> work = () -> {
                        for (int i = 0; i < 40; i++) {
                            int blocks = 1 + mine.nextInt(1 << mine.nextInt(12));
                            long at = first + mine.nextInt(2049 - blocks);
                            byte[] data = bytes(mine, blocks * BLOCK);
                            BlockDevice writer = mine.nextBoolean() ? here : there;
                            writer.write(at, MemorySegment.ofArray(data));
                            assertThat(read(here, at, blocks)).isEqualTo(data);
                            assertThat(read(there, at, blocks)).isEqualTo(data);
                        }
                        return true;
                    };
                    running.add(threads.submit(work));
                }
                for (Future<Boolean> each : running) {
                    assertThat(each.get()).isTrue();
                }
            }
        }
        initiator.close();
    }

    @Test
    void shouldReportTheLengthOfDataIn() throws Exception {
        try (var target = served("ram:1MiB"); var session = login(target, options -> options)) {
            MemorySegment into = MemorySegment.ofArray(new byte[4096]);
            into.fill((byte) 0x5a);
            byte[] inquiry = {0x12, 0, 0, 0, 36, 0};
            ScsiResult result = session.execute(Lun.ZERO, inquiry, into, MemorySegment.NULL);
            while (!result.isGood()) { // until all unit attentions are reported
                result = session.execute(Lun.ZERO, inquiry, into, MemorySegment.NULL);
            }
            assertThat(result.residual()).isEqualTo(Residual.of(4096, 36));
            assertThat(result.dataInBytes()).isEqualTo(36);
            assertThat(into.get(ValueLayout.JAVA_BYTE, 36)).isEqualTo((byte) 0x5a);
        }
        initiator.close();
    }

    @Test
    void shouldTransferDataOfABidirectionalCommand() throws Exception {
        byte[] cdb = new byte[260];
        cdb[0] = 0x7f;
        cdb[7] = (byte) (cdb.length - 8);
        cdb[8] = (byte) 0xf0;
        cdb[9] = 1;
        Arrays.fill(cdb, 16, cdb.length, (byte) 3);
        byte[] data = bytes(new Random(Seed.next()), 300_000);
        byte[] sums = new byte[data.length];
        for (int i = 0; i < data.length; i++) {
            sums[i] = (byte) (data[i] + 3);
        }
        try (var target = served("ram:1MiB"); var session = login(target, options -> options)) {
            byte[] came = new byte[data.length];
            ScsiResult result;
            do { // until all unit attentions are reported
                result = session.execute(new Lun(1L << 48), cdb, MemorySegment.ofArray(came),
                        MemorySegment.ofArray(data));
            } while (result.senseData().length() > 0);
            assertThat(result.isGood()).isTrue();
            assertThat(came).isEqualTo(sums);
            assertThat(result.dataInBytes()).isEqualTo(data.length);
        }
        initiator.close();
    }

    @Test
    void shouldNotAccessBuffersOfAnAbortedCommand() throws Exception {
        try (var target = served("delay=8s:ram:1MiB");
                var session = login(target, options -> options
                        .withTimeouts(Timeouts.DEFAULT.withCommandMs(4_000)
                                .withAbortMs(30_000)));
                var device = session.open(Lun.ZERO)) {
            MemorySegment into = MemorySegment.ofArray(new byte[BLOCK]);
            into.fill((byte) 0x5a);
            assertThatThrownBy(() -> device.read(0, into)).isInstanceOf(DeadlineException.class);
            assertThatThrownBy(() -> device.write(0, MemorySegment.ofArray(new byte[512 * BLOCK])))
                    .isInstanceOf(DeadlineException.class);
            Thread.sleep(5000); // until the device has completed the read
            assertThat(into.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 0x5a);
            assertThat(session.isOpen()).as("no access to what was withdrawn").isTrue();
        }
        initiator.close();
    }

    @Test
    void shouldReturnAllBuffersWhenTheServerCloses() throws Exception {
        try (var threads = Executors.newFixedThreadPool(4)) {
            var target = served("ram:4MiB");
            var running = new ArrayList<Future<Boolean>>();
            try (var session = login(target, options -> options);
                    var device = session.open(Lun.ZERO)) {
                for (int thread = 0; thread < 4; thread++) {
                    long first = thread * 2048L;
                    running.add(threads.submit(() -> {
                        MemorySegment data = MemorySegment.ofArray(new byte[2048 * BLOCK]);
                        while (true) {
                            try {
                                device.write(first, data);
                                device.read(first, data);
                            } catch (DeviceGoneException _) {
                                return true;
                            }
                        }
                    }));
                }
                ServedTarget.await("load", () -> target.server().bufferBytesInUse() > 0);
                target.close(); // checks that all buffers have been returned
                for (Future<Boolean> each : running) {
                    assertThat(each.get()).isTrue();
                }
            }
        }
        initiator.close();
    }
}
