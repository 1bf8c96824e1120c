package lunar.block;

/** A capability of a device beyond reading, writing and flushing. */
public enum Capability {
    /**
     * Blocks can be deallocated. An unmap is a hint: until it is written again, each of its blocks reads as before or
     * as zeroes, and which of the two may change. SBC-4 section 4.7.3.4 leaves blocks mapped that a device cannot or
     * will not unmap, as the ends of a range that cover no whole granule.
     */
    UNMAP,
    /** All blocks of an unmap that has succeeded read as zeroes. Comes with {@link #UNMAP}. */
    UNMAP_ZEROES,
    /** Ranges can be zeroed without sending the zeroes. */
    WRITE_ZEROES,
    /** {@link BlockRequest.Operation#COMPARE_AND_WRITE} is atomic on this device. */
    COMPARE_AND_WRITE,
    /**
     * {@link BlockRequest#asAtomicWrite} is seen whole or not at all, by a read of the whole range, and after a
     * crash or a loss of power where the device keeps anything then.
     */
    ATOMIC_WRITE,
    /**
     * A write can be made stable by itself (force unit access) in one request. A device without it still honours
     * FUA, by a flush.
     */
    FUA,
    /** {@link BlockDevice#transferTo} moves blocks to a channel without a copy through the heap or a buffer. */
    TRANSFER_TO,
    /** {@link BlockDevice#eraseKey} makes all that was ever written unreadable, at once: the store is encrypted. */
    KEY_ERASURE,
    /** Requests complete on the submitting thread and never wait for a medium (memory). */
    NON_BLOCKING
}
