package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.LostWritesException;
import lunar.initiator.internal.lun.CapacityQuery;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Cdb;
import lunar.scsi.CdbForm;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import lunar.scsi.block.ReadBlocks;
import lunar.scsi.block.WriteBlocks;
import lunar.scsi.mode.CachingModePage;
import lunar.scsi.mode.ModeSelect;
import lunar.scsi.mode.ModeSense;
import lunar.testkit.ScriptedPeer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests a unit whose write cache is switched on or off while it is open. */
@Timeout(120)
class CacheModeTest {
    private final ConcurrentLinkedQueue<AdditionalSense> attentions = new ConcurrentLinkedQueue<>();
    private final AtomicInteger answers = new AtomicInteger();
    private volatile boolean isOn;
    private volatile boolean refuses;
    private volatile boolean refusesSinglePages;
    /** Whether each question is answered with a unit attention first; whether the next one is not. */
    private volatile boolean grumbles;
    private volatile boolean hasGrumbled;
    /** Whether the next question is answered by the next read; that question. */
    private volatile boolean holds;
    private final ConcurrentLinkedQueue<ScsiCommand> held = new ConcurrentLinkedQueue<>();
    /** Whether the status of the next write is held back until the page has been read again; that write. */
    private volatile boolean holdsWrite;
    private final ConcurrentLinkedQueue<ScsiCommand> heldWrites = new ConcurrentLinkedQueue<>();

    private boolean handled(ScriptedPeer peer, ScsiCommand command, Cdb cdb) throws Exception {
        if (cdb instanceof ReadBlocks && !held.isEmpty()) {
            answer(peer, held.remove());
        }
        if (cdb instanceof WriteBlocks && holdsWrite) {
            holdsWrite = false;
            heldWrites.add(command);
            return true;
        }
        if (cdb instanceof ReadBlocks || cdb instanceof WriteBlocks) {
            AdditionalSense attention = attentions.poll();
            if (attention != null) {
                ScriptedDisk.sense(peer, command, Sense.of(SenseKey.UNIT_ATTENTION, attention));
            }
            return attention != null;
        }
        if (cdb instanceof ModeSelect) {
            isOn = true;
            ScriptedDisk.status(peer, command, Status.GOOD);
            return true;
        }
        if (!(cdb instanceof ModeSense sense) || refuses
                || (refusesSinglePages && sense.page() != ModeSense.ALL_PAGES)) {
            return false;
        }
        hasGrumbled = grumbles && !hasGrumbled;
        if (hasGrumbled) {
            ScriptedDisk.sense(peer, command, Sense.of(SenseKey.UNIT_ATTENTION,
                    AdditionalSense.MODE_PARAMETERS_CHANGED));
        } else if (holds) {
            holds = false;
            held.add(command);
        } else {
            answer(peer, command);
        }
        return true;
    }

    private void answer(ScriptedPeer peer, ScsiCommand command) throws Exception {
        byte[] page = CachingModePage.of(isOn).bytes();
        byte[] data = new byte[4 + page.length];
        data[0] = (byte) (data.length - 1);
        System.arraycopy(page, 0, data, 4, page.length);
        ScriptedDisk.dataIn(peer, command, data);
        answers.incrementAndGet();
        if (!heldWrites.isEmpty()) {
            ScriptedDisk.status(peer, heldWrites.remove(), Status.GOOD);
        }
    }

    private static void write(LunDevice device) throws Exception {
        device.write(0, Loopback.blocks(1));
    }

    private void powerCycle(LunDevice device) throws Exception {
        attentions.add(AdditionalSense.POWER_ON_OCCURRED);
        device.read(0, Loopback.blocks(1));
        assertThat(attentions).isEmpty();
    }

    /** What was asked before a read is answered before it. */
    private void awaitAnswers(LunDevice device, int count) throws Exception {
        for (int i = 0; i < 50 && answers.get() < count; i++) {
            device.read(0, Loopback.blocks(1));
        }
        assertThat(answers).hasValue(count);
        device.read(0, Loopback.blocks(1));
    }

    @Test
    void shouldNotTrackWritesWhileTheCacheIsOff() throws Exception {
        try (var loopback = Loopback.disk(this::handled); LunDevice device = loopback.open()) {
            write(device);
            powerCycle(device);
            assertThat(device.writeLosses()).isZero();
            device.flush();
        }
    }

