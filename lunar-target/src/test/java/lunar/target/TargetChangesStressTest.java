package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.pdu.TaskAttribute;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import lunar.scsi.primary.TargetPortGroups.State;
import lunar.scsi.target.block.DiskSpec;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;

/**
 * Stress test that changes the configuration of a server repeatedly while initiators read and write: LUNs are added,
 * removed, resized, renumbered and presented differently. Every command is answered, reads return written data, and
 * commands that no change concerns succeed. The seed is in each message.
 */
class TargetChangesStressTest {
    private static final String HOST = "iqn.2026-11.org.host:";
    private static final String OTHER = "iqn.2026-11.org.lunar:other";
    private static final int HOSTS = 4;
    private static final int UNITS = 6;
    private static final int FAST_UNITS = 3;
    private static final int CHANGES = 500;
    private static final int COMMANDS_FOR_A_CHANGE = 16;
    private static final int BLOCKS = 2048;
    private static final int BLOCKS_OF_A_HOST = 64;
    private static final int UNIT_ATTENTION = 6;
    private static final int NO_UNIT = 0x05_25_00;
    private static final int WRITE_PROTECTED = 0x07_27_00;

    private final long seed = Seed.next();
    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicInteger round = new AtomicInteger();
    private final AtomicInteger commands = new AtomicInteger();

    /** Builds the next configuration. Runs on the test's thread. */
    private static final class Plan {
        final Random random;
        final List<BlockDevice> devices;
        final Map<Integer, DiskSpec> units = new TreeMap<>();
        final Map<Integer, InitiatorSpec> initiators = new HashMap<>();
        boolean other;
        boolean secondPortal;

        Plan(Random random, List<BlockDevice> devices) {
            this.random = random;
            this.devices = devices;
            for (int lun = 0; lun < UNITS; lun++) {
                units.put(lun, DiskSpec.of(devices.get(lun)));
            }
        }

        /** LUN 0 stays what it is, for each of the hosts. */
        void change() throws IOException {
            int lun = random.nextInt(1, UNITS);
            int host = random.nextInt(HOSTS);
            switch (random.nextInt(7)) {
                case 0, 1 -> {
                    if (units.remove(lun) == null) {
                        units.put(lun, DiskSpec.of(devices.get(lun)));
                    }
                }
                case 2 -> units.computeIfPresent(lun,
                        (_, unit) -> unit.withReadOnly(!unit.readOnly()));
                case 3 -> units.computeIfPresent(lun, (_, unit) -> unit.withThick(!unit.thick()));
                case 4 -> initiators.put(host, initiator(host));
                case 5 -> {
                    BlockDevice device = devices.get(lun);
                    if (device.blockCount() < 4 * BLOCKS) {
                        device.grow(device.blockCount() + BLOCKS_OF_A_HOST);
                    }
                }
                default -> {
                    other = random.nextBoolean();
                    secondPortal = random.nextBoolean();
                }
            }
        }

        private InitiatorSpec initiator(int host) {
            var map = new TreeMap<>(Map.of(0, 0));
            for (int lun = 1; lun < UNITS; lun++) {
                if (random.nextInt(3) > 0) {
                    map.put(lun, lun);
                }
            }
            return InitiatorSpec.of(HOST + host).withLuns(map);
        }

        TargetServer.Builder builder(int port) {
            TargetSpec spec = TargetSpec.of(RawInitiator.TARGET);
            for (var unit : units.entrySet()) {
                spec = spec.withLun(unit.getKey(), unit.getValue());
            }
            for (int host = 0; host < HOSTS; host++) {
                InitiatorSpec wanted = initiators.getOrDefault(host,
                        InitiatorSpec.of(HOST + host));
                spec = spec.withInitiator(
                        wanted.luns().isEmpty() ? wanted : wanted.withLuns(served(wanted)));
            }
            var builder = TargetFixture.builder().loops(2).portal(portal(port)).target(spec);
            if (secondPortal) {
                builder.portal(portal(0).withGroup(2));
            }
            if (other) { // units of it are those of the first too
                TargetSpec another = TargetSpec.of(OTHER).withLun(0, units.get(0));
                builder.target(secondPortal ? another.withState(2, State.STANDBY) : another);
            }
            return builder;
        }

        /** The LUNs of an initiator that are served. */
        private SortedMap<Integer, Integer> served(InitiatorSpec wanted) {
            var map = new TreeMap<>(wanted.luns().orElseThrow());
            map.keySet().retainAll(units.keySet());
            return map;
        }

        /** Returns the LUNs that a host sees at the end. */
        List<Integer> luns(int host) {
            InitiatorSpec wanted = initiators.get(host);
            return wanted == null || wanted.luns().isEmpty()
                    ? List.copyOf(units.keySet())
                    : List.copyOf(served(wanted).keySet());
        }
    }

