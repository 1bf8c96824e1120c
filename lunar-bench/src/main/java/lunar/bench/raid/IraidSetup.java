package lunar.bench.raid;

import java.util.List;
import lunar.bench.harness.BenchException;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.ForwardingDevice;
import lunar.block.StorageException;
import lunar.raid.layout.Level;
import lunar.raid.metadata.record.Consistency;
import org.jspecify.annotations.Nullable;

/**
 * Subject of a measurement: one target, or a volume over several.
 *
 * @param level null for a single target
 * @param targets number of targets
 * @param degraded whether a member has failed
 */
record IraidSetup(String name, @Nullable Level level, Consistency consistency, int targets,
        boolean degraded) {
    static final int CHUNK_BYTES = 64 << 10;
    /** Journal of the size that a member of 4 GiB has. */
    private static final long JOURNAL_BYTES = 16 << 20;

    static final IraidSetup TARGET = new IraidSetup("iSCSI", null, Consistency.NONE, 1, false);

    static IraidSetup striped(int targets) {
        return new IraidSetup("S-iRAID of " + targets, Level.RAID0, Consistency.NONE, targets,
                false);
    }

    static IraidSetup parity(int targets) {
        return new IraidSetup("P-iRAID of " + targets, Level.RAID5, Consistency.JOURNAL, targets,
                false);
    }

    /** Returns the paper's setup, which had nothing against the write hole. */
    static IraidSetup withoutJournal(int targets) {
        return new IraidSetup("P-iRAID of " + targets + ", no journal", Level.RAID5,
                Consistency.BITMAP, targets, false);
    }

    static IraidSetup degraded(int targets) {
        return new IraidSetup("P-iRAID of " + targets + ", degraded", Level.RAID5,
                Consistency.JOURNAL, targets, true);
    }

    /** Data of a stripe. */
    int stripeBytes() {
        return CHUNK_BYTES * (level == Level.RAID5 ? targets - 1 : targets);
    }

    /**
     * Opens the device that requests go to; it owns the LUNs, which hold zeroes.
     *
     * @param luns of as many targets
     */
    BlockDevice open(List<BlockDevice> luns) throws BenchException, StorageException {
        if (level == null) {
            return luns.getFirst();
        }
        FreshVolume fresh = FreshVolume.of(level, consistency, CHUNK_BYTES, JOURNAL_BYTES, luns);
        if (degraded) {
            fresh.volume().fail(0, new DeviceGoneException("pulled"));
        }
        return new Ticking(fresh);
    }

    /** Closes the clock, too. */
    private static final class Ticking extends ForwardingDevice {
        private final FreshVolume fresh;

        Ticking(FreshVolume fresh) {
            super(fresh.volume());
            this.fresh = fresh;
        }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            below().execute(request);
        }

        @Override
        public void submit(BlockRequest request) { below().submit(request); }

        @Override
        public void close() throws StorageException { fresh.close(); }
    }
}
