package lunar.testkit;

import java.util.EnumSet;
import java.util.Set;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BlockRequest.Operation;
import lunar.block.Capability;
import lunar.block.ForwardingDevice;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.block.spi.RequestValidation;

/**
 * A device that unmaps only whole granules and leaves the rest of a range unchanged, as SCSI disks may. It has
 * {@link Capability#UNMAP} without {@link Capability#UNMAP_ZEROES}. Not thread-safe; has no threads.
 */
public final class GranularDevice extends ForwardingDevice {
    private final int granuleBlocks;
    private final Set<Capability> capabilities;

    /** @param below device with the blocks, with {@link Capability#UNMAP_ZEROES} */
    public GranularDevice(BlockDevice below, int granuleBlocks) {
        super(below);
        this.granuleBlocks = granuleBlocks;
        var rest = EnumSet.copyOf(below.capabilities());
        rest.removeAll(Set.of(Capability.UNMAP_ZEROES, Capability.TRANSFER_TO));
        capabilities = Set.copyOf(rest);
    }

    @Override
    public Set<Capability> capabilities() { return capabilities; }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        below().execute(isUnmapOnDevice(request) ? wholeGranules(request) : request);
    }

    @Override
    public void submit(BlockRequest request) {
        if (isUnmapOnDevice(request)) {
            below().submit(
                    wholeGranules(request).onCompletion(
                            (_, failure) -> RequestCompletion.complete(request, failure)));
        } else {
            below().submit(request);
        }
    }

    /** Requests that break a rule are left to the device below to refuse. */
    private boolean isUnmapOnDevice(BlockRequest request) {
        if (request.operation() != Operation.UNMAP) {
            return false;
        }
        try {
            RequestValidation.check(request, this);
            return true;
        } catch (StorageException _) {
            return false;
        }
    }

    private BlockRequest wholeGranules(BlockRequest request) {
        long first = Math.ceilDiv(request.lba(), granuleBlocks) * granuleBlocks;
        long end = (request.lba() + request.blockCount()) / granuleBlocks * granuleBlocks;
        return new BlockRequest().asUnmap(Math.min(first, blockCount()), Math.max(0, end - first));
    }

    @Override
    public String toString() { return "granules of " + granuleBlocks + " over " + below(); }
}
