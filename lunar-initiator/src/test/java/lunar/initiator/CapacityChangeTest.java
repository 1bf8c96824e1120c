package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Stream;
import lunar.block.BlockDevice;
import lunar.initiator.internal.retry.RetryPolicy;
import lunar.initiator.multipath.MultipathDevice;
import lunar.initiator.multipath.MultipathOptions;
import lunar.initiator.multipath.Path;
import lunar.initiator.multipath.PathPolicy;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Cdb;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.block.CapacityData16;
import lunar.scsi.block.ReadBlocks;
import lunar.scsi.block.ReadCapacity16;
import lunar.scsi.mode.ModeSense;
import lunar.scsi.primary.ReportLuns;
import lunar.scsi.primary.TestUnitReady;
import lunar.scsi.vpd.Inquiry;
import lunar.scsi.vpd.StandardInquiry;
import lunar.testkit.CapturedLog;
import lunar.testkit.ScriptedPeer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests that a unit's new capacity, or new units of the target, are noticed whichever command reports the unit
 * attention.
 */
@Timeout(120)
class CapacityChangeTest {
    private static final int GROWN = 512;

    /** Unit attentions, each with the command that it is to answer. */
    private record Due(AdditionalSense attention, long blockCount, Predicate<Cdb> command) {}

    private final ConcurrentLinkedQueue<Due> due = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<SessionNotice> notices = new ConcurrentLinkedQueue<>();
    private final ScriptedDisk disk = new ScriptedDisk();
    private volatile long blockCount = ScriptedDisk.BLOCK_COUNT;

    private boolean handled(ScriptedPeer peer, ScsiCommand command, Cdb cdb) throws Exception {
        Due next = due.peek();
        if (next != null && next.command().test(cdb)) {
            due.remove();
            blockCount = next.blockCount();
            ScriptedDisk.sense(peer, command,
                    Sense.of(SenseKey.UNIT_ATTENTION, next.attention()));
            return true;
        }
        if (cdb instanceof ReadCapacity16) {
            capacity(peer, command, blockCount);
            return true;
        }
        if (cdb instanceof Inquiry inquiry && !inquiry.evpd()) { // of no target that is asked for more by text
            ScriptedDisk.data(peer, command, StandardInquiry.disk("OTHER", "SCRIPTED", "1"),
                    inquiry.allocationLength());
            return true;
        }
        return false;
    }

    private static void capacity(ScriptedPeer peer, ScsiCommand command, long blocks)
            throws Exception {
        ScriptedDisk.data(peer, command, new CapacityData16(blocks - 1, ScriptedDisk.BLOCK_SIZE,
                0, 0, false, false, 0), 32);
    }

    private void grows(long blocks, Predicate<Cdb> command) {
        due.add(new Due(AdditionalSense.CAPACITY_DATA_HAS_CHANGED, blocks, command));
    }

    private void hasOtherLuns(Predicate<Cdb> command) {
        due.add(new Due(AdditionalSense.REPORTED_LUNS_DATA_HAS_CHANGED, blockCount, command));
    }

    private Loopback loopback() { return new Loopback(peer -> disk.serve(peer, this::handled)); }

    private Session login(Initiator initiator, Loopback loopback) throws Exception {
        return initiator.login(loopback.options());
    }

    private Initiator initiator() {
        return Initiator.create(InitiatorOptions.of("iqn.2026-11.org.lunar:ears")
                .withListener((_, notice) -> notices.add(notice)));
    }

    /** Each read takes the session further: what was asked before it is answered before it. */
    private static void awaitGrown(BlockDevice device) throws Exception {
        for (int i = 0; i < 50 && device.blockCount() != GROWN; i++) {
            device.read(0, Loopback.blocks(1));
        }
        assertThat(device.blockCount()).isEqualTo(GROWN);
    }

    private void awaitLunsChanged(BlockDevice device) throws Exception {
        for (int i = 0; i < 50 && notices.isEmpty(); i++) {
            device.read(0, Loopback.blocks(1));
        }
        assertThat(notices).contains(new SessionNotice.LunsChanged());
    }

    @Test
    void shouldQueryNewSizeAgainAfterUnitAttention() throws Exception {
        try (var loopback = loopback(); LunDevice device = loopback.open()) {
            grows(300, ReadBlocks.class::isInstance);
            grows(GROWN, ReadCapacity16.class::isInstance);
            device.read(0, Loopback.blocks(1));
            awaitGrown(device);
            assertThat(due).isEmpty();
        }
    }

