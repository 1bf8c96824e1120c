package lunar.scsi.target.copy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Extent;
import lunar.block.StorageException;
import lunar.scsi.Bytes;
import lunar.scsi.Sense;
import lunar.scsi.copy.BlockRange;

/** Source of a copy: a representation of data (ROD, SPC-5 section 5.18.6). Methods may block. */
public sealed interface CopySource {
    /**
     * A run of bytes that are all zeroes or all data.
     *
     * @param zeroes whether the bytes are known to be zeroes; otherwise they may have any value
     */
    record Run(boolean zeroes, long bytes) {}

    /** Returns the number of bytes. */
    long byteCount();

    /** Returns the run of bytes that starts at an offset, from 1 byte to {@code most}. */
    Run run(long at, long most) throws StorageException, CopyException;

    /**
     * Reads bytes at any offset.
     *
     * @param request request to read with; identifies the block of a failure
     */
    void read(BlockRequest request, long at, MemorySegment into)
            throws StorageException, CopyException;

    /** Unlimited zeroes. */
    record Zeroes() implements CopySource {
        @Override
        public long byteCount() { return Long.MAX_VALUE; }

        @Override
        public Run run(long at, long most) { return new Run(true, most); }

        @Override
        public void read(BlockRequest request, long at, MemorySegment into) { into.fill((byte) 0); }
    }

    /**
     * Blocks of a device, in a list of ranges.
     *
     * @param unit unit to read from; an erasure waits for a running read, and the next read fails
     */
    record Blocks(CopyUnit unit, List<BlockRange> ranges) implements CopySource {
        /** Position in a range: offset on the device, and bytes left in the range. */
        private record Place(long deviceAt, long bytes) {}

        public Blocks {
            ranges = List.copyOf(ranges);
        }

        /** Returns the blocks of a range, of any length. */
        static Blocks of(CopyUnit unit, long lba, long blockCount) {
            var ranges = new ArrayList<BlockRange>();
            for (long done = 0; done < blockCount;) {
                long count = Math.min(blockCount - done, 0xffff_ffffL);
                ranges.add(new BlockRange(lba + done, count));
                done += count;
            }
            return new Blocks(unit, ranges);
        }

        @Override
        public long byteCount() { return BlockRange.count(ranges) * device().blockSize(); }

        @Override
        public Run run(long at, long most) throws StorageException, CopyException {
            Place place = place(at);
            int size = device().blockSize();
            Extent extent;
            enter();
            try {
                extent = device().extent(place.deviceAt / size);
            } finally {
                unit.leave();
            }
            long end = (extent.lba() + extent.blockCount()) * size;
            return new Run(!extent.allocated(),
                    Math.min(Math.min(end - place.deviceAt, place.bytes), most));
        }

        /** Returns the medium, equal for all units over it. */
        BlockDevice store() {
            return unit.store();
        }

        private BlockDevice device() { return unit.device(); }

        private void enter() throws CopyException {
            Sense obstacle = unit.enter();
            if (obstacle != null) {
                throw new CopyException(obstacle);
            }
        }

        @Override
        public void read(BlockRequest request, long at, MemorySegment into)
                throws StorageException, CopyException {
            enter();
            try {
                readBlocks(request, at, into);
            } finally {
                unit.leave();
            }
        }

        private void readBlocks(BlockRequest request, long at, MemorySegment into)
                throws StorageException {
            int size = device().blockSize();
            long largest = (long) device().limits().maxTransferBlocks() * size;
            for (long done = 0; done < into.byteSize();) {
                Place place = place(at + done);
                long lba = place.deviceAt / size;
                long inside = place.deviceAt % size;
                long bytes = Math.min(Math.min(place.bytes, into.byteSize() - done), largest);
                if (inside == 0 && bytes >= size) {
                    bytes -= bytes % size;
                    device().execute(request.asRead(lba, bytes / size, into.asSlice(done, bytes)));
                } else { // partial block, if block sizes differ
                    var block = MemorySegment.ofArray(new byte[size]);
                    device().execute(request.asRead(lba, 1, block));
                    bytes = Math.min(bytes, size - inside);
                    MemorySegment.copy(block, inside, into, done, bytes);
                }
                done += bytes;
            }
        }

        private Place place(long at) {
            long left = at;
            for (BlockRange range : ranges) {
                long bytes = range.blockCount() * device().blockSize();
                if (left < bytes) {
                    return new Place(range.lba() * device().blockSize() + left, bytes - left);
                }
                left -= bytes;
            }
            throw new IndexOutOfBoundsException(at);
        }
    }
}