    /** The report answers the write, which is then sent again and stays in the cache. */
    @ParameterizedTest
    @CsvSource({"false", "true"})
    void shouldTrackWritesOnceTheCacheIsOnWhetherThePageCanBeReadOrNot(boolean isRefused)
            throws Exception {
        try (var loopback = Loopback.disk(this::handled); LunDevice device = loopback.open()) {
            write(device);
            isOn = true;
            refuses = isRefused;
            attentions.add(AdditionalSense.MODE_PARAMETERS_CHANGED);
            write(device);
            if (!isRefused) {
                awaitAnswers(device, 2);
            }
            powerCycle(device);
            assertThat(device.writeLosses()).isEqualTo(1);
            assertThatThrownBy(device::flush).isInstanceOf(LostWritesException.class);
            device.flush();
        }
    }

    @Test
    void shouldTrackNoWritesAfterTheCacheWasSwitchedOff() throws Exception {
        isOn = true;
        try (var loopback = Loopback.disk(this::handled); LunDevice device = loopback.open()) {
            write(device);
            device.flush();
            isOn = false;
            attentions.add(AdditionalSense.MODE_PARAMETERS_CHANGED);
            device.read(0, Loopback.blocks(1));
            awaitAnswers(device, 2);
            write(device);
            powerCycle(device);
            assertThat(device.writeLosses()).isZero();
            device.flush();
        }
    }

    /** Writes of the time before are lost all the same. */
    @Test
    void shouldReportALossAfterTheCacheWasSwitchedOff() throws Exception {
        isOn = true;
        try (var loopback = Loopback.disk(this::handled); LunDevice device = loopback.open()) {
            write(device);
            powerCycle(device);
            awaitAnswers(device, 2);
            isOn = false;
            attentions.add(AdditionalSense.MODE_PARAMETERS_CHANGED);
            device.read(0, Loopback.blocks(1));
            awaitAnswers(device, 3);
            assertThatThrownBy(device::flush).isInstanceOf(LostWritesException.class);
            device.flush();
        }
    }

    /** A reset restores saved values, and need not report that as a change. */
    @Test
    void shouldReadThePageAgainAfterAReset() throws Exception {
        try (var loopback = Loopback.disk(this::handled); LunDevice device = loopback.open()) {
            isOn = true;
            powerCycle(device);
            awaitAnswers(device, 2);
            write(device);
            powerCycle(device);
            assertThatThrownBy(device::flush).isInstanceOf(LostWritesException.class);
        }
    }

    /** A unit reports no change to the session that has made it. */
    @Test
    void shouldReadThePageAgainAfterAModeSelectOfItsOwnSession() throws Exception {
        try (var loopback = Loopback.disk(this::handled); LunDevice device = loopback.open()) {
            device.session().execute(Lun.ZERO,
                    new ModeSelect(CdbForm.CDB6, true, false, false, 0).bytes(), MemorySegment.NULL,
                    MemorySegment.NULL);
            write(device);
            powerCycle(device);
            assertThatThrownBy(device::flush).isInstanceOf(LostWritesException.class);
        }
    }

    /** The cache may have been on when they were executed, and shows WCE 0 before it is destaged. */
    @ParameterizedTest
    @CsvSource({"false", "true"})
    void shouldTrackWritesOfTheTimeBeforeTheAnswerUntilTheNextFlush(boolean isFlushed)
            throws Exception {
        try (var loopback = Loopback.disk(this::handled); LunDevice device = loopback.open()) {
            holds = true;
            attentions.add(AdditionalSense.POWER_ON_OCCURRED);
            write(device); // acknowledged while the question waits
            for (int i = 0; i < 3; i++) {
                device.read(0, Loopback.blocks(1)); // the first lets it be answered
            }
            assertThat(held).isEmpty();
            if (isFlushed) {
                device.flush();
            }
            powerCycle(device);
            assertThat(device.writeLosses()).isEqualTo(isFlushed ? 0 : 1);
        }
    }

    /** A target shows WCE 0 before it has destaged the writes, and may lose power meanwhile. */
    @Test
    void shouldTrackWritesOfACacheThatWasSwitchedOffUntilTheNextFlush() throws Exception {
        isOn = true;
        try (var loopback = Loopback.disk(this::handled); LunDevice device = loopback.open()) {
            write(device);
            isOn = false;
            attentions.add(AdditionalSense.MODE_PARAMETERS_CHANGED);
            device.read(0, Loopback.blocks(1));
            awaitAnswers(device, 2);
            powerCycle(device);
            assertThatThrownBy(device::flush).isInstanceOf(LostWritesException.class);
            device.flush();
        }
    }

