package lunar.fs;

import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Content of a file. Not thread-safe. */
interface Content {
    long sizeBytes();

    /**
     * Reads some bytes.
     *
     * @param count at least 1
     * @return how many, at least 1; -1 at the end
     */
    int read(long position, byte[] into, int at, int count) throws IOException;

    /** Content that lies in a buffer already. */
    static Content of(byte[] bytes) {
        return new Content() {
            @Override
            public long sizeBytes() { return bytes.length; }

            @Override
            public int read(long position, byte[] into, int at, int count) {
                if (position >= bytes.length) {
                    return -1;
                }
                int part = (int) Math.min(count, bytes.length - position);
                System.arraycopy(bytes, (int) position, into, at, part);
                return part;
            }
        };
    }

    /** Content that lies on the volume. */
    static Content mapped(VolumeReader volume, RunMap map, long sizeBytes) {
        return new Content() {
            private @Nullable Run last;

            @Override
            public long sizeBytes() { return sizeBytes; }

            @Override
            public int read(long position, byte[] into, int at, int count) throws IOException {
                if (position >= sizeBytes) {
                    return -1;
                }
                Run run = last;
                if (run == null || !run.contains(position)) {
                    run = map.at(position);
                    last = run;
                }
                int part = (int) Math.min(count,
                        Math.min(run.end(), sizeBytes) - position);
                if (run.isHole()) {
                    Arrays.fill(into, at, at + part, (byte) 0);
                } else {
                    volume.read(run.volumeAt() + (position - run.start()), into, at, part);
                }
                return part;
            }
        };
    }
}