    private static PortalSpec portal(int port) {
        return PortalSpec.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    /** An initiator that reads and writes blocks of its own on every unit. */
    private final class Host implements Callable<Integer> {
        final int number;
        final Random random;
        final RawInitiator raw;
        /** Possible values of each block: several if the outcome of a write is not known. */
        final Map<Integer, List<Integer>> written = new HashMap<>();
        int good;

        Host(int number, int port) throws IOException {
            this.number = number;
            random = new Random(seed + number);
            raw = new RawInitiator(port);
            assertThat(raw.loginAs(HOST + number, RawInitiator.TARGET).status()).isZero();
        }

        @Override
        public Integer call() throws Exception {
            while (!over.get()) {
                int lun = random.nextInt(3) == 0 ? 0 : random.nextInt(UNITS);
                int block = random.nextInt(BLOCKS_OF_A_HOST);
                if (random.nextBoolean()) {
                    write(lun, block, random.nextInt(1, 128));
                } else {
                    read(lun, block);
                }
                commands.incrementAndGet();
            }
            return good;
        }

        private int lba(int block) { return number * BLOCKS_OF_A_HOST + block; }

        private List<Integer> values(int lun, int block) {
            return written.computeIfAbsent(lun * BLOCKS_OF_A_HOST + block,
                    _ -> new ArrayList<>(List.of(0)));
        }

        private void write(int lun, int block, int value) throws IOException {
            int itt = raw.write(Lun.of(lun), lba(block), TargetFixture.blocks(1, value));
            RawInitiator.Received answer = raw.receive();
            assertThat(answer.bhs().itt()).as(told(lun)).isEqualTo(itt);
            List<Integer> values = values(lun, block);
            if (answer.status() == Status.GOOD) {
                values.clear();
                good++;
            } else {
                judge(lun, answer.sense(), true);
                if (answer.sense() != NO_UNIT) {
                    return; // not begun
                }
            }
            values.add(value);
        }

        private void read(int lun, int block) throws IOException {
            int itt = raw.send(Lun.of(lun), TaskAttribute.SIMPLE, 0,
                    RawInitiator.readCdb(lba(block), 1), 512);
            RawInitiator.Received answer = raw.receive();
            assertThat(answer.bhs().itt()).as(told(lun)).isEqualTo(itt);
            if (answer.opcode() == ScsiResponse.OPCODE) {
                judge(lun, answer.sense(), false);
                return;
            }
            assertThat(answer.opcode()).as(told(lun)).isEqualTo(DataIn.OPCODE);
            assertThat(answer.bhs().flags() & DataIn.HAS_STATUS).as(told(lun)).isNotZero();
            byte value = answer.data()[0];
            assertThat(answer.data()).as(told(lun)).containsOnly(value);
            assertThat(values(lun, block)).as(told(lun)).contains((int) value);
            good++;
        }

        private void judge(int lun, int sense, boolean writing) {
            if (sense >> 16 != UNIT_ATTENTION && (lun == 0 || sense != NO_UNIT)
                    && (lun == 0 || !writing || sense != WRITE_PROTECTED)) {
                throw new AssertionError(
                        told(lun) + " ended with sense " + Integer.toHexString(sense));
            }
        }

        private String told(int lun) {
            return "seed " + seed + ", change " + round + ", host " + number + ", LUN " + lun;
        }
    }

    @Test
    void shouldReportCorrectStateUnderRandomChanges() throws Exception {
        var random = new Random(seed);
        var devices = new ArrayList<BlockDevice>();
        for (int lun = 0; lun < UNITS; lun++) {
            // Commands of the slow ones are in progress when their LUN goes.
            devices.add(Devices.open(lun < FAST_UNITS ? "ram:1MiB" : "delay=1ms:ram:1MiB"));
        }
        var plan = new Plan(random, devices);
        try (var server = plan.builder(0).start();
                ExecutorService threads = Executors.newFixedThreadPool(HOSTS)) {
            int port = server.portals().getFirst().getPort();
            var hosts = new ArrayList<Host>();
            for (int number = 0; number < HOSTS; number++) {
                hosts.add(new Host(number, port));
            }
            List<Future<Integer>> running = hosts.stream().map(threads::submit).toList();
            var ends = new ArrayList<CompletableFuture<Void>>();
            try {
                while (round.incrementAndGet() <= CHANGES) {
                    plan.change();
                    ends.add(server.reconfigure(plan.builder(port)));
                    server.checkCapacities();
                    int enough = round.get() * COMMANDS_FOR_A_CHANGE;
                    TargetFixture.await("commands, seed " + seed + ", change " + round,
                            () -> commands.get() >= enough
                                    || running.stream().anyMatch(Future::isDone));
                    assertThat(running).as("seed %d, change %s", seed, round)
                            .noneMatch(Future::isDone);
                }
            } finally {
                over.set(true);
                for (Future<Integer> host : running) {
                    assertThat(host.get(120, TimeUnit.SECONDS)).as("commands, seed %d", seed)
                            .isPositive();
                }
            }
            for (CompletableFuture<Void> end : ends) {
                end.get(120, TimeUnit.SECONDS);
            }
            assertThat(server.sessionCount()).as("seed %d", seed).isEqualTo(HOSTS);
            assertThat(server.unitCount()).as("seed %d", seed).isEqualTo(plan.units.size());
            assertThat(server.bufferBytesInUse()).as("seed %d", seed).isZero();
            for (Host host : hosts) {
                assertThat(AccessTest.luns(host.raw)).as(host.told(0))
                        .isEqualTo(plan.luns(host.number));
                for (int lun : plan.luns(host.number)) {
                    assertThat(capacity(host.raw, lun)).as(host.told(lun))
                            .isEqualTo(devices.get(lun).blockCount());
                }
                host.raw.close();
            }
        } finally {
            for (BlockDevice device : devices) {
                device.close();
            }
        }
    }

    private static long capacity(RawInitiator raw, int lun) throws IOException {
        while (true) {
            RawInitiator.Received answer = raw.command(Lun.of(lun),
                    RawInitiator.bytes("25 00 00000000 0000 00 00"), 8);
            if (answer.opcode() == DataIn.OPCODE) {
                return ByteBuffer.wrap(Arrays.copyOf(answer.data(), 4)).getInt() + 1L;
            }
            assertThat(answer.sense() >> 16).isEqualTo(UNIT_ATTENTION);
        }
    }
}
