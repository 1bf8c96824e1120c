package lunar.block;

/** A capability of a device beyond reading, writing and flushing. */
public enum Capability {
    /**
     * The device can deallocate blocks. An unmap is a hint: until it is written again, each of its blocks reads as
     * before or as zeroes, and that may change from read to read. A device may leave blocks mapped (SBC-4 section
     * 4.7.3.4), such as the ends of a range that cover no whole granule.
     */
    UNMAP,
    /** All blocks of a successful unmap read as zeroes. Comes with {@link #UNMAP}. */
    UNMAP_ZEROES,
    /** The device can write zeroes without receiving them. */
    WRITE_ZEROES,
    /**
     * The device supports {@link BlockRequest.Operation#COMPARE_AND_WRITE}, atomically with regard to the requests of
     * this process; {@link BlockDevice#comparesForAllHosts} says whether also to those of other hosts.
     */
    COMPARE_AND_WRITE,
    /**
     * The device supports {@link BlockRequest#asAtomicWrite}: a read of the whole range finds all of the write or
     * nothing of it, and so does a read after a crash or a loss of power, if the device is not volatile.
     */
    ATOMIC_WRITE,
    /**
     * The device can write to stable storage in one request (force unit access). A device without this capability
     * still honours FUA, by a flush after the write.
     */
    FUA,
    /** The device supports {@link BlockDevice#transferTo}. */
    TRANSFER_TO,
    /** The device is encrypted, and {@link BlockDevice#eraseKey} makes all data unreadable at once. */
    KEY_ERASURE,
    /** Requests complete on the submitting thread and never wait for a medium, as those of memory. */
    NON_BLOCKING
}
