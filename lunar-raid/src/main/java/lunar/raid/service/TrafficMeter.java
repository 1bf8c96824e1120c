package lunar.raid.service;

import java.util.concurrent.atomic.LongAdder;
import lunar.block.BlockRequest;

/** Counts the traffic of hosts, and its rate. */
final class TrafficMeter {
    private static final double NS = 1e9;

    private final int blockSize;
    private final LongAdder read = new LongAdder();
    private final LongAdder written = new LongAdder();
    /** Guarded by this, as are the next three: the counts at the last tick, and the rates since the one before. */
    private long atNs;
    private long readThen;
    private long writtenThen;
    private VolumeStatus.Traffic last = new VolumeStatus.Traffic(0, 0, 0, 0);

    TrafficMeter(int blockSize, long nowNs) {
        this.blockSize = blockSize;
        atNs = nowNs;
    }

    void count(BlockRequest request) {
        switch (request.operation()) {
            case READ -> read.add(request.blockCount() * blockSize);
            case WRITE, COMPARE_AND_WRITE -> written.add(request.blockCount() * blockSize);
            case FLUSH, UNMAP, WRITE_ZEROES -> {
                // No data are transferred.
            }
        }
    }

    synchronized void tick(long nowNs) {
        double seconds = Math.max(nowNs - atNs, 1) / NS;
        long readNow = read.sum();
        long writtenNow = written.sum();
        last = new VolumeStatus.Traffic(readNow, writtenNow,
                (long) ((readNow - readThen) / seconds),
                (long) ((writtenNow - writtenThen) / seconds));
        atNs = nowNs;
        readThen = readNow;
        writtenThen = writtenNow;
    }

    synchronized VolumeStatus.Traffic traffic() {
        return new VolumeStatus.Traffic(read.sum(), written.sum(), last.readBytesPerSecond(),
                last.writtenBytesPerSecond());
    }
}
