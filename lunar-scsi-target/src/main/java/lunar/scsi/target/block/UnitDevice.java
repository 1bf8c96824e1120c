package lunar.scsi.target.block;

import java.io.IOException;
import java.nio.channels.WritableByteChannel;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.Extent;
import lunar.block.ForwardingDevice;
import lunar.block.StorageException;
import lunar.block.Usage;
import lunar.block.spi.RequestCompletion;

/**
 * Device of a logical unit for use by its commands: counts reads and writes, and checks the thresholds after each
 * change. While the write cache is off (WCE 0, SBC-4 section 6.5.6), a change that is executed here is stable when it
 * ends; a command that submits one makes it stable itself ({@link BlockCommands#changeEnding}). For a thick unit, it
 * reports no holes and creates none.
 */
final class UnitDevice extends ForwardingDevice {
    private final Set<Capability> thickCapabilities;
    private volatile boolean thick;
    private final DiskModes modes;
    private final LogCounters counters;
    private final Thresholds thresholds;

    UnitDevice(BlockDevice device, boolean thick, DiskModes modes, LogCounters counters,
            Thresholds thresholds) {
        super(device);
        this.thick = thick;
        Set<Capability> all = EnumSet.noneOf(Capability.class);
        all.addAll(device.capabilities());
        all.removeAll(Set.of(Capability.UNMAP, Capability.UNMAP_ZEROES));
        thickCapabilities = Set.copyOf(all);
        this.modes = modes;
        this.counters = counters;
        this.thresholds = thresholds;
    }

    /** Makes the device thick, so that it reports and creates no holes, or thin. */
    void present(boolean asThick) {
        thick = asThick;
    }

    @Override
    public void submit(BlockRequest request) {
        counters.count(request);
        if (changes(request) && modes.watchesThresholds()) {
            submitWatched(request);
        } else {
            below().submit(request);
        }
    }

    private void submitWatched(BlockRequest request) {
        var copy = new BlockRequest().asCopyOf(request);
        below().submit(copy.onCompletion((_, failure) -> {
            if (failure != null) {
                RequestCompletion.fail(request, failure);
            } else {
                thresholds.check();
                RequestCompletion.succeed(request);
            }
        }));
    }

    @Override
    public void execute(BlockRequest request) throws StorageException {
        counters.count(request);
        below().execute(request);
        if (changes(request)) {
            if (modes.writeThrough()) {
                below().flush();
            }
            thresholds.check();
        }
    }

    private static boolean changes(BlockRequest request) {
        return switch (request.operation()) {
            case READ, FLUSH -> false;
            case WRITE, UNMAP, WRITE_ZEROES, COMPARE_AND_WRITE -> true;
        };
    }

    @Override
    public Set<Capability> capabilities() {
        return thick ? thickCapabilities : below().capabilities();
    }

    /** {@inheritDoc} All blocks of a thick unit are mapped, even those that the device has never written. */
    @Override
    public Extent extent(long lba) throws StorageException {
        Extent extent = below().extent(lba);
        return thick ? new Extent(lba, blockCount() - lba, true) : extent;
    }

    @Override
    public Optional<Usage> usage() { return thick ? Optional.empty() : below().usage(); }

    @Override
    public boolean prefersTransfer(long offsetBytes, long countBytes) {
        return below().prefersTransfer(offsetBytes, countBytes);
    }

    @Override
    public long transferTo(long offsetBytes, long countBytes, WritableByteChannel channel)
            throws IOException {
        return below().transferTo(offsetBytes, countBytes, channel);
    }
}
