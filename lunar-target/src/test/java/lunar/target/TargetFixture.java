package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import lunar.scsi.target.StateStore;
import java.util.function.UnaryOperator;
import lunar.scsi.target.block.DiskSpec;

/** Fixture: a server with one target and a gated LUN of 1 MiB. {@code close} checks for leaks. */
final class TargetFixture implements AutoCloseable {
    /** The default limits, except that peers and devices have the time that they take on a loaded machine. */
    static final ServerLimits LIMITS = limits(600_000, 600_000, 30_000);
    private static final long PATIENCE_NANOS = 120_000_000_000L;

    /** A test, with a timeout of the server. */
    @FunctionalInterface
    interface Timed {
        void run(long timeout) throws Exception;
    }

    final GatedDevice device;
    final List<GatedDevice> more = new ArrayList<>();
    final TargetServer server;

    TargetFixture(ServerLimits limits) throws IOException { this(limits, 0); }

    /** With more units of 1 MiB, at the LUNs from 1 on. */
    TargetFixture(ServerLimits limits, int moreUnits) throws IOException {
        this(limits, moreUnits, "ram:1MiB", unit -> unit);
    }

    /** A unit whose state is kept in a store. */
    TargetFixture(StateStore state) throws IOException {
        this("ram:1MiB", unit -> unit.withState(state));
    }

    /** Serves another device, as another kind of unit. */
    TargetFixture(String uri, UnaryOperator<DiskSpec> changes) throws IOException {
        this(LIMITS, 0, uri, changes);
    }

    /** With another first device and more units of 1 MiB. */
    TargetFixture(ServerLimits limits, int moreUnits, String uri,
            UnaryOperator<DiskSpec> changes) throws IOException {
        device = new GatedDevice(uri);
        TargetSpec spec = TargetSpec.of(RawInitiator.TARGET).withLun(0,
                changes.apply(DiskSpec.of(device)));
        for (int lun = 1; lun <= moreUnits; lun++) {
            more.add(new GatedDevice("ram:1MiB"));
            spec = spec.withLun(lun, more.getLast());
        }
        server = TargetServer.builder().portal("127.0.0.1", 0).limits(limits).loops(2)
                .target(spec).start();
    }

    TargetFixture() throws IOException { this(LIMITS); }

    RawInitiator ready(int qualifier, String... keys) throws IOException {
        return RawInitiator.ready(server, qualifier, keys);
    }

    /** The default limits with other times. */
    static ServerLimits limits(long loginMs, long idleMs, long abortMs) {
        ServerLimits limits = ServerLimits.DEFAULT;
        return new ServerLimits(limits.maxConnections(), loginMs, limits.commandsPerSession(),
                limits.immediateCommandsPerSession(), limits.maxTransferBytes(),
                limits.maxBufferBytes(), limits.maxBufferBytesPerSession(),
                limits.maxQueuedBytes(), idleMs, abortMs);
    }

    /** Builds a server with {@link #LIMITS}. */
    static TargetServer.Builder builder() {
        return TargetServer.builder().limits(LIMITS);
    }

    /**
     * Runs a test of a timeout that has to expire, but not before the test has done its part: with a short one, and
     * with a long one if that fails, as it may on a loaded machine.
     */
    static void withTimeout(long shortOne, long longOne, Timed test) throws Exception {
        try {
            test.run(shortOne);
        } catch (AssertionError | IOException _) {
            test.run(longOne);
        }
    }

    static ServerLimits maxConnections(int count) { return LIMITS.withMaxConnections(count); }

    static byte[] blocks(int count, int value) {
        byte[] bytes = new byte[count * 512];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }

    /** Returns the content of the device, bypassing the target. */
    byte[] onDevice(long lba, int count) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(count * 512L);
            device.read(lba, buffer);
            return buffer.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    /** Waits for something that the server does a little after its peer knows of it. */
    static void await(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + PATIENCE_NANOS;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - end).as(what).isNegative();
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** Logs in once there is place: that of a connection becomes free a little after its session has ended. */
    void logInOnceThereIsPlace(String address, int qualifier) {
        await("place for another", () -> {
            try (var next = RawInitiator.from(address, server)) {
                return next.login(RawInitiator.isid(qualifier)).status() == 0;
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }

    @Override
    public void close() throws IOException {
        device.open();
        more.forEach(GatedDevice::open);
        server.close();
        assertThat(server.bufferBytesInUse()).as("memory lent after the end").isZero();
        assertThat(server.sessionCount()).as("sessions after the end").isZero();
        device.close();
        for (GatedDevice each : more) {
            each.close();
        }
    }
}
