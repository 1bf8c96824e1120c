package lunar.rdma;

import java.util.Set;

/** Right to access registered memory. Local reads, as by a send, are always permitted. */
public enum Access {
    /** The device writes to the memory for local operations: receives, and the destination of RDMA reads. */
    LOCAL_WRITE,
    /** Peers that know the key read the memory by RDMA. */
    REMOTE_READ,
    /** Peers that know the key write to the memory by RDMA; needs {@link #LOCAL_WRITE}. */
    REMOTE_WRITE;

    /** For memory that only local operations use: sends and receives, and the local side of RDMA. */
    public static final Set<Access> LOCAL = Set.of(LOCAL_WRITE);

    /** For memory that peers may read and write as well. */
    public static final Set<Access> ALL = Set.of(LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE);
}
