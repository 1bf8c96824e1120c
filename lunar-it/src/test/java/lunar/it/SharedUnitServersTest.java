package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.block.ReservationConflictException;
import lunar.block.StorageException;
import lunar.initiator.Initiator;
import lunar.initiator.LunDevice;
import lunar.initiator.SessionOptions;
import lunar.initiator.Timeouts;
import lunar.initiator.scsi.Reservations;
import lunar.initiator.scsi.ScsiUnit;
import lunar.iscsi.text.DiscoveredTarget;
import lunar.iscsi.text.TargetAddress;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Lun;
import lunar.scsi.primary.TargetPortGroups;
import lunar.scsi.reservation.ReservationStatus.Held;
import lunar.scsi.reservation.ReservationType;
import lunar.scsi.target.block.DiskSpec;
import lunar.target.PortalSpec;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;
import lunar.testkit.FreePorts;
import lunar.testkit.Seed;
import lunar.testkit.SharedStates;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests two servers that share a unit: they share its reservations, and each reports the other's portal group. */
@Timeout(120)
class SharedUnitServersTest {
    private static final String TARGET = "iqn.2026-11.org.lunar:shared";
    private static final long KEY_1 = 0x1111;
    private static final long KEY_2 = 0x2222;
    private static final int SLOW_MS = 1500;
    /** A preempted task gets no answer: its initiator learns of its end by a unit attention, or gives it up. */
    private static final int COMMAND_MS = 3000;

    private final SharedStates states = new SharedStates();
    private final List<AutoCloseable> open = new ArrayList<>();
    private final int[] ports = new int[2];

    /** Starts both servers over one device. */
    private void serve(String uri) throws Exception {
        BlockDevice device = Devices.open(uri);
        open.add(device);
        for (int i = 0; i < ports.length; i++) {
            ports[i] = FreePorts.one();
        }
        for (int i = 0; i < ports.length; i++) {
            int other = 1 - i;
            open.add(TargetServer.builder()
                    .portal(PortalSpec.of(new InetSocketAddress(
                            InetAddress.getLoopbackAddress(), ports[i])).withGroup(1 + i))
                    .portal(PortalSpec.ofOtherServer(
                            new TargetAddress("127.0.0.1", ports[other], OptionalInt.empty()),
                            1 + other))
                    .target(TargetSpec.of(TARGET).withLun(0,
                            DiskSpec.of(device).withState(states.join())))
                    .start());
        }
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
    }

    private LunDevice disk(String host, int server) throws IOException {
        Initiator initiator = Initiator.create("iqn.2026-11.org.lunar:" + host);
        open.add(initiator);
        return initiator.login(SessionOptions.of("127.0.0.1", ports[server], TARGET)
                .withTimeouts(Timeouts.DEFAULT.withCommandMs(COMMAND_MS))).open(Lun.ZERO);
    }

    private static Reservations reservations(LunDevice disk) {
        return ScsiUnit.of(disk).reservations();
    }

    private static void write(LunDevice disk) throws StorageException {
        disk.write(0, MemorySegment.ofArray(new byte[512]));
    }

    @Test
    void shouldKeepReservationsAtBothServers() throws Exception {
        serve("ram:1MiB");
        LunDevice firstDisk = disk("one", 0);
        LunDevice secondDisk = disk("two", 1);
        Reservations first = reservations(firstDisk);
        Reservations second = reservations(secondDisk);
        first.register(KEY_1);
        first.reserve(KEY_1, ReservationType.WRITE_EXCLUSIVE);
        assertThat(second.reservation().held())
                .contains(new Held(KEY_1, ReservationType.WRITE_EXCLUSIVE));
        write(firstDisk);
        assertThatThrownBy(() -> write(secondDisk))
                .isInstanceOf(ReservationConflictException.class);
        second.register(KEY_2);
        assertThat(first.keys()).isEqualTo(second.keys());
        assertThat(first.fullStatus().registrations()).hasSize(2)
                .isEqualTo(second.fullStatus().registrations());
        first.release(KEY_1, ReservationType.WRITE_EXCLUSIVE);
        write(secondDisk);
    }

    @Test
    void shouldReportChangesToNexusesOfTheOtherServer() throws Exception {
        serve("ram:1MiB");
        LunDevice firstDisk = disk("one", 0);
        Reservations first = reservations(firstDisk);
        Reservations second = reservations(disk("two", 1));
        var told = new ConcurrentLinkedQueue<AdditionalSense>();
        first.register(KEY_1);
        second.register(KEY_2);
        first.reserve(KEY_1, ReservationType.WRITE_EXCLUSIVE_REGISTRANTS_ONLY);
        firstDisk.onAttention(told::add);

        second.preempt(KEY_2, KEY_1, ReservationType.WRITE_EXCLUSIVE);
        assertThatThrownBy(() -> write(firstDisk)).isInstanceOf(ReservationConflictException.class);
        assertThat(told).containsExactly(AdditionalSense.REGISTRATIONS_PREEMPTED);

        first.register(KEY_1);
        second.clear(KEY_2);
        write(firstDisk);
        assertThat(told).containsExactly(AdditionalSense.REGISTRATIONS_PREEMPTED,
                AdditionalSense.RESERVATIONS_PREEMPTED);
    }

