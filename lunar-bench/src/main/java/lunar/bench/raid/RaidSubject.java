package lunar.bench.raid;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.EnumSet;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import lunar.bench.harness.BenchException;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Devices;
import lunar.block.StorageException;
import lunar.raid.ScanOptions;
import lunar.raid.metadata.record.Consistency;
import org.jspecify.annotations.Nullable;

/** A RAID 5 over four members in memory, and a degraded one; or a single member. */
final class RaidSubject implements AutoCloseable {
    static final int CHUNK_BYTES = 64 << 10;
    private static final int SMALL_BYTES = 4096;
    /** Requests between two looks at the clock. */
    private static final int BATCH = 32;

    private final String name;
    private final int memberMib;
    private final BlockDevice device;
    private final @Nullable RaidMembers whole;
    private final @Nullable RaidMembers degraded;
    private final OperatingSystemMXBean process = (OperatingSystemMXBean) ManagementFactory
            .getOperatingSystemMXBean();
    /** Thread that waits for the request. */
    private volatile @Nullable Thread asking;
    private volatile boolean hasEnded;
    private volatile @Nullable StorageException failed;
    private final BlockRequest request = new BlockRequest().onCompletion((_, cause) -> {
        failed = cause;
        hasEnded = true;
        LockSupport.unpark(asking);
    });
    private final MemorySegment buffer = Arena.ofAuto()
            .allocate((RaidMembers.COUNT - 1) * CHUNK_BYTES, 4096);
    private long nextLba;
    /** Times of what is being measured. */
    private long nanos;
    private long cpuNanos;
    private long bytes;

    private RaidSubject(String name, int memberMib, BlockDevice device,
            @Nullable RaidMembers whole, @Nullable RaidMembers degraded) throws IOException {
        this.name = name;
        this.memberMib = memberMib;
        this.device = device;
        this.whole = whole;
        this.degraded = degraded;
        for (long at = 0; at < buffer.byteSize(); at += Long.BYTES) {
            buffer.set(ValueLayout.JAVA_LONG, at, at * 0x9e37_79b9_7f4a_7c15L);
        }
        fill(device);
        if (degraded != null) {
            fill(degraded.volume());
            degraded.lose();
        }
    }

    /** A member alone, with requests as long as the data of a stripe. */
    static RaidSubject member(int mib) throws IOException {
        return new RaidSubject("one member alone", mib, Devices.open("ram:" + mib + "MiB"), null,
                null);
    }

    static RaidSubject volume(String name, Consistency consistency, int memberMib)
            throws BenchException, IOException {
        RaidMembers whole = RaidMembers.open(consistency, memberMib);
        return new RaidSubject(name, memberMib, whole.volume(), whole,
                RaidMembers.open(consistency, memberMib));
    }

    /** So that memory is there before it is measured. */
    private void fill(BlockDevice to) throws StorageException {
        int step = (int) buffer.byteSize() / to.blockSize();
        for (long lba = 0; lba + step <= to.blockCount(); lba += step) {
            to.write(lba, buffer);
        }
    }

    Set<RaidWork> works() {
        return whole == null
                ? EnumSet.of(RaidWork.STRIPE_WRITE, RaidWork.READ, RaidWork.SMALL_WRITE)
                : EnumSet.allOf(RaidWork.class);
    }

    /** Measures one work for a time. */
    RaidFigure measure(int round, RaidWork work, long atLeastNanos, Random random)
            throws BenchException, IOException, InterruptedException {
        nanos = 0;
        cpuNanos = 0;
        bytes = 0;
        while (nanos < atLeastNanos) {
            switch (work) {
                case STRIPE_WRITE -> timed(() -> sequential(device, true));
                case READ -> timed(() -> sequential(device, false));
                case DEGRADED_READ -> timed(() -> sequential(there(degraded).volume(), false));
                case SMALL_WRITE -> timed(() -> small(random));
                case REBUILD -> rebuild(there(whole));
            }
        }
        return new RaidFigure(round, name, work.title(), bytes / (nanos / 1e3),
                cpuNanos / (double) bytes);
    }

    private static RaidMembers there(@Nullable RaidMembers members) {
        if (members == null) {
            throw new IllegalStateException("this subject has no volume");
        }
        return members;
    }

    /** Something that is measured. */
    private interface Timed {
        /** How many bytes it moved. */
        long run() throws InterruptedException;
    }

    private void timed(Timed work) throws BenchException, InterruptedException {
        long cpu = process.getProcessCpuTime();
        long start = System.nanoTime();
        bytes += work.run();
        nanos += System.nanoTime() - start;
        cpuNanos += process.getProcessCpuTime() - cpu;
        StorageException cause = failed;
        if (cause != null) {
            throw new BenchException(name + ": " + cause.getMessage(), cause);
        }
    }

    /** Members in memory answer at once; only now and then the metadata's clock has something in hand. */
    private void ask(BlockDevice on, BlockRequest what) {
        asking = Thread.currentThread();
        hasEnded = false;
        on.submit(what);
        while (!hasEnded) {
            LockSupport.park(this);
        }
    }

    private long sequential(BlockDevice on, boolean isWrite) {
        int blocks = (int) buffer.byteSize() / on.blockSize();
        for (int i = 0; i < BATCH; i++) {
            if (nextLba + blocks > on.blockCount()) {
                nextLba = 0;
            }
            ask(on, isWrite
                    ? request.asWrite(nextLba, blocks, buffer, false)
                    : request.asRead(nextLba, blocks, buffer));
            nextLba += blocks;
        }
        return BATCH * buffer.byteSize();
    }

    private long small(Random random) {
        int blocks = SMALL_BYTES / device.blockSize();
        int places = (int) (device.sizeBytes() / SMALL_BYTES);
        MemorySegment small = buffer.asSlice(0, SMALL_BYTES);
        for (int i = 0; i < BATCH; i++) {
            long lba = (long) random.nextInt(places) * blocks;
            ask(device, request.asWrite(lba, blocks, small, false));
        }
        return (long) BATCH * SMALL_BYTES;
    }

    private void rebuild(RaidMembers members)
            throws BenchException, IOException, InterruptedException {
        BlockDevice spare = Devices.open("ram:" + memberMib + "MiB");
        fill(spare);
        members.lose();
        var ended = new CountDownLatch(1);
        ScanOptions how = ScanOptions.DEFAULT.withOnEnd(scan -> {
            failed = scan.failure();
            ended.countDown();
        });
        timed(() -> {
            members.replace(spare, how);
            ended.await();
            return members.memberBytes();
        });
    }

    @Override
    public void close() throws IOException {
        device.close();
        if (whole != null) {
            whole.close();
        }
        if (degraded != null) {
            degraded.close();
        }
    }
}
