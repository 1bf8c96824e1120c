package lunar.raid.metadata.checksum;

import java.util.UUID;
import lunar.raid.metadata.page.Page;
import lunar.raid.metadata.record.MetadataLayout;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.metadata.record.VolumeRecord;

/**
 * Where a member has its checksums, and of what.
 *
 * @param atBytes where the pages begin
 * @param blockSize bytes of a block
 * @param firstBlock the device's block at which the data area begins
 * @param blocks blocks of the data area
 */
public record ChecksumArea(UUID volume, long atBytes, int blockSize, long firstBlock, long blocks) {
    public static ChecksumArea of(VolumeRecord volume) {
        VolumeDescription what = volume.description();
        MetadataLayout layout = what.layout();
        return new ChecksumArea(what.uuid(), layout.checksumsBytes(), what.blockSize(),
                layout.dataBytes() / what.blockSize(), volume.members().getFirst().dataBlocks());
    }

    public long pageAtBytes(long number) { return atBytes + number * Page.BYTES; }

    /** Whether a page is the one of this number; what it says of blocks is else not known. */
    public boolean isMine(Page page, long number) {
        return page.hasMagic(ChecksumFormat.MAGIC) && page.isWhole()
                && page.version() == ChecksumFormat.FORMAT_VERSION && page.volume().equals(volume)
                && page.bytes().getLong(ChecksumFormat.NUMBER) == number;
    }

    public void seal(Page page, long number) {
        page.bytes().putLong(ChecksumFormat.NUMBER, number);
        page.seal(ChecksumFormat.MAGIC, ChecksumFormat.FORMAT_VERSION, ChecksumFormat.GENERATION,
                volume);
    }
}
