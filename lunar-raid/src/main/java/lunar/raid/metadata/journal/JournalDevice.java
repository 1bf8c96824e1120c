package lunar.raid.metadata.journal;

import lunar.block.BlockDevice;
import lunar.block.StorageException;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.page.PagePair;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.metadata.record.VolumeRecord;

/** The journal found on a device that may have a volume's. */
public enum JournalDevice {
    /** The journal that the volume's superblocks name. */
    ITS_JOURNAL,
    /** A journal of the volume that its superblocks do not name: one before, or one that a crash kept out. */
    ANOTHER_JOURNAL,
    /** None of this volume's. */
    NONE;

    /** Examines a device. Blocks. */
    public static JournalDevice look(VolumeRecord volume, BlockDevice device)
            throws StorageException {
        VolumeDescription what = volume.description();
        Page page = new PagePair(device, 0).read(one -> one.hasMagic(JournalFormat.PAGE_MAGIC)
                && one.isWhole() && one.volume().equals(what.uuid()));
        if (page == null) {
            return NONE;
        }
        return Page.uuid(page.bytes(), JournalFormat.PAGE_KEY).equals(what.journalKey())
                ? ITS_JOURNAL
                : ANOTHER_JOURNAL;
    }
}
