package lunar.scsi.target;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.channels.WritableByteChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.ForwardingDevice;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import org.jspecify.annotations.Nullable;

/**
 * Fences the blocks of requests that aborted commands have left in a device. A request that the device does not
 * complete cannot be recalled, and a write may take effect at any time until it completes. While its blocks are fenced,
 * every other request that overlaps them fails with {@link BusyException}, so that no read returns data that may still
 * change, and no later write is overtaken. The response that tells an initiator that its command is aborted is
 * therefore true (SAM-5 section 5.6).
 *
 * <p>One fence per device, shared by all logical units over it. Thread-safe; costs a volatile read while nothing is
 * fenced.
 */
public final class FencedDevice extends ForwardingDevice {
    private static final System.Logger LOG = System.getLogger("lunar.target");

    /** Maximum number of fenced requests per device; further requests are waited for. */
    static final int MAX_CONFINED = 1024;

    /** Fences of the devices in use; weak, because a fence lives as long as its device is used. */
    private static final Map<BlockDevice, WeakReference<FencedDevice>> FENCES = new WeakHashMap<>();

    private final List<Confined> confined = new ArrayList<>();
    private volatile int confinedCount;
    private volatile boolean isShared;

    private FencedDevice(BlockDevice below) { super(below); }

    /** Returns the fenced device, which all callers share. */
    public static FencedDevice over(BlockDevice device) {
        if (device instanceof FencedDevice fenced) {
            return fenced;
        }
        synchronized (FENCES) {
            WeakReference<FencedDevice> known = FENCES.get(device);
            FencedDevice fenced = known == null ? null : known.get();
            if (fenced == null) {
                fenced = new FencedDevice(device);
                FENCES.put(device, new WeakReference<>(fenced));
            }
            return fenced;
        }
    }

    /**
     * Fences nothing from now on that may still change blocks: other servers use the device, too, and do not see the
     * fence. An abort then waits for the device.
     */
    public void share() { isShared = true; }

    /** Fence around the blocks of a request that an aborted command has left in the device. */
    public final class Confined {
        private final BlockRequest.Operation operation;
        private final long lba;
        private final long blockCount;

        private Confined(BlockRequest.Operation operation, long lba, long blockCount) {
            this.operation = operation;
            this.lba = lba;
            this.blockCount = blockCount;
        }

        private boolean touches(BlockRequest request) {
            return changes(operation) && request.operation() != BlockRequest.Operation.FLUSH
                    && request.lba() < lba + blockCount
                    && lba < request.lba() + request.blockCount();
        }

        /** Lifts the fence after the request has completed; other requests may use its blocks again. */
        public void lift() {
            synchronized (confined) {
                if (!confined.remove(this)) {
                    return;
                }
                confinedCount = confined.size();
            }
            if (confinedCount == 0) {
                LOG.log(System.Logger.Level.WARNING, "{0}: all aborted commands have completed",
                        below());
            }
        }

        @Override
        public String toString() {
            return "an aborted " + operation + " of " + blockCount + " blocks from " + lba;
        }
    }

    /**
     * Fences the blocks that a submitted request may change until {@link Confined#lift}. The device must have the
     * request.
     *
     * @return empty if the limit of fenced requests is reached, or other servers use the device
     */
    public Optional<Confined> confine(BlockRequest request) {
        return confine(new Confined(request.operation(), request.lba(), request.blockCount()));
    }

    /** Fences the whole device; otherwise like {@link #confine(BlockRequest)}. */
    Optional<Confined> confine() {
        return confine(new Confined(BlockRequest.Operation.WRITE, 0, Long.MAX_VALUE));
    }

    private Optional<Confined> confine(Confined one) {
        if (isShared && changes(one.operation)) {
            return Optional.empty();
        }
        boolean first;
        synchronized (confined) {
            if (confined.size() >= MAX_CONFINED) {
                return Optional.empty();
            }
            first = confined.isEmpty();
            confined.add(one);
            confinedCount = confined.size();
        }
        if (first) { // log a hanging device once, not once per command
            LOG.log(System.Logger.Level.WARNING,
                    "{0} does not complete {1}; commands for these blocks end with BUSY until it does",
                    below(), one);
        }
        return Optional.of(one);
    }

    /** Returns the number of fenced requests that the device has not completed. */
    public int confinedCount() {
        return confinedCount;
    }

    private static boolean changes(BlockRequest.Operation operation) {
        return switch (operation) {
            case READ, FLUSH -> false;
            case WRITE, UNMAP, WRITE_ZEROES, COMPARE_AND_WRITE -> true;
        };
    }

    private @Nullable BusyException refusal(BlockRequest request) {
        if (confinedCount == 0) {
            return null;
        }
        synchronized (confined) {
            for (Confined one : confined) {
                if (one.touches(request)) {
                    return new BusyException(request + " overlaps " + one);
                }
            }
        }
        return null;
    }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        Worker.using(this);
        BusyException refusal = refusal(request);
        if (refusal != null) {
            throw refusal;
        }
        below().execute(request);
    }

    @Override
    public void submit(BlockRequest request) {
        StorageException refusal = refusal(request);
        if (refusal == null && Thread.currentThread().isVirtual()) { // only workers run on virtual threads
            try {
                Worker.using(this);
            } catch (StorageException e) {
                refusal = e;
            }
        }
        if (refusal != null) {
            RequestCompletion.fail(request, refusal);
        } else {
            below().submit(request);
        }
    }

    @Override
    public boolean prefersTransfer(long offsetBytes, long countBytes) {
        return confinedCount == 0 && below().prefersTransfer(offsetBytes, countBytes);
    }

    @Override
    public long transferTo(long offsetBytes, long countBytes, WritableByteChannel channel)
            throws IOException {
        return below().transferTo(offsetBytes, countBytes, channel);
    }
}
