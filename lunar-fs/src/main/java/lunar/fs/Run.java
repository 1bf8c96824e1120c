package lunar.fs;

/**
 * A contiguous range of a file on the volume, or a hole.
 *
 * @param start first byte in the file
 * @param length bytes, at least 1
 * @param volumeAt position on the volume, {@link #HOLE} for zeroes without storage
 */
record Run(long start, long length, long volumeAt) {
    static final long HOLE = -1;

    Run {
        assert start >= 0 && length > 0 && volumeAt >= HOLE : "run " + start + " " + length;
    }

    static Run hole(long start, long length) { return new Run(start, length, HOLE); }

    boolean isHole() { return volumeAt == HOLE; }

    long end() { return start + length; }

    boolean contains(long position) { return position >= start && position < end(); }
}
