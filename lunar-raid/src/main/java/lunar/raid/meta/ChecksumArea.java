package lunar.raid.meta;

import java.util.UUID;

/**
 * Where a member has its checksums, and of what.
 *
 * @param atBytes where the pages begin
 * @param blockSize bytes of a block
 * @param firstBlock the device's block at which the data area begins
 * @param blocks blocks of the data area
 */
record ChecksumArea(UUID volume, long atBytes, int blockSize, long firstBlock, long blocks) {
    static ChecksumArea of(VolumeRecord volume) {
        VolumeDescription what = volume.description();
        MetadataLayout layout = what.layout();
        return new ChecksumArea(what.uuid(), layout.sumsBytes(), what.blockSize(),
                layout.dataBytes() / what.blockSize(), volume.members().getFirst().dataBlocks());
    }

    long pageAtBytes(long number) { return atBytes + number * Page.BYTES; }

    /** Whether a page is the one of this number; what it says of blocks is else not known. */
    boolean isMine(Page page, long number) {
        return page.hasMagic(ChecksumFormat.MAGIC) && page.isWhole()
                && page.version() == ChecksumFormat.FORMAT_VERSION && page.volume().equals(volume)
                && page.bytes().getLong(ChecksumFormat.NUMBER) == number;
    }

    void seal(Page page, long number) {
        page.bytes().putLong(ChecksumFormat.NUMBER, number);
        page.seal(ChecksumFormat.MAGIC, ChecksumFormat.FORMAT_VERSION, ChecksumFormat.GENERATION,
                volume);
    }
}
