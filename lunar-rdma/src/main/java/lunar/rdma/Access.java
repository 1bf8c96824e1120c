package lunar.rdma;

import java.util.Set;

/** Access right of registered memory. Local reads, such as those of a send, are always permitted. */
public enum Access {
    /** The device may write to the memory for local operations: receives, and as the destination of RDMA reads. */
    LOCAL_WRITE,
    /** Peers that know the remote key may read the memory by RDMA. */
    REMOTE_READ,
    /** Peers that know the remote key may write to the memory by RDMA. Requires {@link #LOCAL_WRITE}. */
    REMOTE_WRITE;

    /** For memory that only local operations use: sends and receives, and the local side of RDMA. */
    public static final Set<Access> LOCAL = Set.of(LOCAL_WRITE);

    /** For memory that peers may read and write as well. */
    public static final Set<Access> ALL = Set.of(LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE);
}
