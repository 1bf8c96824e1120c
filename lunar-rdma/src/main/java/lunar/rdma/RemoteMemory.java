package lunar.rdma;

/**
 * Memory of a peer, as RDMA reads and writes name it. Travels in messages of the protocol above.
 *
 * @param address start; only the device of its owner knows what it means, and offsets may be added to it
 * @param key key of the registration, unsigned 32 bits (RFC 5040 calls it STag)
 * @param byteSize length
 */
public record RemoteMemory(long address, int key, long byteSize) {
    public RemoteMemory {
        if (byteSize < 0) {
            throw new IllegalArgumentException("length " + byteSize);
        }
    }

    /** A part of it. */
    public RemoteMemory slice(long offset, long length) {
        if (offset < 0 || length < 0 || offset > byteSize - length) {
            throw new IndexOutOfBoundsException(
                    offset + " + " + length + " of " + byteSize + " bytes");
        }
        return new RemoteMemory(address + offset, key, length);
    }
}
