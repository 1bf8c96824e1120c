package lunar.rdma.libfabric;

import static lunar.rdma.posix.Structs.offset;

import lunar.rdma.spi.ProviderRegion;

/**
 * Registered memory.
 *
 * @param localKey the descriptor that local operations pass along with the memory
 */
record FabricRegion(long fid, long localKey, int remoteKey, long remoteAddress)
        implements ProviderRegion {
    private static final long DESCRIPTOR = offset(Layouts.MR, "mem_desc");

    FabricRegion(long fid, int key, long remoteAddress) {
        this(fid, Memory.word(fid + DESCRIPTOR), key, remoteAddress);
    }

    @Override
    public void close() { Fid.closeFreely(fid, "memory"); }
}