    /** It was executed while the cache was on. */
    @Test
    void shouldTrackAWriteThatIsAcknowledgedAfterTheCacheWasSwitchedOff() throws Exception {
        isOn = true;
        try (var loopback = Loopback.disk(this::handled); LunDevice device = loopback.open()) {
            holdsWrite = true;
            CompletableFuture<Void> write = device.submitWrite(0, Loopback.blocks(1));
            isOn = false;
            attentions.add(AdditionalSense.MODE_PARAMETERS_CHANGED);
            device.read(0, Loopback.blocks(1));
            write.get(); // after the answer
            powerCycle(device);
            assertThat(device.writeLosses()).isEqualTo(1);
        }
    }

    @Test
    void shouldNotAskForeverIfTheUnitReportsAChangeBeforeEachAnswer() throws Exception {
        try (var loopback = Loopback.disk(this::handled); LunDevice device = loopback.open()) {
            grumbles = true;
            attentions.add(AdditionalSense.MODE_PARAMETERS_CHANGED);
            for (int i = 0; i < 50; i++) {
                device.read(0, Loopback.blocks(1));
            }
            assertThat(answers).hasValue(2);
            powerCycle(device);
            write(device);
            device.flush();
        }
    }

    /** Some units return all pages or none. */
    @Test
    void shouldAskForThePageThatTheUnitReturnedWhenItWasOpened() throws Exception {
        refusesSinglePages = true;
        try (var loopback = Loopback.disk(this::handled); LunDevice device = loopback.open()) {
            attentions.add(AdditionalSense.MODE_PARAMETERS_CHANGED);
            device.read(0, Loopback.blocks(1));
            awaitAnswers(device, 2);
            write(device);
            powerCycle(device);
            assertThat(device.writeLosses()).isZero();
        }
    }

    /** One connection is slow, and the responses of several have no order. */
    @Test
    void shouldTrackAWriteWhoseStatusOvertakesTheReportOfTheChange() throws Exception {
        var delayed = new CountDownLatch(1);
        var overtaken = new CountDownLatch(1);
        try (var loopback = new Loopback(peer -> {
            peer.login("MaxConnections=2", "TargetPortalGroupTag=1");
            new ScriptedDisk().serveLoggedIn(peer, (_, command, cdb) -> {
                if (!(cdb instanceof ReadBlocks) || delayed.getCount() == 0) {
                    return handled(peer, command, cdb);
                }
                delayed.countDown();
                overtaken.await();
                ScriptedDisk.sense(peer, command, Sense.of(SenseKey.UNIT_ATTENTION,
                        AdditionalSense.MODE_PARAMETERS_CHANGED));
                return true;
            });
        });
                Session session = loopback.initiator
                        .login(loopback.options().withConnections(2));
                LunDevice device = session.open(Lun.ZERO)) {
            assertThat(session.connectionCount()).isEqualTo(2);
            isOn = true;
            CompletableFuture<Void> read = device.submitRead(0, Loopback.blocks(1));
            delayed.await();
            write(device); // by the other connection
            overtaken.countDown();
            read.get();
            powerCycle(device);
            assertThat(device.writeLosses()).isEqualTo(1);
        }
    }

    /** An answer that could not be adopted must not be the last. */
    @Test
    void shouldAskAgainAfterTheAdoptionOfAnAnswerHasFailed() throws Exception {
        var failed = new CountDownLatch(1);
        var adopted = new CountDownLatch(1);
        try (var loopback = Loopback.disk(this::handled); Session session = loopback.login()) {
            var query = new CapacityQuery(session.engine(), Lun.ZERO, new CapacityQuery.Device() {
                @Override
                public int blockSize() { return ScriptedDisk.BLOCK_SIZE; }

                @Override
                public long blockCount() { return 0; }

                @Override
                public void resize(long blockCount) {
                    if (failed.getCount() == 0) {
                        adopted.countDown();
                    } else {
                        failed.countDown();
                        throw new IllegalStateException("of the test");
                    }
                }

                @Override
                public boolean isClosed() { return false; }
            });
            query.ask();
            failed.await();
            query.ask();
            adopted.await();
        }
    }
}
