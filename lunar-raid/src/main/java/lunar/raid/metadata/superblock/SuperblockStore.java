package lunar.raid.metadata.superblock;

import lunar.block.BlockDevice;
import lunar.block.StorageException;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.page.PagePair;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.SuperblockReading;

/**
 * The superblock of a member: two locations, written in turn, each stable before the other one may be touched. So after
 * a crash at any moment there is a whole one: the one before, or the one that was being written. Blocks; for one
 * thread at a time.
 */
public final class SuperblockStore {
    private final BlockDevice member;
    private final PagePair places;

    /** The store on a device, which stays the caller's. */
    public SuperblockStore(BlockDevice member) {
        this.member = member;
        places = new PagePair(member, 0);
    }

    /** Reads the superblock. */
    public SuperblockReading read() {
        if (member.sizeBytes() < PagePair.STRIDE_BYTES + Page.BYTES) {
            return new SuperblockReading.Blank();
        }
        try {
            Page newest = places
                    .read(page -> page.hasMagic(SuperblockCodec.MAGIC) && page.isWhole());
            if (newest == null) {
                newest = places.read(page -> page.hasMagic(SuperblockCodec.MAGIC));
            }
            return newest == null ? new SuperblockReading.Blank() : SuperblockCodec.decode(newest);
        } catch (StorageException e) {
            return new SuperblockReading.Unreadable(String.valueOf(e.getMessage()));
        }
    }

    /**
     * Writes a superblock. All that was written to the member before is stable first, and the superblock when the call
     * returns. To be called after {@link #read}: the superblock found there is kept until the new one is stable.
     *
     * @throws StorageException where it may be there or not; the one before is
     */
    public void write(Superblock superblock) throws StorageException {
        var page = new Page();
        SuperblockCodec.encode(superblock, page);
        places.write(page);
    }

    /** Takes away whatever superblock is there. */
    public void erase() throws StorageException {
        var zeroes = new Page();
        places.write(zeroes);
        places.write(zeroes);
    }
}