    @Test
    void shouldEndTasksAtTheOtherServerBeforeThePreemptionCompletes() throws Exception {
        serve("delay=" + SLOW_MS + "ms:ram:1MiB");
        LunDevice firstDisk = disk("one", 0);
        Reservations first = reservations(firstDisk);
        Reservations second = reservations(disk("two", 1));
        first.register(KEY_1);
        second.register(KEY_2);
        CompletableFuture<Void> written = firstDisk.submitWrite(0,
                MemorySegment.ofArray(new byte[512]));
        TargetServer server = (TargetServer) open.get(1);
        ServedTarget.await("the write", () -> server.bufferBytesInUse() > 0);

        second.preemptAndAbort(KEY_2, KEY_1, ReservationType.WRITE_EXCLUSIVE);
        assertThat(server.bufferBytesInUse()).as("tasks of the preempted").isZero();
        assertThatThrownBy(written::join).isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(StorageException.class);
    }

    @Test
    void shouldDecideEachChangeOnceOnAnyServer() throws Exception {
        serve("ram:1MiB");
        long seed = Seed.next();
        var counted = new AtomicInteger();
        var running = new ArrayList<Future<Boolean>>();
        var all = new ArrayList<Reservations>();
        try (var threads = Executors.newFixedThreadPool(4)) {
            for (int i = 0; i < 4; i++) {
                Reservations mine = reservations(disk("host" + i, i % 2));
                var random = new Random(seed + i);
                all.add(mine);
                long key = 100 + i;
                running.add(threads.submit(() -> {
                    for (int step = 0; step < 60; step++) {
                        counted.addAndGet(change(mine, key, random));
                    }
                    return true;
                }));
            }
            for (Future<Boolean> each : running) {
                assertThat(each.get()).isTrue();
            }
        }
        for (Reservations each : all) {
            assertThat(each.keys()).as("seed " + seed).isEqualTo(all.getFirst().keys());
            assertThat(each.reservation()).isEqualTo(all.getFirst().reservation());
            assertThat(each.keys().generation()).as("changes, each of which counts once")
                    .isEqualTo(counted.get());
        }
    }

    /** Creates a random change; returns by how much the generation has risen for it. */
    private static int change(Reservations mine, long key, Random random)
            throws StorageException {
        try {
            switch (random.nextInt(5)) {
                case 0, 1 -> mine.registerAnyhow(key);
                case 2 -> mine.unregister(key);
                case 3 -> {
                    mine.reserve(key, ReservationType.WRITE_EXCLUSIVE_REGISTRANTS_ONLY);
                    return 0;
                }
                default -> mine.preempt(key, 100 + random.nextInt(4),
                        ReservationType.WRITE_EXCLUSIVE_REGISTRANTS_ONLY);
            }
            return 1;
        } catch (ReservationConflictException _) {
            return 0;
        }
    }

    @Test
    void shouldChangeNothingWhereTheStoreFails() throws Exception {
        serve("ram:1MiB");
        LunDevice firstDisk = disk("one", 0);
        Reservations first = reservations(firstDisk);
        first.register(KEY_1);
        states.failing(true);
        assertThatThrownBy(() -> first.reserve(KEY_1, ReservationType.EXCLUSIVE_ACCESS))
                .isInstanceOf(StorageException.class);
        states.failing(false);
        assertThat(first.reservation().held()).isEmpty();
        write(disk("two", 1));
        first.reserve(KEY_1, ReservationType.EXCLUSIVE_ACCESS);
        assertThatThrownBy(() -> write(disk("two", 1)))
                .isInstanceOf(ReservationConflictException.class);
    }

    @Test
    void shouldReportThePortalsOfBothServers() throws Exception {
        serve("ram:1MiB");
        LunDevice firstDisk = disk("one", 0);
        Initiator initiator = Initiator.create("iqn.2026-11.org.lunar:finder");
        open.add(initiator);
        for (int port : ports) {
            List<DiscoveredTarget> found = initiator.discover("127.0.0.1:" + port);
            assertThat(found).hasSize(1);
            assertThat(found.getFirst().addresses()).containsExactlyInAnyOrder(
                    new TargetAddress("127.0.0.1", ports[0], OptionalInt.of(1)),
                    new TargetAddress("127.0.0.1", ports[1], OptionalInt.of(2)));
        }
        TargetPortGroups groups = ScsiUnit.of(firstDisk).portGroups().report();
        assertThat(groups.groups()).extracting(TargetPortGroups.Group::number).containsExactly(1,
                2);
    }
}
