package lunar.target;

import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.ForwardingDevice;
import lunar.block.LostWritesException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.iscsi.pdu.TaskManagementResponseCode;
import lunar.scsi.Status;
import lunar.scsi.target.StateStore;
import lunar.scsi.target.block.DiskSpec;
import lunar.store.MemoryDevice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests a device that reports lost writes once, like a LUN of an array that was reset: the loss is reported to every
 * host.
 */
@Timeout(600)
class TargetLostWritesTest {
    private static final int WRITE_ERROR = 0x03_0c_00;
    private static final String FLUSH = "35000000000000000000";
    private static final String STOP = "1b0000000000";
    private static final String TEST_UNIT_READY = "000000000000";
    private static final String WRITE_VERIFIER = "1201c000ff00";
    /** Of a first session, too. */
    private static final int RESET = 0x06_29_00;
    private static final int NEXUS_LOSS = 0x06_29_07;
    private static final String WRITE_FUA = "2a080000000000000100";

    private static final class Forgetful extends ForwardingDevice {
        private final AtomicInteger losses = new AtomicInteger();
        private volatile long counted;

        Forgetful(BlockDevice below) { super(below); }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            boolean vouches = request.operation() == BlockRequest.Operation.FLUSH || request.fua();
            if (vouches && losses.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
                throw new LostWritesException("the cache was lost");
            }
            below().execute(request);
        }

        @Override
        public long writeLosses() { return counted; }

