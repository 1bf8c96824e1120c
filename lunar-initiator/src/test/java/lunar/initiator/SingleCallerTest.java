package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.BlockRequest;
import lunar.block.StorageException;
import lunar.iscsi.pdu.AsyncEvent;
import lunar.iscsi.pdu.AsyncMessage;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.block.ReadBlocks;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests that a single thread that waits for each command receives its responses itself, but runs no other caller's
 * code.
 */
@Timeout(120)
class SingleCallerTest {
    private static final String LOOP = "lunar-initiator-0";

    private final Set<String> answerers = ConcurrentHashMap.newKeySet();
    private final LinkedBlockingQueue<String> told = new LinkedBlockingQueue<>();

    /** An initiator that records the threads that receive responses and that report session events. */
    private Initiator initiator() throws IOException {
        return Initiator.create(InitiatorOptions.of("iqn.2026-11.org.lunar:test")
                .withMetrics((_, _, _, _, _, _) -> answerers.add(threadName()))
                .withListener((_, _) -> told.add(threadName())));
    }

    private static String threadName() { return Thread.currentThread().getName(); }

    /** Reads until an answer was received by the caller itself. */
    private void readAlone(LunDevice device) throws StorageException {
        do {
            device.read(0, Loopback.blocks(1));
        } while (!answerers.contains(threadName()));
    }

    private String firstTold() throws InterruptedException {
        return told.poll(60, TimeUnit.SECONDS);
    }

    @Test
    void shouldLeaveMessagesAndAttentionsToTheLoop() throws Exception {
        var reads = new AtomicInteger();
        var special = new AtomicInteger(Integer.MAX_VALUE);
        try (var loopback = Loopback.disk((peer, command, cdb) -> {
            if (!(cdb instanceof ReadBlocks) || reads.incrementAndGet() != special.get()) {
                return false;
            }
            peer.send(new AsyncMessage(Lun.ZERO, peer.statSn(), peer.expCmdSn(), peer.maxCmdSn(),
                    AsyncEvent.VENDOR_SPECIFIC.code(), 0, 0, 0, 0));
            ScriptedDisk.sense(peer, command, Sense.of(SenseKey.UNIT_ATTENTION,
                    AdditionalSense.POWER_ON_OCCURRED));
            return true;
        }); Initiator initiator = initiator()) {
            Session session = initiator.login(loopback.options());
            try (LunDevice device = session.open(Lun.ZERO, session::close)) {
                device.onAttention(_ -> told.add(threadName()));
                readAlone(device);
                told.clear();
                special.set(reads.get() + 1);
                device.read(0, Loopback.blocks(1));
                assertThat(firstTold()).isEqualTo(LOOP);
                assertThat(firstTold()).isEqualTo(LOOP);
                device.read(0, Loopback.blocks(1));
            }
        }
    }

    @Test
    void shouldCompleteWhatOthersSubmitOnTheLoop() throws Exception {
        try (var loopback = Loopback.disk((_, _, _) -> false); Initiator initiator = initiator()) {
            Session session = initiator.login(loopback.options());
            try (LunDevice device = session.open(Lun.ZERO, session::close)) {
                for (int i = 0; i < 50; i++) {
                    answerers.clear();
                    readAlone(device);
                    device.submit(new BlockRequest().onCompletion((_, _) -> told.add(threadName()))
                            .asRead(0, 1, Loopback.blocks(1)));
                    device.read(0, Loopback.blocks(1)); // a guest for both, it may be
                    assertThat(firstTold()).isEqualTo(LOOP);
                }
            }
        }
    }

    @Test
    void shouldServeThreadsThatJoinAndLeave() throws Exception {
        try (var loopback = Loopback.disk((_, _, _) -> false); Initiator initiator = initiator()) {
            Session session = initiator.login(loopback.options());
            try (LunDevice device = session.open(Lun.ZERO, session::close)) {
                for (int i = 0; i < 20; i++) {
                    answerers.clear();
                    readAlone(device);
                    var threads = new Thread[]{Thread.startVirtualThread(() -> read(device, 30)),
                            Thread.ofPlatform().start(() -> read(device, 30))};
                    read(device, 20);
                    for (Thread thread : threads) {
                        thread.join();
                    }
                }
                assertThat(told).isEmpty();
            }
        }
    }

    private void read(LunDevice device, int times) {
        try {
            for (int i = 0; i < times; i++) {
                device.read(i, Loopback.blocks(1));
            }
        } catch (StorageException e) {
            told.add(e.getMessage());
        }
    }
}
