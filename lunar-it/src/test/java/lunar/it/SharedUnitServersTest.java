package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.block.ReservationConflictException;
import lunar.block.StorageException;
import lunar.block.WriteProtectedException;
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
import lunar.scsi.mode.CachingModePage;
import lunar.scsi.mode.ControlModePage;
import lunar.scsi.mode.DiskModePages;
import lunar.scsi.mode.ModePage;
import lunar.scsi.mode.ModeSense;
import lunar.scsi.primary.TargetPortGroups;
import lunar.scsi.primary.TargetPortGroups.State;
import lunar.scsi.reservation.ReservationStatus.Held;
import lunar.scsi.reservation.ReservationType;
import lunar.scsi.target.StateStore;
import lunar.scsi.target.block.DiskSpec;
import lunar.target.PortalSpec;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;
import lunar.testkit.FreePorts;
import lunar.testkit.Seed;
import lunar.testkit.SharedStates;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests two servers that share a unit: reservations, access states and mode pages, and the other's portal group. */
class SharedUnitServersTest {
    private static final String TARGET = "iqn.2026-11.org.lunar:shared";
    private static final long KEY_1 = 0x1111;
    private static final long KEY_2 = 0x2222;
    private static final int SLOW_MS = 4500;
    /** SWP, in byte 2 of the parameters of the Control page. */
    private static final int SWP = 1 << 3;
    /** A preempted task gets no answer: its initiator learns of its end by a unit attention, or gives it up. */
    private static final int COMMAND_MS = 10_000;

    private final SharedStates states = new SharedStates();
    private final List<AutoCloseable> open = new ArrayList<>();
    private final int[] ports = new int[2];
    private final TargetServer[] servers = new TargetServer[2];
    private BlockDevice device;

    /** Starts both servers over one device. */
    private void serve(String uri) throws Exception {
        device = Devices.open(uri);
        open.add(device);
        for (int i = 0; i < ports.length; i++) {
            ports[i] = FreePorts.one();
        }
        for (int i = 0; i < ports.length; i++) {
            start(i, spec -> spec);
        }
    }

    private void start(int i, UnaryOperator<TargetSpec> changes) throws IOException {
        servers[i] = builder(i, states.join(), changes).start();
        open.add(servers[i]);
    }

