package lunar.rdma.spi;

/** A memory region: the registration of native memory. */
public interface ProviderRegion extends AutoCloseable {
    /** Returns the local key for {@link ProviderEndpoint#post}; its meaning is the provider's. */
    long localKey();

    /** Returns the remote key (rkey, STag) for peers, unsigned 32 bits. */
    int remoteKey();

    /** Returns the address by which peers refer to the first byte; later bytes follow by addition. */
    long remoteAddress();

    /** Deregisters the memory, which ends local and remote access. */
    @Override
    void close();
}
