package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.DeadlineException;
import lunar.block.DeviceGoneException;
import lunar.block.InvalidRequestException;
import lunar.block.LostWritesException;
import lunar.block.MediumException;
import lunar.block.NotSupportedException;
import lunar.block.OutOfRangeException;
import lunar.block.ReservationConflictException;
import lunar.block.StorageException;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.Residual;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import lunar.scsi.block.ReadBlocks;
import lunar.scsi.block.SynchronizeCache;
import lunar.scsi.primary.TestUnitReady;
import lunar.scsi.vpd.Inquiry;
import lunar.scsi.vpd.StandardInquiry;
import lunar.testkit.ScriptedPeer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class LunDeviceTest {
    private static final Sense UNIT_ATTENTION = Sense.of(SenseKey.UNIT_ATTENTION,
            AdditionalSense.POWER_ON_OCCURRED);

    /** Answers the first so many reads with something else, the others as they should be. */
    private static ScriptedDisk.Hook firstReads(int count, ScriptedDisk.Hook instead) {
        var reads = new AtomicInteger();
        return (peer, command, cdb) -> cdb instanceof ReadBlocks && reads.incrementAndGet() <= count
                && instead.handled(peer, command, cdb);
    }

    private static ScriptedDisk.Hook status(Status status) {
        return (peer, command, _) -> {
            ScriptedDisk.status(peer, command, status);
            return true;
        };
    }

    private static ScriptedDisk.Hook sense(Sense sense) {
        return (peer, command, _) -> {
            ScriptedDisk.sense(peer, command, sense);
            return true;
        };
    }

    @Test
    void shouldRetryUnitAttentionWithoutTelling() throws Exception {
        try (var loopback = Loopback.disk(firstReads(3, sense(UNIT_ATTENTION)));
                LunDevice device = loopback.open()) {
            device.read(0, Loopback.blocks(1));
        }
    }

    @Test
    void shouldNotRetryUnitAttentionForever() throws Exception {
        try (var loopback = Loopback.disk(firstReads(100, sense(UNIT_ATTENTION)));
                LunDevice device = loopback.open()) {
            assertThatThrownBy(() -> device.read(0, Loopback.blocks(1)))
                    .isInstanceOf(StorageException.class).hasMessageContaining("29h/01h");
        }
    }

    @Test
    void shouldOpenAUnitThatHasSomethingToReportFirst() throws Exception {
        var told = new AtomicInteger();
        try (var loopback = Loopback.disk((peer, command, cdb) -> {
            boolean attention = cdb instanceof TestUnitReady && told.incrementAndGet() <= 3;
            if (attention) {
                ScriptedDisk.sense(peer, command, UNIT_ATTENTION);
            }
            return attention;
        }); LunDevice device = loopback.open()) {
            assertThat(told).hasValue(4);
            assertThat(device.blockCount()).isEqualTo(ScriptedDisk.BLOCK_COUNT);
        }
    }

    /** The read is sent again and goes well; the flush after it must not vouch for the write before it. */
    @Test
    void shouldFailTheFlushAfterAPowerOnReportedToAnotherCommand() throws Exception {
        try (var loopback = Loopback.disk((peer, command, cdb) -> {
            if (cdb instanceof SynchronizeCache) {
                ScriptedDisk.status(peer, command, Status.GOOD);
                return true;
            }
            return cdb instanceof ReadBlocks read && read.lba() == 1
                    && sense(UNIT_ATTENTION).handled(peer, command, cdb);
        }); LunDevice device = loopback.open()) {
            device.write(0, Loopback.blocks(1));
            assertThatThrownBy(() -> device.read(1, Loopback.blocks(1)))
                    .isInstanceOf(StorageException.class);
            assertThat(device.writeLosses()).isPositive();
            assertThatThrownBy(device::flush).isInstanceOf(LostWritesException.class)
                    .hasMessageContaining("power on occurred");
            device.flush();
        }
    }

    @Test
    void shouldTryAgainLaterWhereTheTargetIsBusy() throws Exception {
        for (var busy : List.of(status(Status.BUSY), status(Status.TASK_SET_FULL),
                sense(Sense.of(SenseKey.NOT_READY, AdditionalSense.BECOMING_READY)))) {
            try (var loopback = Loopback.disk(firstReads(3, busy));
                    LunDevice device = loopback.open()) {
                device.read(0, Loopback.blocks(1));
            }
        }
    }

    @Test
    void shouldGiveUpOnABusyTargetWithTheDeadline() throws Exception {
        try (var loopback = Loopback
                .disk(firstReads(Integer.MAX_VALUE, status(Status.TASK_SET_FULL)))
                .timeouts(Loopback.patient().withCommandMs(1_500))) {
            StorageException failure = failureOfARead(loopback);
            for (int i = 0; i < 20 && failure instanceof DeadlineException; i++) {
                failure = failureOfARead(loopback); // an answer came too late, to this or to others
            }
            assertThat(failure).isInstanceOf(BusyException.class)
                    .hasMessageContaining("TASK SET FULL");
        }
    }

    private static StorageException failureOfARead(Loopback loopback) throws Exception {
        try (LunDevice device = loopback.open()) {
            device.read(0, Loopback.blocks(1));
            throw new AssertionError("no failure");
        } catch (StorageException e) {
            return e;
        }
    }

    @Test
    void shouldReportWhatFailedAndWhere() throws Exception {
        Sense sense = Sense.of(SenseKey.MEDIUM_ERROR, AdditionalSense.UNRECOVERED_READ_ERROR);
        try (var loopback = Loopback.disk(firstReads(1, sense(sense)));
                LunDevice device = loopback.open()) {
            assertThatThrownBy(() -> device.read(40, Loopback.blocks(8)))
                    .isInstanceOf(MediumException.class)
                    .hasMessage("READ(10) lba=40 blocks=8 on " + Loopback.TARGET
                            + "/0: MEDIUM ERROR 11h/00h unrecovered read error");
        }
    }

    @Test
    void shouldReportAReservationConflict() throws Exception {
        try (var loopback = Loopback.disk(firstReads(1, status(Status.RESERVATION_CONFLICT)));
                LunDevice device = loopback.open()) {
            assertThatThrownBy(() -> device.read(0, Loopback.blocks(1)))
                    .isInstanceOf(ReservationConflictException.class);
        }
    }

    @Test
    void shouldNotTreatLessDataAsComplete() throws Exception {
        try (var loopback = Loopback.disk(firstReads(1, (peer, command, _) -> {
            peer.send(new ScsiResponse(0, 0, 0, new Residual(Residual.Kind.UNDERFLOW, 1024),
                    Residual.NONE, command.itt(), 0, peer.statSn(), peer.expCmdSn(),
                    peer.maxCmdSn(), 0));
            return true;
        })); LunDevice device = loopback.open()) {
            assertThatThrownBy(() -> device.read(0, Loopback.blocks(2)))
                    .isInstanceOf(MediumException.class).hasMessageContaining("residual");
        }
    }

    @Test
    void shouldTreatADeviceWithoutFlushAsUncached() throws Exception {
        try (var loopback = Loopback.disk((peer, command, cdb) -> {
            if (cdb instanceof SynchronizeCache) {
                ScriptedDisk.sense(peer, command, Sense.of(SenseKey.ILLEGAL_REQUEST,
                        AdditionalSense.INVALID_COMMAND_OPERATION_CODE));
            }
            return cdb instanceof SynchronizeCache;
        }); LunDevice device = loopback.open()) {
            device.flush();
            device.writeThrough(0, Loopback.blocks(1));
        }
    }

    @Test
    void shouldFlushAfterAForcedWriteWhereTheDeviceHasNoFua() throws Exception {
        var order = new ArrayList<String>();
        try (var loopback = Loopback.disk((_, _, cdb) -> {
            order.add(cdb.getClass().getSimpleName());
            return false;
        }); LunDevice device = loopback.open()) {
            device.writeThrough(0, Loopback.blocks(1));
        }
        assertThat(order).endsWith("WriteBlocks", "SynchronizeCache");
    }

    @Test
    void shouldRejectALunThatIsNoDisk() throws Exception {
        for (int type : new int[]{StandardInquiry.CONTROLLER, StandardInquiry.UNKNOWN}) {
            try (var loopback = Loopback.disk((peer, command, cdb) -> {
                if (cdb instanceof Inquiry) {
                    byte[] inquiry = StandardInquiry.disk("LUNAR", "X", "1").bytes();
                    inquiry[0] = (byte) type;
                    ScriptedDisk.dataIn(peer, command, inquiry);
                }
                return cdb instanceof Inquiry;
            }); Session session = loopback.login()) {
                assertThatThrownBy(() -> session.open(Lun.ZERO))
                        .isInstanceOf(type == StandardInquiry.CONTROLLER
                                ? NotSupportedException.class
                                : DeviceGoneException.class)
                        .hasMessageContaining(Loopback.TARGET + "/0")
                        .hasMessageContaining("the target has LUN 0");
            }
        }
    }

    // --- depth ---

    @Test
    void shouldSendNoMoreThanTheQueueDepthAndTheWindowAllow() throws Exception {
        for (int window : new int[]{3, 64}) {
            int depth = 5;
            int most = Math.min(window, depth);
            var together = new CountDownLatch(1);
            var held = new ArrayList<ScsiCommand>();
            try (var loopback = Loopback.disk((peer, command, cdb) -> {
                if (!(cdb instanceof ReadBlocks)) {
                    peer.window(window);
                    return false;
                }
                held.add(command);
                if (held.size() < most) {
                    return true; // answered once as many have come as may
                }
                together.countDown();
                for (ScsiCommand each : held) {
                    ScriptedDisk.dataIn(peer, each, new byte[512]);
                }
                held.clear();
                return true;
            }).queueDepth(depth); LunDevice device = loopback.open()) {
                var all = new ArrayList<CompletableFuture<Void>>();
                for (int i = 0; i < 6 * most; i++) {
                    all.add(device.submitRead(i, Loopback.blocks(1)));
                }
                assertThat(together.await(60, TimeUnit.SECONDS)).isTrue();
                for (var each : all) {
                    each.get(60, TimeUnit.SECONDS);
                }
            }
        }
    }

    @Test
    void shouldLetCompletionsSubmitMore() throws Exception {
        try (var loopback = Loopback.disk((_, _, _) -> false); LunDevice device = loopback.open()) {
            var done = new CompletableFuture<Integer>();
            var count = new AtomicInteger();
            var request = new BlockRequest().asRead(0, 1, Loopback.blocks(1));
            request.onCompletion((again, failure) -> {
                if (failure != null) {
                    done.completeExceptionally(failure);
                } else if (count.incrementAndGet() == 1000) {
                    done.complete(count.get());
                } else {
                    device.submit(again);
                }
            });
            device.submit(request);
            assertThat(done.get(60, TimeUnit.SECONDS)).isEqualTo(1000);
        }
    }

    @Test
    void shouldRejectBlockingInACompletion() throws Exception {
        try (var loopback = Loopback.disk((_, _, _) -> false); LunDevice device = loopback.open()) {
            var failure = new CompletableFuture<Throwable>();
            device.submit(new BlockRequest().asRead(0, 1, Loopback.blocks(1))
                    .onCompletion((_, _) -> {
                        try {
                            device.read(0, Loopback.blocks(1));
                            failure.complete(new AssertionError("it waited"));
                        } catch (StorageException e) {
                            failure.complete(e);
                        }
                    }));
            assertThat(failure.get(60, TimeUnit.SECONDS))
                    .isInstanceOf(InvalidRequestException.class);
        }
    }

    @Test
    void shouldSurviveACompletionThatThrows() throws Exception {
        try (var loopback = Loopback.disk((_, _, _) -> false); LunDevice device = loopback.open()) {
            device.submit(new BlockRequest().asRead(0, 1, Loopback.blocks(1))
                    .onCompletion((_, _) -> {
                        throw new IllegalStateException("a bug of the caller");
                    }));
            device.read(0, Loopback.blocks(1));
        }
    }

    @Test
    void shouldWorkFromVirtualThreadsAndWithConfinedBuffers() throws Exception {
        try (var loopback = Loopback.disk((_, _, _) -> false); LunDevice device = loopback.open()) {
            var failures = new ArrayList<Throwable>();
            var threads = new ArrayList<Thread>();
            for (int i = 0; i < 16; i++) {
                int block = i;
                threads.add(Thread.ofVirtual().start(() -> {
                    try (var arena = Arena.ofConfined()) {
                        MemorySegment buffer = arena.allocate(512);
                        buffer.fill((byte) block);
                        device.write(block, buffer);
                        buffer.fill((byte) 99);
                        device.read(block, buffer);
                        assertThat(buffer.mismatch(MemorySegment.ofArray(new byte[512])
                                .fill((byte) block))).isEqualTo(-1);
                    } catch (Throwable e) {
                        synchronized (failures) {
                            failures.add(e);
                        }
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(failures).isEmpty();
        }
    }

    @Test
    void shouldRejectToQueueABufferThatOthersCannotUse() throws Exception {
        try (var loopback = Loopback.disk((_, _, _) -> false);
                LunDevice device = loopback.open();
                var arena = Arena.ofConfined()) {
            assertThat(device.submitRead(0, arena.allocate(512)))
                    .failsWithin(60, TimeUnit.SECONDS).withThrowableOfType(Exception.class)
                    .withCauseInstanceOf(InvalidRequestException.class);
            var closed = Arena.ofShared();
            MemorySegment gone = closed.allocate(512);
            closed.close();
            assertThat(device.submitRead(0, gone)).failsWithin(60, TimeUnit.SECONDS)
                    .withThrowableOfType(Exception.class)
                    .withCauseInstanceOf(InvalidRequestException.class);
            device.read(0, Loopback.blocks(1));
        }
    }

    @Test
    void shouldKeepAnInterruptForTheCaller() throws Exception {
        try (var loopback = Loopback.disk((_, _, _) -> false); LunDevice device = loopback.open()) {
            Thread.currentThread().interrupt();
            device.read(0, Loopback.blocks(1));
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    // --- pass-through ---

    @Test
    void shouldPassCommandsThroughUninterpreted() throws Exception {
        try (var loopback = Loopback.disk((_, _, _) -> false); LunDevice device = loopback.open()) {
            MemorySegment data = Loopback.blocks(1);
            ScsiResult inquiry = device.execute(new Inquiry(false, 0, 255).bytes(), data,
                    MemorySegment.NULL);
            assertThat(inquiry.isGood()).isTrue();
            assertThat(inquiry.dataInBytes()).isEqualTo(96);
            assertThat(inquiry.residual())
                    .isEqualTo(new Residual(Residual.Kind.UNDERFLOW, 512 - 96));

            ScsiResult refused = device.execute(new byte[]{0x34, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                    MemorySegment.NULL, MemorySegment.NULL);
            assertThat(refused.status()).isEqualTo(Status.CHECK_CONDITION.code());
            assertThat(refused.sense()).map(Sense::key).contains(SenseKey.ILLEGAL_REQUEST);
        }
    }

    @Test
    void shouldPassOnlyPossibleCdbs() throws Exception {
        try (var loopback = Loopback.disk((_, _, _) -> false); Session session = loopback.login()) {
            for (int length : new int[]{0, 5, 261}) {
                assertThatThrownBy(() -> session.execute(Lun.ZERO, new byte[length],
                        MemorySegment.NULL, MemorySegment.NULL))
                        .isInstanceOf(InvalidRequestException.class);
            }
        }
    }

    @Test
    void shouldSendALongCdbAndDataBothWays() throws Exception {
        byte[] cdb = new byte[200];
        cdb[0] = 0x7f;
        cdb[199] = 5;
        var came = new CompletableFuture<ScsiCommand>();
        var disk = new ScriptedDisk();
        try (var loopback = new Loopback(peer -> {
            peer.login();
            var command = peer.receive(ScsiCommand.class);
            came.complete(command);
            int immediate = peer.data().length;
            byte[] out = disk.receiveWrite(peer, command);
            byte[] doubled = new byte[2 * out.length];
            System.arraycopy(out, 0, doubled, out.length, out.length);
            sendBoth(peer, command, doubled, Math.ceilDiv(out.length - immediate, 16_384));
            disk.serveLoggedIn(peer, (_, _, _) -> false);
        }); Session session = loopback.login()) {
            MemorySegment out = Loopback.blocks(40).fill((byte) 9);
            MemorySegment in = Loopback.blocks(80);
            ScsiResult result = session.execute(Lun.of(2), cdb, in, out);
            assertThat(result.isGood()).isTrue();
            assertThat(result.dataInBytes()).isEqualTo(80 * 512);
            assertThat(in.asSlice(40 * 512).mismatch(out)).isEqualTo(-1);
            assertThat(came.get().lun()).isEqualTo(Lun.of(2));
            assertThat(came.get().cdb().mismatch(MemorySegment.ofArray(cdb))).isEqualTo(-1);
            assertThat(came.get().bidirectionalReadBytes()).isEqualTo(80 * 512);
        }
    }

    /** Sends Data-In, which share their numbers with the R2Ts before (RFC 7143 section 11.7.5). */
    private static void sendBoth(ScriptedPeer peer, ScsiCommand command, byte[] data, int r2ts)
            throws Exception {
        int half = 8192;
        for (int at = 0, sn = r2ts; at < data.length; at += half, sn++) {
            int length = Math.min(half, data.length - at);
            boolean last = at + length == data.length;
            peer.send(new DataIn(last, false, false, 0, Residual.NONE, command.lun(),
                    command.itt(), Bhs.NO_TAG, 0, peer.expCmdSn(), peer.maxCmdSn(), sn,
                    at), Arrays.copyOfRange(data, at, at + length));
        }
        peer.send(ScsiResponse.completed(0, command.itt(), peer.statSn(), peer.expCmdSn(),
                peer.maxCmdSn(), 7));
    }

    @Test
    void shouldCheckRequestsBeforeTheyAreSent() throws Exception {
        try (var loopback = Loopback.disk((_, _, cdb) -> {
            if (cdb instanceof ReadBlocks read && read.lba() >= ScriptedDisk.BLOCK_COUNT) {
                throw new AssertionError("sent: " + read);
            }
            return false;
        }); LunDevice device = loopback.open()) {
            assertThatThrownBy(() -> device.read(ScriptedDisk.BLOCK_COUNT, Loopback.blocks(1)))
                    .isInstanceOf(OutOfRangeException.class);
            assertThatThrownBy(() -> device.unmap(0, 1)).isInstanceOf(NotSupportedException.class);
            assertThatThrownBy(() -> device.read(0, MemorySegment.ofArray(new byte[100])))
                    .isInstanceOf(InvalidRequestException.class);
        }
    }
}
