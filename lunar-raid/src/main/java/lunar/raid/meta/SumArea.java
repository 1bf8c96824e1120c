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
record SumArea(UUID volume, long atBytes, int blockSize, long firstBlock, long blocks) {
    static SumArea of(VolumeRecord volume) {
        VolumeDescription what = volume.description();
        MetadataLayout layout = what.layout();
        return new SumArea(what.uuid(), layout.sumsBytes(), what.blockSize(),
                layout.dataBytes() / what.blockSize(), volume.members().getFirst().dataBlocks());
    }

    long pageAtBytes(long number) { return atBytes + number * Page.BYTES; }

    /** Whether a page is the one of this number; what it says of blocks is else not known. */
    boolean isMine(Page page, long number) {
        return page.hasMagic(SumFormat.MAGIC) && page.isWhole()
                && page.version() == SumFormat.FORMAT_VERSION && page.volume().equals(volume)
                && page.bytes().getLong(SumFormat.NUMBER) == number;
    }

    void seal(Page page, long number) {
        page.bytes().putLong(SumFormat.NUMBER, number);
        page.seal(SumFormat.MAGIC, SumFormat.FORMAT_VERSION, SumFormat.GENERATION, volume);
    }
}
