package lunar.osd.store.directory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.function.BooleanSupplier;
import lunar.block.AbortedException;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;

/** A change of the data of an object. */
sealed interface Edit {
    /** Returns the length afterwards. */
    long lengthAfter(long length);

    /** Returns small data afterwards. May be called by any thread. */
    byte[] apply(byte[] small);

    /** Changes a file of a length, which does not become shorter. */
    void apply(DataFile file, long length) throws StorageException;

    /** Writes bytes. */
    final class Write implements Edit {
        private final long offset;
        private final MemorySegment from;
        /** A copy, if they are few: memory may be confined to its thread. */
        private final byte @Nullable [] small;

        /** Writes bytes at an offset, or behind the end if that is negative. */
        Write(long offset, MemorySegment from) {
            this.offset = offset;
            this.from = from;
            this.small = from.byteSize() <= DataStore.SMALL
                    ? from.toArray(ValueLayout.JAVA_BYTE)
                    : null;
        }

        private long start(long length) { return offset < 0 ? length : offset; }

        @Override
        public long lengthAfter(long length) {
            return Math.max(length, Math.addExact(start(length), from.byteSize()));
        }

        @Override
        public byte[] apply(byte[] old) {
            byte[] bytes = small == null ? new byte[0] : small;
            byte[] result = Arrays.copyOf(old, (int) lengthAfter(old.length));
            System.arraycopy(bytes, 0, result, (int) start(old.length), bytes.length);
            return result;
        }

        @Override
        public void apply(DataFile file, long length) throws StorageException {
            file.write(start(length), from);
        }
    }

    /** @throws AbortedException if a long edit is to end early */
    static void checkNot(BooleanSupplier aborted) throws AbortedException {
        if (aborted.getAsBoolean()) {
            throw new AbortedException("object store: the change of data was aborted");
        }
    }

    /**
     * Makes a range zeros.
     *
     * @param aborted whether to end early
     */
    record Zero(long offset, long count, BooleanSupplier aborted) implements Edit {
        private static final int PIECE = 1 << 20;
        private static final MemorySegment ZEROS = MemorySegment.ofArray(new byte[PIECE])
                .asReadOnly();

        @Override
        public long lengthAfter(long length) {
            return Math.max(length, Math.addExact(offset, count));
        }

        @Override
        public byte[] apply(byte[] old) {
            byte[] result = Arrays.copyOf(old, (int) lengthAfter(old.length));
            Arrays.fill(result, (int) offset, (int) (offset + count), (byte) 0);
            return result;
        }

        @Override
        public void apply(DataFile file, long length) throws StorageException {
            long end = Math.min(length, offset + count);
            for (long at = offset; at < end; at += PIECE) {
                checkNot(aborted);
                file.write(at, ZEROS.asSlice(0, Math.min(PIECE, end - at)));
            }
            file.resize(lengthAfter(length));
        }
    }

    /** Sets the length. */
    record Resize(long length) implements Edit {
        @Override
        public long lengthAfter(long before) { return length; }

        @Override
        public byte[] apply(byte[] old) { return Arrays.copyOf(old, (int) length); }

        @Override
        public void apply(DataFile file, long before) throws StorageException {
            file.resize(length);
        }
    }
}