        @Override
        public void submit(BlockRequest request) {
            RequestCompletion.executeAndComplete(request, this);
        }
    }

    private final Forgetful device = new Forgetful(MemoryDevice.create(1 << 20, 512));

    private TargetServer serve() throws Exception {
        return TargetFixture.builder().portal("127.0.0.1", 0)
                .target(TargetSpec.of(RawInitiator.TARGET).withLun(0, device)).start();
    }

    private static int flush(RawInitiator host) throws Exception {
        var answer = host.command(FLUSH, 0);
        return answer.status() == Status.GOOD ? 0 : answer.sense();
    }

    private static int writeStable(RawInitiator host) throws Exception {
        var answer = host.commandOut(WRITE_FUA, blocks(1, 1));
        return answer.status() == Status.GOOD ? 0 : answer.sense();
    }

    @Test
    void shouldReportALossToEveryHostOnce() throws Exception {
        try (var server = serve();
                var one = RawInitiator.ready(server, 1);
                var two = RawInitiator.ready(server, 2);
                var three = RawInitiator.ready(server, 3)) {
            assertThat(flush(one)).isZero();
            device.losses.set(1);
            assertThat(flush(one)).isEqualTo(WRITE_ERROR);
            assertThat(flush(one)).isZero();
            assertThat(flush(two)).isEqualTo(WRITE_ERROR);
            assertThat(flush(two)).isZero();
            assertThat(writeStable(three)).isEqualTo(WRITE_ERROR);
            assertThat(writeStable(three)).isZero();
        }
    }

    @Test
    void shouldReportALossDetectedByAWriteWithFuaToOtherHosts() throws Exception {
        try (var server = serve();
                var one = RawInitiator.ready(server, 1);
                var two = RawInitiator.ready(server, 2)) {
            device.losses.set(1);
            assertThat(writeStable(two)).isEqualTo(WRITE_ERROR);
            assertThat(flush(one)).isEqualTo(WRITE_ERROR);
            assertThat(flush(one)).isZero();
            assertThat(flush(two)).isZero();
            device.losses.set(1); // and of the next one again
            assertThat(flush(two)).isEqualTo(WRITE_ERROR);
            assertThat(flush(one)).isEqualTo(WRITE_ERROR);
        }
    }

    @Test
    void shouldReportALossToAHostThatHasLoggedInAgain() throws Exception {
        try (var server = serve(); var one = RawInitiator.ready(server, 1)) {
            try (var _ = RawInitiator.ready(server, 2)) {
                device.losses.set(1);
                assertThat(flush(one)).isEqualTo(WRITE_ERROR);
            }
            try (var two = RawInitiator.ready(server, 2)) {
                assertThat(flush(two)).isEqualTo(WRITE_ERROR);
                assertThat(flush(two)).isZero();
            }
        }
    }

    /** As a file whose writeback fails again before an operator has accepted the first loss. */
    @Test
    void shouldReportAnotherLossToAHostThatWroteBetweenBoth() throws Exception {
        try (var server = serve();
                var one = RawInitiator.ready(server, 1);
                var two = RawInitiator.ready(server, 2)) {
            device.counted = 1;
            device.losses.set(2);
            assertThat(flush(one)).isEqualTo(WRITE_ERROR);
            assertThat(flush(two)).isEqualTo(WRITE_ERROR);
            device.counted = 2; // with what the second host has written since
            assertThat(flush(one)).isEqualTo(WRITE_ERROR);
            device.losses.set(0); // accepted
            assertThat(flush(two)).isEqualTo(WRITE_ERROR);
            assertThat(flush(two)).isZero();
            assertThat(flush(one)).isZero();
        }
    }

    @Test
    void shouldReportALossToAHostThatStopsTheUnit() throws Exception {
        try (var server = serve();
                var one = RawInitiator.ready(server, 1);
                var two = RawInitiator.ready(server, 2)) {
            device.losses.set(1);
            assertThat(flush(one)).isEqualTo(WRITE_ERROR);
            assertThat(two.command(STOP, 0).sense()).isEqualTo(WRITE_ERROR);
            assertThat(two.command(STOP, 0).status()).isEqualTo(Status.GOOD);
        }
    }

    @Test
    void shouldReportALossToAHostWhoseAbortedFlushDetectedIt() throws Exception {
        var gated = new GatedDevice(device);
        try (var server = TargetFixture.builder().portal("127.0.0.1", 0)
                .target(TargetSpec.of(RawInitiator.TARGET).withLun(0, gated)).start();
                var one = RawInitiator.ready(server, 1)) {
            gated.shut(1);
            int flush = one.send(RawInitiator.bytes(FLUSH), 0);
            gated.awaitArrivals();
            int abort = one.manage(TaskManagementFunction.ABORT_TASK, flush);
            one.assertSilent(); // the abort has come by now
            device.losses.set(1);
            gated.open();
            assertThat(one.managed(abort)).isEqualTo(
                    TaskManagementResponseCode.FUNCTION_COMPLETE.code());
            assertThat(flush(one)).isEqualTo(WRITE_ERROR);
            assertThat(flush(one)).isZero();
        }
    }

    /** Logs in and returns the first unit attention. */
    private static int arrive(TargetServer server, int qualifier) throws Exception {
        try (var host = new RawInitiator(server)) {
            assertThat(host.login(RawInitiator.isid(qualifier)).status()).isZero();
            return host.command(TEST_UNIT_READY, 0).sense();
        }
    }

    private static String verifier(RawInitiator host) throws Exception {
        return HexFormat.of().formatHex(host.command(WRITE_VERIFIER, 255).data());
    }

    /** The server notices a closed connection with a delay. */
    private static void awaitSessions(TargetServer server, int count) {
        while (server.sessionCount() != count) {
            Thread.onSpinWait();
        }
    }

    @Test
    void shouldTellAHostWithoutASessionAtTheNextLogin() throws Exception {
        try (var server = serve(); var one = RawInitiator.ready(server, 1)) {
            try (var _ = RawInitiator.ready(server, 2)) {
                // known, and gone when the loss is reported
            }
            awaitSessions(server, 1);
            String before = verifier(one);
            device.losses.set(1);
            assertThat(flush(one)).isEqualTo(WRITE_ERROR);
            assertThat(verifier(one)).isNotEqualTo(before);
            assertThat(arrive(server, 2)).isEqualTo(RESET);
            awaitSessions(server, 1);
            assertThat(arrive(server, 2)).isEqualTo(NEXUS_LOSS);
            assertThat(arrive(server, 3)).isEqualTo(RESET);
        }
        assertThat(device.losses).hasValue(0);
    }

    /** A host that was told by a failed command hears of no second reset. */
    @Test
    void shouldNotReportAResetToAHostThatHadASession() throws Exception {
        try (var server = serve()) {
            try (var one = RawInitiator.ready(server, 1)) {
                device.losses.set(1);
                assertThat(flush(one)).isEqualTo(WRITE_ERROR);
            }
            awaitSessions(server, 0);
            assertThat(arrive(server, 1)).isEqualTo(NEXUS_LOSS);
        }
    }

    /** As a volume of which a member was found to have lost its cache, before any host has flushed. */
    @Test
    void shouldTellOfALossThatTheDeviceHasCountedWhileNobodyWasThere() throws Exception {
        try (var server = serve()) {
            String before;
            try (var one = RawInitiator.ready(server, 1)) {
                before = verifier(one);
            }
            awaitSessions(server, 0);
            device.counted = 1;
            assertThat(arrive(server, 1)).isEqualTo(RESET);
            awaitSessions(server, 0);
            try (var one = RawInitiator.ready(server, 1)) {
                String after = verifier(one);
                assertThat(after).isNotEqualTo(before);
                device.losses.set(2); // the same loss, reported now
                assertThat(flush(one)).isEqualTo(WRITE_ERROR);
                String reported = verifier(one);
                assertThat(reported).isNotEqualTo(after);
                assertThat(flush(one)).isEqualTo(WRITE_ERROR);
                assertThat(verifier(one)).as("reported twice").isEqualTo(reported);
            }
        }
    }

    @Test
    void shouldKeepTheWriteVerifierWithoutALoss() throws Exception {
        try (var server = serve()) {
            String before;
            try (var one = RawInitiator.ready(server, 1)) {
                before = verifier(one);
                assertThat(flush(one)).isZero();
            }
            awaitSessions(server, 0);
            try (var one = RawInitiator.ready(server, 1)) {
                assertThat(verifier(one)).isEqualTo(before).hasSize(2 * 28);
            }
        }
    }

    /** The verifier of the device alone, as of a file, would not tell of a loss before the restart. */
    @Test
    void shouldTellAHostOfALossAfterARestart(@TempDir Path directory) throws Exception {
        var store = StateStore.inDirectory(directory);
        TargetSpec target = TargetSpec.of(RawInitiator.TARGET).withLun(0,
                DiskSpec.of(device).withState(store));
        String before;
        String after;
        try (var server = TargetFixture.builder().portal("127.0.0.1", 0).target(target).start();
                var one = RawInitiator.ready(server, 1)) {
            before = verifier(one);
            device.losses.set(1);
            assertThat(flush(one)).isEqualTo(WRITE_ERROR);
            after = verifier(one);
            while (store.load("write-losses").isEmpty()) {
                Thread.onSpinWait(); // saved in the background
            }
        }
        try (var server = TargetFixture.builder().portal("127.0.0.1", 0).target(target).start();
                var one = RawInitiator.ready(server, 1)) {
            assertThat(verifier(one)).isEqualTo(after).isNotEqualTo(before);
        }
    }

    /** INQUIRY reports no unit attention, so the first one of the session is chosen later. */
    @Test
    void shouldTellAHostThatReadsTheWriteVerifierFirst() throws Exception {
        try (var server = serve()) {
            try (var _ = RawInitiator.ready(server, 1)) {
                // known, and gone when the loss is counted
            }
            awaitSessions(server, 0);
            device.counted = 1;
            try (var one = new RawInitiator(server)) {
                assertThat(one.login(RawInitiator.isid(1)).status()).isZero();
                assertThat(verifier(one)).isNotEmpty();
                assertThat(one.command(TEST_UNIT_READY, 0).sense()).isEqualTo(RESET);
            }
        }
    }

    /** As a file with a loss of an earlier process, until an operator has accepted it. */
    @Test
    void shouldKeepTheWriteVerifierWhileAnUncountedLossIsReportedAgain() throws Exception {
        try (var server = serve();
                var one = RawInitiator.ready(server, 1);
                var two = RawInitiator.ready(server, 2)) {
            String before = verifier(one);
            device.losses.set(2);
            assertThat(flush(one)).isEqualTo(WRITE_ERROR);
            String after = verifier(one);
            assertThat(after).isNotEqualTo(before);
            assertThat(flush(two)).isEqualTo(WRITE_ERROR);
            assertThat(flush(one)).isEqualTo(WRITE_ERROR);
            assertThat(device.losses).hasValue(0);
            assertThat(verifier(one)).isEqualTo(after);
            assertThat(flush(one)).isZero();
            assertThat(verifier(one)).isEqualTo(after);
            device.losses.set(1);
            assertThat(flush(one)).isEqualTo(WRITE_ERROR);
            assertThat(verifier(one)).as("another loss").isNotEqualTo(after);
        }
    }

    /** Sessions keep no order: success at one portal group could overtake the failure at the other. */
    @Test
    void shouldReportALossToAPortAtEachPortalGroup() throws Exception {
        var any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (var server = TargetFixture.builder().portal(PortalSpec.of(any))
                .portal(PortalSpec.of(any).withGroup(2))
                .target(TargetSpec.of(RawInitiator.TARGET).withLun(0, device)).start();
                var one = RawInitiator.ready(server, 1);
                var two = new RawInitiator(server.portals().getLast().getPort())) {
            assertThat(two.login(RawInitiator.isid(1)).status()).isZero();
            assertThat(two.takeAttentions()).isPositive();
            assertThat(server.sessionCount()).isEqualTo(2);
            device.losses.set(1);
            assertThat(flush(one)).isEqualTo(WRITE_ERROR);
            assertThat(flush(one)).isZero();
            assertThat(flush(two)).isEqualTo(WRITE_ERROR);
            assertThat(flush(two)).isZero();
        }
    }

    /** Its success does not show that the device has nothing to report any more. */
    @Test
    void shouldKeepTheWriteVerifierAfterAFlushThatBeganBeforeAnUncountedLoss() throws Exception {
        var gated = new GatedDevice(device);
        try (var server = TargetFixture.builder().portal("127.0.0.1", 0)
                .target(TargetSpec.of(RawInitiator.TARGET).withLun(0, gated)).start();
                var one = RawInitiator.ready(server, 1);
                var two = RawInitiator.ready(server, 2)) {
            var first = new AtomicBoolean(true);
            gated.shut(1, _ -> first.getAndSet(false));
            int early = two.send(RawInitiator.bytes(FLUSH), 0);
            gated.awaitArrivals();
            device.losses.set(1);
            assertThat(flush(one)).isEqualTo(WRITE_ERROR);
            String before = verifier(one);
            gated.open();
            RawInitiator.Received answer = two.receive();
            assertThat(answer.bhs().itt()).isEqualTo(early);
            assertThat(answer.status()).isEqualTo(Status.GOOD);
            device.losses.set(1); // the same loss
            assertThat(flush(one)).isEqualTo(WRITE_ERROR);
            assertThat(verifier(one)).isEqualTo(before);
        }
    }
}
