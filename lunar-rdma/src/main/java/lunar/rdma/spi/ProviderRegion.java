package lunar.rdma.spi;

/** A registration of memory. */
public interface ProviderRegion extends AutoCloseable {
    /** Value by which {@link ProviderEndpoint#post} knows the memory, whatever it needs. */
    long localKey();

    /** Key that peers name, unsigned 32 bits. */
    int remoteKey();

    /** Returns the address by which peers refer to the first byte; later bytes follow by addition. */
    long remoteAddress();

    /** Ends local and remote access. */
    @Override
    void close();
}