    private TargetServer.Builder builder(int i, StateStore store,
            UnaryOperator<TargetSpec> changes) {
        int other = 1 - i;
        return TargetServer.builder()
                .portal(PortalSpec.of(new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), ports[i])).withGroup(1 + i))
                .portal(PortalSpec.ofOtherServer(
                        new TargetAddress("127.0.0.1", ports[other], OptionalInt.empty()),
                        1 + other))
                .target(changes.apply(TargetSpec.of(TARGET).withLun(0,
                        DiskSpec.of(device).withState(store))));
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

    /**
     * Waits until listeners have been told what earlier commands have brought. A caller that runs the event loop itself
     * leaves them to the loop's own thread, which runs them before the completion of a later command.
     */
    private static void awaitListeners(LunDevice disk) {
        var _ = disk.submitRead(0, MemorySegment.ofArray(new byte[512])).handle((_, _) -> true)
                .join();
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
        awaitListeners(firstDisk);
        assertThat(told).containsExactly(AdditionalSense.REGISTRATIONS_PREEMPTED);

        first.register(KEY_1);
        second.clear(KEY_2);
        write(firstDisk);
        awaitListeners(firstDisk);
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
        TargetServer server = servers[0];
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

    // --- asymmetric access states ---

    /** A host at a server, and the unit attentions that it was told. */
    private record Host(LunDevice disk, ScsiUnit unit, Queue<AdditionalSense> told) {
        /** Returns what it was told since it was last asked this. */
        List<AdditionalSense> attentions() throws IOException {
            unit.portGroups().report(); // takes what pends
            awaitListeners(disk);
            List<AdditionalSense> all = List.copyOf(told);
            told.clear();
            return all;
        }

        Map<Integer, State> groups() throws IOException {
            return unit.portGroups().report().groups().stream()
                    .collect(Collectors.toMap(TargetPortGroups.Group::number,
                            TargetPortGroups.Group::state));
        }

        ModePage caching(ModeSense.PageControl control) throws IOException {
            return unit.modes().page(control, CachingModePage.CODE, 0);
        }

        ModePage control() throws IOException { return unit.modes().page(ControlModePage.CODE); }

        ModePage protect(boolean on, boolean save) throws IOException {
            return unit.modes().change(ControlModePage.CODE, 0,
                    page -> page.withParameters(page.parameters().with(2,
                            page.parameters().at(2) & ~SWP | (on ? SWP : 0))),
                    save);
        }
    }

    private Host host(String name, int server) throws IOException {
        LunDevice disk = disk(name, server);
        var told = new ConcurrentLinkedQueue<AdditionalSense>();
        disk.onAttention(told::add);
        var host = new Host(disk, ScsiUnit.of(disk), told);
        host.attentions();
        return host;
    }

    private static final List<AdditionalSense> ACCESS_CHANGED = List
            .of(AdditionalSense.ASYMMETRIC_ACCESS_STATE_CHANGED);
    private static final List<AdditionalSense> MODES_CHANGED = List
            .of(AdditionalSense.MODE_PARAMETERS_CHANGED);

    @Test
    void shouldSetAccessStatesAtBothServers() throws Exception {
        serve("ram:1MiB");
        Host first = host("one", 0);
        Host neighbour = host("two", 0);
        Host second = host("three", 1);
        first.unit().portGroups().set(Map.of(1, State.ACTIVE_NON_OPTIMIZED, 2, State.STANDBY));
        assertThat(second.attentions()).isEqualTo(ACCESS_CHANGED);
        assertThat(neighbour.attentions()).isEqualTo(ACCESS_CHANGED);
        assertThat(first.attentions()).isEmpty();
        for (Host each : List.of(first, neighbour, second)) {
            assertThat(each.groups()).isEqualTo(
                    Map.of(1, State.ACTIVE_NON_OPTIMIZED, 2, State.STANDBY));
        }
        assertThat(second.unit().portGroups().report())
                .isEqualTo(first.unit().portGroups().report());
        assertThatThrownBy(second.unit()::requireReady).as("standby")
                .isInstanceOf(StorageException.class);
        write(first.disk());

        second.unit().portGroups().set(Map.of(1, State.STANDBY, 2, State.ACTIVE_OPTIMIZED));
        write(second.disk());
        assertThat(first.attentions()).isEqualTo(ACCESS_CHANGED);
        assertThatThrownBy(first.unit()::requireReady).isInstanceOf(StorageException.class);
        assertThat(second.attentions()).isEmpty();
    }

    @Test
    void shouldTellOnceOfAStateThatAnOperatorSetsAtTheOtherServer() throws Exception {
        serve("ram:1MiB");
        Host first = host("one", 0);
        Host second = host("two", 1);
        servers[0].changeAccess(TARGET, 2, State.STANDBY);
        assertThat(second.attentions()).isEqualTo(ACCESS_CHANGED);
        assertThat(first.attentions()).isEqualTo(ACCESS_CHANGED);
        servers[1].changeAccess(TARGET, 2, State.STANDBY); // it is already
        assertThat(first.attentions()).isEmpty();
        assertThat(second.attentions()).isEmpty();
        servers[1].update(servers[1].spec(TARGET).orElseThrow().withState(1, State.STANDBY));
        ServedTarget.await("the new specification",
                () -> states(first).equals(Map.of(1, State.STANDBY, 2, State.STANDBY)));
        assertThat(first.attentions()).isEqualTo(ACCESS_CHANGED);
    }

    private static Map<Integer, State> states(Host host) {
        try {
            return host.groups();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldTakeOverAccessStatesWhenAServerStartsAgain() throws Exception {
        serve("ram:1MiB");
        Host second = host("two", 1);
        servers[0].changeAccess(TARGET, 1, State.STANDBY);
        servers[0].close();
        second.unit().portGroups().set(Map.of(1, State.ACTIVE_NON_OPTIMIZED));
        second.attentions();
        start(0, spec -> spec.withState(1, State.UNAVAILABLE).withState(2, State.STANDBY));
        Host first = host("one", 0);
        assertThat(first.groups()).as("set by hosts, and by the new server what nobody had set")
                .isEqualTo(Map.of(1, State.ACTIVE_NON_OPTIMIZED, 2, State.STANDBY));
        assertThat(second.attentions()).isEqualTo(ACCESS_CHANGED);
        assertThatThrownBy(second.unit()::requireReady).isInstanceOf(StorageException.class);
        write(first.disk());
        assertThat(first.attentions()).isEmpty();
    }

    @Test
    void shouldKeepAccessStatesAndModesWhereTheStoreFails() throws Exception {
        serve("ram:1MiB");
        Host first = host("one", 0);
        Host second = host("two", 1);
        states.failing(true);
        assertThatThrownBy(() -> first.unit().portGroups().set(Map.of(1, State.STANDBY)))
                .isInstanceOf(StorageException.class)
                .hasMessageContaining("set target port groups command failed");
        assertThatThrownBy(() -> first.protect(true, false)).isInstanceOf(StorageException.class);
        assertThatThrownBy(() -> servers[1].changeAccess(TARGET, 2, State.STANDBY))
                .isInstanceOf(StorageException.class);
        states.failing(false);
        for (Host each : List.of(first, second)) {
            write(each.disk());
            assertThat(each.groups()).isEqualTo(
                    Map.of(1, State.ACTIVE_OPTIMIZED, 2, State.ACTIVE_OPTIMIZED));
            assertThat(each.attentions()).isEmpty();
        }
        first.unit().portGroups().set(Map.of(2, State.STANDBY));
        assertThat(second.attentions()).isEqualTo(ACCESS_CHANGED);
    }

    // --- mode pages ---

    @Test
    void shouldChangeModePagesAtBothServers() throws Exception {
        serve("ram:1MiB");
        Host first = host("one", 0);
        Host neighbour = host("two", 0);
        Host second = host("three", 1);
        first.unit().modes().change(CachingModePage.CODE, 0,
                page -> page.withParameters(CachingModePage.of(false).parameters()), true);
        assertThat(second.attentions()).isEqualTo(MODES_CHANGED);
        assertThat(neighbour.attentions()).isEqualTo(MODES_CHANGED);
        assertThat(first.attentions()).isEmpty();
        for (var control : List.of(ModeSense.PageControl.CURRENT, ModeSense.PageControl.SAVED)) {
            assertThat(second.caching(control)).as("" + control).isEqualTo(first.caching(control))
                    .satisfies(page -> assertThat(((CachingModePage) page).writeCacheEnabled())
                            .isFalse());
        }

        second.unit().modes().change(CachingModePage.CODE, 0,
                page -> page.withParameters(CachingModePage.of(true).parameters()), false);
        assertThat(first.attentions()).isEqualTo(MODES_CHANGED);
        assertThat(((CachingModePage) first.caching(ModeSense.PageControl.CURRENT))
                .writeCacheEnabled()).isTrue();
        assertThat(((CachingModePage) first.caching(ModeSense.PageControl.SAVED))
                .writeCacheEnabled()).as("not saved").isFalse();
        assertThat(second.attentions()).isEmpty();
    }

    @Test
    void shouldProtectFromWritesAtBothServers() throws Exception {
        serve("ram:1MiB");
        Host first = host("one", 0);
        Host second = host("two", 1);
        first.protect(true, false);
        assertThatThrownBy(() -> write(second.disk())).isInstanceOf(WriteProtectedException.class);
        second.protect(false, true);
        write(first.disk());
        write(second.disk());
    }

    @Test
    void shouldTakeOverModePagesWhenAServerStartsAgain() throws Exception {
        serve("ram:1MiB");
        Host second = host("two", 1);
        servers[0].close();
        second.protect(true, false);
        start(0, spec -> spec);
        Host first = host("one", 0);
        assertThatThrownBy(() -> write(first.disk())).isInstanceOf(WriteProtectedException.class);
        assertThat(first.control()).isEqualTo(second.control());
        assertThat(second.attentions()).isEmpty();
        first.protect(false, false);
        write(second.disk());
    }

    /** The state of a shared store as servers have saved it that did not share current values. */
    @Test
    void shouldReadModePagesThatWereSavedAlone() throws Exception {
        byte[] saved = DiskModePages.of(true, true, 0, 252).savedPages();
        int caching = new String(saved, StandardCharsets.ISO_8859_1).indexOf("\u0088\u0012") + 2;
        assertThat(saved[caching]).as("WCE").isEqualTo((byte) 4);
        saved[caching] = 0;
        states.join().save("mode-pages", saved);
        serve("ram:1MiB");
        for (int server = 0; server < 2; server++) {
            assertThat(((CachingModePage) host("h" + server, server)
                    .caching(ModeSense.PageControl.CURRENT)).writeCacheEnabled()).isFalse();
        }
    }

    @Test
    void shouldTellTheOtherServersNexusesOfAnotherLabel() throws Exception {
        serve("ram:1MiB");
        Host first = host("one", 0);
        Host second = host("two", 1);
        first.unit().maintenance().setLabel("blue");
        assertThat(second.attentions()).containsExactly(AdditionalSense.DEVICE_IDENTIFIER_CHANGED);
        assertThat(second.unit().maintenance().label()).isEqualTo("blue");
        assertThat(first.attentions()).isEmpty();
    }

    /** A host that has not made the last change has been told that there was a later one. */
    @Test
    void shouldEndRacingChangesAlikeAtBothServers() throws Exception {
        serve("ram:1MiB");
        long seed = Seed.next();
        var hosts = new ArrayList<Host>();
        var last = new ArrayList<Future<Map<Integer, State>>>();
        var random = new ArrayList<Random>();
        for (int i = 0; i < 4; i++) {
            hosts.add(host("host" + i, i % 2));
            random.add(new Random(seed + i));
        }
        try (var threads = Executors.newFixedThreadPool(4)) {
            for (int i = 0; i < 4; i++) {
                Host mine = hosts.get(i);
                Random by = random.get(i);
                last.add(threads.submit(() -> race(mine, by)));
            }
        }
        Map<Integer, State> end = hosts.getFirst().groups();
        ModePage control = hosts.getFirst().control();
        for (int i = 0; i < 4; i++) {
            Host each = hosts.get(i);
            List<AdditionalSense> told = each.attentions();
            if (!last.get(i).get().equals(end)) {
                assertThat(told).as("seed " + seed + ", host " + i)
                        .contains(AdditionalSense.ASYMMETRIC_ACCESS_STATE_CHANGED);
            }
            assertThat(each.groups()).as("seed " + seed).isEqualTo(end);
            assertThat(each.control()).as("seed " + seed).isEqualTo(control);
            assertThat(each.attentions()).isEmpty();
        }
        assertThat(last.stream().filter(each -> each.resultNow().equals(end)))
                .as("seed " + seed).isNotEmpty();
    }

    /** Sets both groups and a mode page, again and again; returns the states that it has set last. */
    private static Map<Integer, State> race(Host mine, Random random) throws IOException {
        Map<Integer, State> wanted = Map.of();
        for (int step = 0; step < 40; step++) {
            if (random.nextInt(3) == 0) {
                mine.protect(random.nextBoolean(), random.nextBoolean());
            }
            wanted = Map.of(1, active(random), 2, active(random));
            mine.told().clear();
            mine.unit().portGroups().set(wanted);
        }
        return wanted;
    }

    private static State active(Random random) {
        return random.nextBoolean() ? State.ACTIVE_OPTIMIZED : State.ACTIVE_NON_OPTIMIZED;
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
