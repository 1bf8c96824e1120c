package lunar.target;

import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

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
import lunar.store.MemoryDevice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests a device that reports lost writes once, like a LUN of an array that was reset: the loss is reported to every
 * host.
 */
@Timeout(60)
class TargetLostWritesTest {
    private static final int WRITE_ERROR = 0x03_0c_00;
    private static final String FLUSH = "35000000000000000000";
    private static final String STOP = "1b0000000000";
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
        return TargetServer.builder().portal("127.0.0.1", 0)
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
        try (var server = TargetServer.builder().portal("127.0.0.1", 0)
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
}