    @Test
    void shouldQueryAgainIfItGrowsDuringTheQuery() throws Exception {
        var held = new ArrayList<ScsiCommand>();
        try (var loopback = new Loopback(peer -> disk.serve(peer, (_, command, cdb) -> {
            if (cdb instanceof ReadCapacity16 && blockCount == 300 && held.isEmpty()) {
                held.add(command);
                return true;
            }
            boolean handled = handled(peer, command, cdb);
            if (blockCount == GROWN && !held.isEmpty()) {
                capacity(peer, held.removeFirst(), 300); // as it was when it was asked
            }
            return handled;
        })); LunDevice device = loopback.open()) {
            grows(300, ReadBlocks.class::isInstance);
            grows(GROWN, ReadBlocks.class::isInstance);
            device.read(0, Loopback.blocks(1));
            awaitGrown(device);
        }
    }

    @Test
    void shouldDetectLossInAnyCommandOfTheSession() throws Exception {
        List<SessionCall> calls = List.of(Session::luns,
                session -> session.execute(Lun.ZERO, new TestUnitReady().bytes(),
                        MemorySegment.NULL, MemorySegment.NULL),
                session -> session.start(Exchange.Scsi.reading(Lun.ZERO,
                        Bytes.of(MemorySegment.ofArray(new TestUnitReady().bytes())),
                        MemorySegment.NULL))
                        .await());
        for (SessionCall call : calls) {
            blockCount = ScriptedDisk.BLOCK_COUNT;
            try (var loopback = loopback(); Session session = loopback.login()) {
                LunDevice device = session.open(Lun.ZERO);
                grows(GROWN, cdb -> cdb instanceof ReportLuns || cdb instanceof TestUnitReady);
                call.on(session);
                assertThat(due).isEmpty();
                awaitGrown(device);
            }
        }
    }

    @FunctionalInterface
    private interface SessionCall {
        void on(Session session) throws Exception;
    }

    @Test
    void shouldDetectLossWhileTheUnitIsOpened() throws Exception {
        grows(GROWN, ModeSense.class::isInstance); // after READ CAPACITY
        try (var loopback = loopback(); LunDevice device = loopback.open()) {
            assertThat(due).isEmpty();
            awaitGrown(device);
        }
    }

    @Test
    void shouldReportOtherUnitsDetectedByAnyQuery() throws Exception {
        List<Predicate<Cdb>> heardBy = List.of(ReadCapacity16.class::isInstance,
                ReportLuns.class::isInstance, ModeSense.class::isInstance);
        for (Predicate<Cdb> by : heardBy) {
            notices.clear();
            try (var loopback = loopback();
                    var initiator = initiator();
                    Session session = login(initiator, loopback)) {
                hasOtherLuns(by);
                LunDevice device = session.open(Lun.ZERO);
                List<Lun> _ = session.luns();
                assertThat(due).isEmpty();
                awaitLunsChanged(device);
            }
        }
    }

    /** Such a unit would keep the session busy with nothing but these questions. */
    @Test
    void shouldPauseIfEachQueryMeetsAUnitAttention() throws Exception {
        var pendingRequests = new AtomicInteger();
        var open = new AtomicBoolean();
        try (var log = new CapturedLog("lunar.initiator");
                var loopback = new Loopback(peer -> disk.serve(peer, (_, command, cdb) -> {
                    if (open.get() && cdb instanceof ReadCapacity16) {
                        pendingRequests.incrementAndGet();
                        ScriptedDisk.sense(peer, command, Sense.of(SenseKey.UNIT_ATTENTION,
                                AdditionalSense.CAPACITY_DATA_HAS_CHANGED));
                        return true;
                    }
                    return handled(peer, command, cdb);
                }));
                LunDevice device = loopback.open()) {
            open.set(true);
            device.askCapacity();
            while (log.linesWith("no valid response").isEmpty()) {
                device.read(0, Loopback.blocks(1));
            }
            for (int i = 0; i < 1000; i++) { // the unit answers one command after the other
                device.read(0, Loopback.blocks(1));
            }
            int some = 17 * (1 + RetryPolicy.MAX_ATTENTIONS);
            assertThat(pendingRequests).hasValueLessThan(some);
            blockCount = GROWN;
            open.set(false);
            device.askCapacity(); // once the pause is over
            while (device.blockCount() != GROWN) {
                device.read(0, Loopback.blocks(1));
            }
        }
    }

    /** Each path is a nexus with attentions of its own, and one that nothing is sent by hears nothing. */
    @Test
    void shouldGrowOnAllPathsAfterOneReportsIt() throws Exception {
        try (var loopback = loopback();
                MultipathDevice device = MultipathDevice.open(loopback.initiator,
                        MultipathOptions.of(Stream.generate(loopback::options).limit(2).toList(),
                                Lun.ZERO).withPolicy(PathPolicy.fixed()))) {
            while (device.paths().stream().anyMatch(path -> path.state() != Path.State.UP)) {
                Thread.onSpinWait();
            }
            grows(GROWN, ReadBlocks.class::isInstance);
            while (device.blockCount() != GROWN) { // the other path is asked beside the reads
                device.read(0, Loopback.blocks(1));
            }
        }
    }
}
