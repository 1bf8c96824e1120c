package lunar.it.fuzz;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.block.StorageException;
import lunar.filter.DelayFilter;
import lunar.filter.FaultFilter;
import lunar.filter.FaultPlan;
import lunar.iscsi.login.ChapPolicy;
import lunar.store.MemoryDevice;
import lunar.target.ServerLimits;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;

/**
 * The target under test: open targets, one with CHAP, each with devices of every kind (fast, slow, failing, on worker
 * threads), and one whose session must not be affected.
 */
final class FuzzedServer implements AutoCloseable {
    private static final int LONG = 8 << 20;
    private static final int MANY = 512;

    /** Short times and little memory, so that the limits are met. */
    private static final ServerLimits LIMITS = new ServerLimits(256, 12_000, 128, 16, 4 << 20,
            64L << 20, 16L << 20, 1L << 20, 5_000, 5_000);

    private final List<BlockDevice> devices = new ArrayList<>();
    private final BlockDevice kept = MemoryDevice.create(32 << 20, 512);
    private final TargetServer server;

    FuzzedServer(Path folder, long seed) throws IOException, StorageException {
        devices.add(MemoryDevice.create(LONG, 512));
        devices.add(MemoryDevice.create(LONG / 2, 512));
        devices.add(MemoryDevice.create(LONG, 4096));
        devices.add(new DelayFilter(MemoryDevice.create(LONG, 512), Duration.ofMillis(1),
                Duration.ofMillis(2), seed));
        devices.add(new FaultFilter(MemoryDevice.create(LONG, 512), FaultPlan.errors(0.2), seed));
        devices.add(Devices.open("file:" + folder.resolve("disk") + "?size=8MiB"));
        warmUp(devices.getLast());
        var builder = TargetServer.builder().portal("127.0.0.1", 0).limits(LIMITS)
                .target(TargetSpec.of(Peers.KEPT).withLun(0, kept)
                        .withChap(ChapPolicy.of(Peers.KEEPER)))
                .target(spec(Peers.CLEAN))
                .target(spec(Peers.GUARDED)
                        .withChap(ChapPolicy.of(Peers.READER).withOwn(Peers.OWN)));
        for (String name : Peers.OPEN) {
            builder.target(spec(name));
        }
        server = builder.start();
    }

    /** Makes the device start all the threads that it will ever have, so that they are not taken for leaks. */
    private static void warmUp(BlockDevice device) {
        var writes = new ArrayList<CompletableFuture<Void>>(); // of which each goes to a worker
        for (int i = 0; i < MANY; i++) {
            writes.add(device.submitWrite(0, Arena.ofAuto().allocate(device.blockSize() * 64L)));
        }
        CompletableFuture.allOf(writes.toArray(CompletableFuture[]::new)).join();
    }

    private TargetSpec spec(String name) {
        TargetSpec spec = TargetSpec.of(name);
        for (int lun = 0; lun < devices.size(); lun++) {
            spec = spec.withLun(lun, devices.get(lun));
        }
        return spec;
    }

    InetSocketAddress portal() { return server.portals().getFirst(); }

    int sessionCount() { return server.sessionCount(); }

    long bufferBytesInUse() { return server.bufferBytesInUse(); }

    @Override
    public void close() throws StorageException {
        server.close();
        for (BlockDevice device : devices) {
            device.close();
        }
        kept.close();
    }
}
