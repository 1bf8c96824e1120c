package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.scsi.target.block.DiskSpec;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;

/** A target of Lunar in this process, on a free port of the loopback interface. {@code close} checks for leaks. */
final class ServedTarget implements AutoCloseable {
    static final String NAME = "iqn.2026-11.org.lunar:it";

    private static final Duration BOUND = Duration.ofMinutes(5);

    private final List<BlockDevice> devices;
    private final TargetServer server;

    private ServedTarget(List<BlockDevice> devices, TargetSpec spec,
            UnaryOperator<TargetServer.Builder> options) throws IOException {
        this.devices = devices;
        server = options.apply(TargetServer.builder().portal("127.0.0.1", 0).target(spec)).start();
    }

    /** Serves devices, given as URIs, as LUN 0, 1, ... */
    static ServedTarget of(String... uris) throws IOException {
        return of(UnaryOperator.identity(), uris);
    }

    /** Serves a device with changes to the target. */
    static ServedTarget of(UnaryOperator<TargetSpec> changes, String... uris) throws IOException {
        return of(changes, UnaryOperator.identity(), uris);
    }

    /** Serves a device with changes to the target and the server. */
    static ServedTarget of(UnaryOperator<TargetSpec> changes,
            UnaryOperator<TargetServer.Builder> options, String... uris) throws IOException {
        return of(changes, options, UnaryOperator.identity(), uris);
    }

    /** Serves a device as LUN 0, with changes to the unit and the server. */
    static ServedTarget ofUnit(UnaryOperator<DiskSpec> units,
            UnaryOperator<TargetServer.Builder> options, String uri) throws IOException {
        return of(UnaryOperator.identity(), options, units, uri);
    }

    private static ServedTarget of(UnaryOperator<TargetSpec> changes,
            UnaryOperator<TargetServer.Builder> options, UnaryOperator<DiskSpec> units,
            String... uris) throws IOException {
        var devices = new ArrayList<BlockDevice>();
        TargetSpec spec = TargetSpec.of(NAME);
        for (String uri : uris) {
            BlockDevice device = Devices.open(uri);
            spec = spec.withLun(devices.size(), units.apply(DiskSpec.of(device)));
            devices.add(device);
        }
        return new ServedTarget(devices, changes.apply(spec), options);
    }

    TargetServer server() { return server; }

    BlockDevice device(int lun) { return devices.get(lun); }

    /** Address and port. */
    String portal() {
        return "127.0.0.1:" + server.portals().getFirst().getPort();
    }

    /** Returns the URL for {@code iscsi-ls}. */
    String portalUrl() { return "iscsi://" + portal(); }

    /** A LUN as libiscsi and QEMU write it. */
    String url(int lun) {
        return portalUrl() + "/" + NAME + "/" + lun;
    }

    /** A LUN by way of another portal than the first. */
    String url(int portal, int lun) {
        return "iscsi://127.0.0.1:" + server.portals().get(portal).getPort() + "/" + NAME + "/"
                + lun;
    }

    /** Returns the URL with a CHAP user. */
    String url(String user, String secret, int lun) {
        return "iscsi://" + user + "%" + secret + "@" + portal() + "/" + NAME + "/" + lun;
    }

    /** Waits for a condition of the server, which notices closed connections with a delay. */
    static void await(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + BOUND.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as(what + " within " + BOUND).isLessThan(end);
            LockSupport.parkNanos(5_000_000);
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        assertThat(server.bufferBytesInUse()).as("memory lent to commands after the end").isZero();
        assertThat(server.sessionCount()).as("sessions after the end").isZero();
        for (BlockDevice device : devices) {
            device.close();
        }
    }
}
