package lunar.store;

import java.util.Optional;

/**
 * Options for using a file as a device.
 *
 * @param io I/O method
 * @param blockSize bytes of a logical block, 512 or 4096 (a disk has its own)
 * @param createBytes size of a file that does not exist yet, 0 if it must exist
 * @param readOnly whether all changes are rejected
 * @param workers threads for submitted requests, 1 to {@value #MAX_WORKERS}
 * @param ring whether {@link Io#DIRECT} may use an io_uring for submitted reads and writes, if the kernel has it
 * @param identity identity set by the operator; empty to determine it
 * @param createAgain whether to create a file even if records know another one served from the path before
 * @param locked whether the file is locked; without a lock, which is for a look at a file that is in use, what is read
 *        may be outdated
 */
public record FileOptions(Io io, int blockSize, long createBytes, boolean readOnly, int workers,
        boolean ring, Optional<PinnedIdentity> identity, boolean createAgain, boolean locked) {
    /** Most worker threads of a device. */
    public static final int MAX_WORKERS = 256;

    /** Through the page cache, 512-byte blocks, 16 workers; the file must exist. */
    public static final FileOptions BUFFERED = new FileOptions(Io.BUFFERED, 512, 0, false, 16,
            true, Optional.empty(), false, true);

    /** The way of the data. */
    public enum Io {
        /** Through the page cache; stable after a flush or with FUA. */
        BUFFERED,
        /**
         * Through the page cache, from which the target sends data without a copy if a connection has neither data
         * digest nor error recovery. Data written meanwhile may be sent, even by a later command; suitable for hosts
         * that wait for a read before they overwrite its blocks, as most do.
         */
        SENDFILE,
        /** Through the page cache; reads of resident pages are copied from a mapping. */
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
        if (!locked && !readOnly) {
            throw new IllegalArgumentException("lock=no needs read-only=true");
        }
        if (createBytes < 0 || createBytes % blockSize != 0) {
            throw new IllegalArgumentException("size=" + createBytes
                    + " is not a multiple of the block size " + blockSize);
        }
    }

    /** Returns these options with another data path. */
    public FileOptions withIo(Io value) {
        return new FileOptions(value, blockSize, createBytes, readOnly, workers, ring, identity,
                createAgain, locked);
    }

    /** Returns these options with another size of a logical block, in bytes. */
    public FileOptions withBlockSize(int value) {
        return new FileOptions(io, value, createBytes, readOnly, workers, ring, identity,
                createAgain, locked);
    }

    /** Returns these options with the size, in bytes, of a sparse file that is created if it does not exist. */
    public FileOptions withCreateBytes(long value) {
        return new FileOptions(io, blockSize, value, readOnly, workers, ring, identity,
                createAgain, locked);
    }

    /** Returns these options with another {@link #readOnly}. */
    public FileOptions withReadOnly(boolean value) {
        return new FileOptions(io, blockSize, createBytes, value, workers, ring, identity,
                createAgain, locked);
    }

    /** Returns these options with another number of workers. */
    public FileOptions withWorkers(int value) {
        return new FileOptions(io, blockSize, createBytes, readOnly, value, ring, identity,
                createAgain, locked);
    }

    /** Returns these options with another {@link #ring}; without it, workers perform all requests. */
    public FileOptions withRing(boolean value) {
        return new FileOptions(io, blockSize, createBytes, readOnly, workers, value, identity,
                createAgain, locked);
    }

    /** Returns these options with an identity that the operator has chosen. */
    public FileOptions withIdentity(PinnedIdentity value) {
        return new FileOptions(io, blockSize, createBytes, readOnly, workers, ring,
                Optional.of(value), createAgain, locked);
    }

    /** Returns these options with another {@link #createAgain}. */
    public FileOptions withCreateAgain(boolean value) {
        return new FileOptions(io, blockSize, createBytes, readOnly, workers, ring, identity,
                value, locked);
    }

    /** Returns these options with another {@link #locked}. */
    public FileOptions withLocked(boolean value) {
        return new FileOptions(io, blockSize, createBytes, readOnly, workers, ring, identity,
                createAgain, value);
    }
}
