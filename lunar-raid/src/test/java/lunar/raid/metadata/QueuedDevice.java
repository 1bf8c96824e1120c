package lunar.raid.metadata;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.BusyException;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.Geometry;
import lunar.block.Identity;
import lunar.block.Limits;
import lunar.block.LostWritesException;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.testkit.PowerCutDevice;

/**
 * A disk with a volatile cache whose submitted requests wait until the test says that one of them is done, in any
 * order, on the test's thread. So a seed replays exactly.
 */
public final class QueuedDevice implements BlockDevice {
    private PowerCutDevice disk;
    private final List<BlockRequest> queue = new ArrayList<>();
    /** Fails what comes. */
    private boolean broken;
    private boolean busy;
    private boolean wasBusy;
    private boolean isPrompt;
    private final Map<BlockRequest, Boolean> refused = new IdentityHashMap<>();
    /** Blocks that cannot be read until they are written. */
    private final BitSet bad = new BitSet();
    /** Whether its cache is lost before the next flush, as far as it has blocks of this range. */
    private boolean isToLose;
    private long loseFrom;
    private long loseEnd;
    /** What those of them had that were written since. */
    private final Map<Long, MemorySegment> before = new HashMap<>();
    private long losses;

    QueuedDevice(PowerCutDevice disk) { this.disk = disk; }

    public static QueuedDevice create(int sizeBytes, Random random) {
        return new QueuedDevice(PowerCutDevice.create(sizeBytes, random));
    }

    /** The disk after a power cut, with nothing in its queue. */
    public QueuedDevice afterCut(long requests) {
        PowerCutDevice after = disk.afterCut(requests);
        disk.close();
        var next = new QueuedDevice(after);
        next.bad.or(bad);
        return next;
    }

    /** The power will be cut in the middle of a later request; what was written up to now is stable. */
    public void cutAfter(long requests) throws StorageException {
        disk.flush();
        PowerCutDevice next = disk.afterCut(requests);
        disk.close();
        disk = next;
    }

    public boolean isCut() { return disk.isCut(); }

    public int pending() { return queue.size(); }

    public void breakDown() { broken = true; }

    /** From now on each request is done before its submit returns. */
    public void isPrompt() {
        isPrompt = true;
    }

    /** From now on each request is to be sent twice. */
    public void isBusyAtFirst() { busy = true; }

    /** Blocks cannot be read from now on until they are written. */
    public void spoil(long from, long blocks) {
        bad.set((int) from, (int) (from + blocks));
    }

    /**
     * The next flush finds that the cache was lost, and says so: what is written to some blocks until then is gone, and
     * all else is stable.
     */
    public void loseAtFlush(long from, long end) {
        isToLose = true;
        loseFrom = from;
        loseEnd = end;
    }

    private void meet(BlockRequest request) throws StorageException {
        checkMedium(request);
        if (isToLose && request.operation() == Operation.WRITE) {
            remember(request);
        } else if (isToLose && request.operation() == Operation.FLUSH) {
            isToLose = false;
            losses++;
            for (var one : before.entrySet()) {
                disk.write(one.getKey(), one.getValue());
            }
            before.clear();
            disk.flush();
            throw new LostWritesException("its cache was lost");
        }
    }

    private void remember(BlockRequest write) throws StorageException {
        long end = Math.min(loseEnd, write.lba() + write.blockCount());
        for (long block = Math.max(loseFrom, write.lba()); block < end; block++) {
            if (write.fua()) {
                before.remove(block);
            } else if (!before.containsKey(block)) {
                var content = MemorySegment.ofArray(new byte[disk.blockSize()]);
                disk.read(block, content);
                before.put(block, content);
            }
        }
    }

    @Override
    public long writeLosses() { return losses; }

    private void checkMedium(BlockRequest request) throws StorageException {
        int from = (int) request.lba();
        int end = (int) (request.lba() + request.blockCount());
        if (request.operation() == Operation.WRITE) {
            bad.clear(from, end);
        } else if (request.operation() == Operation.READ) {
            int first = bad.nextSetBit(from);
            if (first >= 0 && first < end) {
                throw new MediumException("block " + first + " is bad");
            }
        }
    }

    /** Does one of the waiting requests. */
    public void step(Random random) {
        does(queue.remove(random.nextInt(queue.size())));
    }

    private void does(BlockRequest request) {
        if (broken) {
            RequestCompletion.fail(request, new DeviceGoneException("broken"));
            return;
        }
        if (busy && refused.remove(request) == null) {
            refused.put(request, true);
            RequestCompletion.fail(request, new BusyException("busy"));
            return;
        }
        try {
            meet(request);
        } catch (StorageException e) {
            RequestCompletion.fail(request, e);
            return;
        }
        RequestCompletion.executeAndComplete(request, disk);
    }

    /** Does all that waits, and what comes meanwhile. */
    public static void settle(List<QueuedDevice> devices, Random random) {
        boolean any = true;
        while (any) {
            any = false;
            for (QueuedDevice device : devices) {
                if (!device.queue.isEmpty()) {
                    device.step(random);
                    any = true;
                }
            }
        }
    }

    @Override
    public Geometry geometry() { return disk.geometry(); }

    @Override
    public Limits limits() { return disk.limits(); }

    @Override
    public Set<Capability> capabilities() { return disk.capabilities(); }

    @Override
    public Identity identity() { return disk.identity(); }

    @Override
    public boolean readOnly() { return false; }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        if (broken) {
            throw new DeviceGoneException("broken");
        }
        if (busy && !wasBusy) {
            wasBusy = true;
            throw new BusyException("busy");
        }
        wasBusy = false;
        meet(request);
        disk.execute(request);
    }

    @Override
    public void submit(BlockRequest request) {
        if (isPrompt) {
            does(request);
        } else {
            queue.add(request);
        }
    }

    @Override
    public void close() { disk.close(); }
}
