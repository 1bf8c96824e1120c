package lunar.rdma.libfabric;

import static lunar.rdma.posix.Structs.offset;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import lunar.rdma.ProviderException;
import lunar.rdma.posix.SignalHandlers;
import org.jspecify.annotations.Nullable;

/**
 * The native objects of an endpoint of shm: the endpoint, its address vector, its completion queues. They are not
 * shared with other endpoints, since libfabric lets two endpoints of one process use each other's memory directly,
 * without a mapping of their own: neither may be freed before both are closed. Until then the objects of a closed
 * endpoint remain allocated; they do nothing, since they are not polled.
 */
final class ShmNatives {
    private static final int NAME_BYTES = 256;

    /** Objects of this process that are in use, by the names of their endpoints. Guarded by itself. */
    private static final Map<String, ShmNatives> IN_USE = new HashMap<>();

    private final FabricDomain domain;
    private final long endpoint;
    private final long vector;
    private final CompletionReader.Source sends;
    private final CompletionReader.Source receives;
    private final String name;
    /** The other end, if it is in this process and one of the two knows the other's address. Guarded by IN_USE. */
    private @Nullable ShmNatives partner;
    /** Guarded by IN_USE. */
    private boolean isDone;

    /**
     * @param receiveDepth room for completions of receives in a queue of their own; 0 to have them in that of sends
     */
    ShmNatives(FabricDomain domain, int sendDepth, int receiveDepth) throws ProviderException {
        this.domain = domain;
        var opened = new long[4];
        boolean enabled = false;
        domain.retain();
        try {
            vector = opened[0] = openVector();
            opened[1] = CompletionReader.open(domain, sendDepth, Numbers.FI_WAIT_NONE);
            sends = new CompletionReader.Source(opened[1]);
            if (receiveDepth > 0) {
                opened[2] = CompletionReader.open(domain, receiveDepth, Numbers.FI_WAIT_NONE);
                receives = new CompletionReader.Source(opened[2]);
            } else {
                receives = sends;
            }
            endpoint = opened[3] = openEndpoint();
            Fid.bind(endpoint, vector, 0, "address vector");
            if (receiveDepth > 0) {
                Fid.bind(endpoint, sends.fid(), Numbers.FI_TRANSMIT, "send queue");
                Fid.bind(endpoint, receives.fid(), Numbers.FI_RECV, "receive queue");
            } else {
                Fid.bind(endpoint, sends.fid(), Numbers.FI_TRANSMIT | Numbers.FI_RECV, "queue");
            }
            Fid.enable(endpoint);
            name = readName();
            enabled = true;
        } finally {
            if (!enabled) {
                for (int i = opened.length - 1; i >= 0; i--) {
                    if (opened[i] != 0) {
                        Fid.close(opened[i]);
                    }
                }
                domain.release();
            }
        }
        synchronized (IN_USE) {
            IN_USE.put(name, this);
        }
    }

    private long openVector() throws ProviderException {
        try (Arena arena = Arena.ofConfined()) {
            long attributes = arena.allocate(Layouts.AV_ATTR).address();
            Memory.number(attributes + offset(Layouts.AV_ATTR, "type"), Numbers.FI_AV_TABLE);
            return domain.open("fi_av_open", "av_open", attributes);
        }
    }

    private long openEndpoint() throws ProviderException {
        var opened = new long[1];
        var failure = new ProviderException[1];
        SignalHandlers.keep(() -> {
            try {
                opened[0] = domain.open("fi_endpoint", "endpoint", domain.info().address());
            } catch (ProviderException e) {
                failure[0] = e;
            }
        });
        if (failure[0] != null) {
            throw failure[0];
        }
        return opened[0];
    }

    private String readName() throws ProviderException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(NAME_BYTES);
            MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_LONG, NAME_BYTES);
            Fid.check("fi_getname", Calls.int3(
                    Fid.function(endpoint, Layouts.EP, "cm", Layouts.OPS_CM, "getname"), endpoint,
                    bytes.address(), length.address()));
            return bytes.getString(0);
        }
    }

    long endpoint() { return endpoint; }

    CompletionReader.Source sends() { return sends; }

    CompletionReader.Source receives() { return receives; }

    /** Address of the endpoint, for its peer. */
    String name() { return name; }

    /** Lets the endpoint make progress; completions remain in the queues. */
    void progress() {
        long _ = Calls.long3(sends.read(), sends.fid(), 0, 0);
    }

    /**
     * Makes the peer's address the first of the vector.
     *
     * @param isLocal whether the peer is in this process
     * @return whether libfabric accepts it; false also if a peer in this process is closed, is this endpoint, or
     *         belongs to another connection
     */
    boolean insert(String peer, boolean isLocal) {
        synchronized (IN_USE) {
            ShmNatives other = IN_USE.get(peer);
            if ((isLocal && other == null) || !mayBePartner(other)) {
                return false;
            }
            if (other != null) {
                partner = other;
                other.partner = this;
            }
        }
        try (Arena arena = Arena.ofConfined()) {
            return Calls.insert(
                    Fid.function(vector, Layouts.AV, "ops", Layouts.OPS_AV, "insert"), vector,
                    arena.allocateFrom(peer).address(), 1,
                    arena.allocate(ValueLayout.JAVA_LONG).address(), 0, 0) == 1;
        }
    }

    /** Whether this endpoint and a peer in this process have no other partner, so that each is freed exactly once. */
    @SuppressWarnings("ReferenceEquality") // endpoints have no equals
    private boolean mayBePartner(@Nullable ShmNatives other) {
        return other != this && (partner == null || partner == other)
                && (other == null || other.partner == null || other.partner == this);
    }

    /** Frees the objects of the closed endpoint, now or when the peer in this process is closed as well. */
    void done() {
        ShmNatives other;
        synchronized (IN_USE) {
            IN_USE.remove(name, this);
            isDone = true;
            other = partner;
            if (other != null && !other.isDone) {
                return;
            }
        }
        free();
        if (other != null) {
            other.free();
        }
    }

    private void free() {
        Fid.closeFreely(endpoint, "endpoint");
        Fid.closeFreely(vector, "address vector");
        Fid.closeFreely(sends.fid(), "completion queue");
        if (receives.fid() != sends.fid()) {
            Fid.closeFreely(receives.fid(), "completion queue");
        }
        domain.release();
    }
}
