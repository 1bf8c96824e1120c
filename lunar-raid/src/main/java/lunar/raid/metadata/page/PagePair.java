package lunar.raid.metadata.page;

import java.util.function.Predicate;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.MediumException;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/**
 * Two places for one page on a device, written in turn: whatever happens to the one that is being written, the other
 * one is whole. They are so far apart that no physical block of a device is a part of both. For one thread at a time.
 */
public final class PagePair {
    /** Bytes from the one place to the other. */
    public static final int STRIDE_BYTES = 64 << 10;

    private final BlockDevice device;
    private final long offsetBytes;
    /** The place of the newest page that is known to be stable. */
    private int newest = 1;

    public PagePair(BlockDevice device, long offsetBytes) {
        this.device = device;
        this.offsetBytes = offsetBytes;
    }

    /**
     * The newest page that is wanted, or null. The next write goes to the other place. A place that cannot be read is
     * as good as one that was torn; a device that is gone is not.
     */
    public @Nullable Page read(Predicate<Page> wanted) throws StorageException {
        Page best = null;
        MediumException unreadable = null;
        for (int place = 0; place < 2; place++) {
            var page = new Page();
            try {
                device.read(lba(place), page.segment());
            } catch (MediumException e) {
                if (unreadable != null) {
                    throw e;
                }
                unreadable = e;
                continue;
            }
            if (wanted.test(page) && (best == null || page.generation() > best.generation())) {
                best = page;
                newest = place;
            }
        }
        return best;
    }

    /** Makes a request of writing a page; stable when it completes, after which {@link #written} is to be called. */
    void prepare(Page page, BlockRequest request) {
        request.asWrite(lba(1 - newest), Page.BYTES / device.blockSize(), page.segment(), true);
    }

    /** The prepared write is stable. One that failed leaves all as it was: the same place is written again. */
    void written() {
        newest = 1 - newest;
    }

    /** Writes a page, after all that was written to the device before it. Blocks. */
    public void write(Page page) throws StorageException {
        device.flush();
        var request = new BlockRequest();
        prepare(page, request);
        device.execute(request);
        written();
    }

    private long lba(int place) {
        return (offsetBytes + (long) place * STRIDE_BYTES) / device.blockSize();
    }
}
