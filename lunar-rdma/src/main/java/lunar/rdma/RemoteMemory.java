package lunar.rdma;

/**
 * Memory of a peer that can be the target of RDMA reads and writes. The peer advertises it in messages of the
 * upper-layer protocol.
 *
 * @param address address of the first byte; its meaning is known to the owner's device alone, but offsets can be added
 * @param key remote key (rkey) of the registration, unsigned 32 bits; RFC 5040 calls it STag
 * @param byteSize length in bytes
 */
public record RemoteMemory(long address, int key, long byteSize) {
    public RemoteMemory {
        if (byteSize < 0) {
            throw new IllegalArgumentException("length " + byteSize);
        }
    }

    /** Returns a part of the memory. */
    public RemoteMemory slice(long offset, long length) {
        if (offset < 0 || length < 0 || offset > byteSize - length) {
            throw new IndexOutOfBoundsException(
                    offset + " + " + length + " of " + byteSize + " bytes");
        }
        return new RemoteMemory(address + offset, key, length);
    }
}
