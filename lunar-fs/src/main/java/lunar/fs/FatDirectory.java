package lunar.fs;

import static lunar.fs.LittleEndian.u8;

import java.io.IOException;

/** Reads the entries of a FAT directory. Not reusable. */
final class FatDirectory {
    /** Entries can be counted with 16 bits (FAT specification, "FAT Directory Structure"). */
    static final long MAX_BYTES = (1L << 16) * FatEntry.BYTES;

    private static final int BUFFER_BYTES = 4096;

    /** Sees the raw entries that have names; the bytes are valid during the call only. */
    @FunctionalInterface
    interface Visitor {
        /**
         * @param volumeAt where the entry is
         * @return whether to continue
         */
        boolean visit(String name, byte[] bytes, int at, long volumeAt);
    }

    private final VolumeReader volume;
    private final LongName longName = new LongName();
    private final byte[] buffer = new byte[BUFFER_BYTES];

    FatDirectory(VolumeReader volume) { this.volume = volume; }

    void visit(RunMap map, long sizeBytes, Visitor visitor) throws IOException {
        long position = 0;
        while (position < sizeBytes) {
            Run run = map.at(position);
            long end = Math.min(run.end(), sizeBytes);
            while (position < end) {
                int count = (int) Math.min(BUFFER_BYTES, end - position);
                long volumeAt = run.volumeAt() + (position - run.start());
                volume.read(volumeAt, buffer, 0, count);
                if (!visit(count, volumeAt, visitor)) {
                    return;
                }
                position += count;
            }
        }
    }

    private boolean visit(int count, long volumeAt, Visitor visitor) {
        for (int at = 0; at + FatEntry.BYTES <= count; at += FatEntry.BYTES) {
            int first = u8(buffer, at);
            if (first == FatEntry.LAST) {
                return false;
            }
            if (first == FatEntry.UNUSED) {
                longName.drop();
            } else if (FatEntry.isLongName(buffer, at)) {
                longName.add(buffer, at);
            } else {
                String name = longName.take(buffer, at);
                if (name.isEmpty()) {
                    name = FatEntry.shortName(buffer, at);
                }
                if (!visitor.visit(name, buffer, at, volumeAt + at)) {
                    return false;
                }
            }
        }
        return true;
    }
}
