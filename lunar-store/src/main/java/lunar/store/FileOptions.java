package lunar.store;

import java.util.Optional;

/**
 * How a file is used as a device.
 *
 * @param io which way the data take
 * @param blockSize bytes of a logical block, 512 or 4096 (a disk has its own)
 * @param createBytes size of a file that does not exist yet, 0 where it must exist
 * @param readOnly whether every change is refused
 * @param workers threads for submitted requests, 1 to {@value #MAX_WORKERS}
 * @param ring whether {@link Io#DIRECT} may use an io_uring for submitted reads and writes, where the kernel has it
 * @param identity the device's identity by the word of the operator; empty to find it
 * @param createAgain whether a file is created even where records know another that was served from the path before
 */
public record FileOptions(Io io, int blockSize, long createBytes, boolean readOnly, int workers,
        boolean ring, Optional<PinnedIdentity> identity, boolean createAgain) {
    /** Most worker threads of a device. */
    public static final int MAX_WORKERS = 256;

    /** Through the page cache, 512-byte blocks, 16 workers; the file must exist. */
    public static final FileOptions BUFFERED = new FileOptions(Io.BUFFERED, 512, 0, false, 16,
            true, Optional.empty(), false);

    /** The way of the data. */
    public enum Io {
        /** Through the page cache; stable after a flush or with FUA. */
        BUFFERED,
        /**
         * Through the page cache, from which the target sends what it holds without a copy, as far as a connection has
         * no data digest and no error recovery. What is written meanwhile may be sent, even by a command that was to
         * come later: for hosts which, as most do, wait for a read before they write over it.
         */
        SENDFILE,
        /** Through the page cache; reads of what it holds are copied from a mapping. */
        MAPPED,
        /** Past the page cache (O_DIRECT); stable after a flush or with FUA. */
        DIRECT,
        /** Through the page cache, and forced to the medium before a write completes. */
        SYNC
    }

    public FileOptions {
        if (workers < 1 || workers > MAX_WORKERS) {
            throw new IllegalArgumentException(
                    "workers=" + workers + " is not between 1 and " + MAX_WORKERS);
        }
        if (blockSize != 512 && blockSize != 4096) {
            throw new IllegalArgumentException(
                    "block-size=" + blockSize + " is not one of 512, 4096");
        }
        if (createBytes < 0 || createBytes % blockSize != 0) {
            throw new IllegalArgumentException("size=" + createBytes
                    + " is not a multiple of the block size " + blockSize);
        }
    }

    public FileOptions io(Io io) {
        return new FileOptions(io, blockSize, createBytes, readOnly, workers, ring,
                identity, createAgain);
    }

    public FileOptions blockSize(int blockSize) {
        return new FileOptions(io, blockSize, createBytes, readOnly, workers, ring,
                identity, createAgain);
    }

    /** Creates the file, sparse, with this size if it does not exist. */
    public FileOptions creating(long sizeBytes) {
        return new FileOptions(io, blockSize, sizeBytes, readOnly, workers, ring,
                identity, createAgain);
    }

    public FileOptions readOnly(boolean readOnly) {
        return new FileOptions(io, blockSize, createBytes, readOnly, workers, ring,
                identity, createAgain);
    }

    public FileOptions workers(int workers) {
        return new FileOptions(io, blockSize, createBytes, readOnly, workers, ring,
                identity, createAgain);
    }

    /** Off: workers do all. */
    public FileOptions ring(boolean ring) {
        return new FileOptions(io, blockSize, createBytes, readOnly, workers, ring,
                identity, createAgain);
    }

    /** With an identity by the word of the operator. */
    public FileOptions identity(PinnedIdentity pinned) {
        return new FileOptions(io, blockSize, createBytes, readOnly, workers, ring,
                Optional.of(pinned), createAgain);
    }

    /** Creates a missing file even where another one was served from its path before. */
    public FileOptions createAgain(boolean again) {
        return new FileOptions(io, blockSize, createBytes, readOnly, workers, ring, identity,
                again);
    }
}
