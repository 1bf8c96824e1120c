package lunar.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static lunar.rdma.posix.Structs.at;
import static lunar.rdma.posix.Structs.offset;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import lunar.rdma.ProviderException;
import lunar.rdma.RemoteMemory;
import lunar.rdma.posix.Structs;
import lunar.rdma.spi.ProviderDomain;
import lunar.rdma.spi.ProviderEndpoint;

/**
 * Memory window of type 2, bound to a queue pair, for tests of Send with Invalidate: user-space verbs have no other
 * memory whose key a peer can invalidate (InfiniBand Architecture 10.6.7).
 */
public final class MemoryWindow implements AutoCloseable {
    private static final int IBV_ACCESS_MW_BIND = 16;
    private static final int IBV_MW_TYPE_2 = 2;
    private static final int IBV_WR_BIND_MW = 8;

    /** In C, the functions of memory windows are inline functions that call through ibv_context.ops. */
    private static final StructLayout CONTEXT = Structs.foreign("ibv_context", //
            at(64, "alloc_mw", JAVA_LONG), //
            at(80, "dealloc_mw", JAVA_LONG));
    private static final StructLayout WINDOW = Structs.foreign("ibv_mw", at(16, "rkey", JAVA_INT));
    private static final StructLayout BIND = Structs.allocated("ibv_send_wr", 128, //
            at(28, "opcode", JAVA_INT), //
            at(80, "mw", JAVA_LONG), //
            at(88, "rkey", JAVA_INT), //
            at(96, "mr", JAVA_LONG), //
            at(104, "addr", JAVA_LONG), //
            at(112, "length", JAVA_LONG), //
            at(120, "mw_access_flags", JAVA_INT));

    private final NativeDomain domain;
    private final MemorySegment functions;
    private final long region;
    private final long window;
    private final RemoteMemory remote;

    /**
     * Registers memory and binds a window to it, for writes of the peer.
     *
     * @param endpoint connected endpoint, to which no other thread posts
     */
    public MemoryWindow(ProviderDomain of, ProviderEndpoint endpoint, MemorySegment memory)
            throws ProviderException {
        domain = ((VerbsDomain) of).nativeDomain();
        functions = NativeLibrary.at(domain.context(), CONTEXT.byteSize());
        region = domain.verbs().register(domain.address(), memory.address(), memory.byteSize(),
                Constants.IBV_ACCESS_LOCAL_WRITE | Constants.IBV_ACCESS_REMOTE_WRITE
                        | IBV_ACCESS_MW_BIND);
        window = function("alloc_mw").pointer(domain.address(), IBV_MW_TYPE_2);
        MemorySegment struct = NativeLibrary.at(window, WINDOW.byteSize());
        int key = nextKey(struct.get(JAVA_INT, offset(WINDOW, "rkey")));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment request = arena.allocate(BIND);
            request.set(JAVA_INT, offset(BIND, "opcode"), IBV_WR_BIND_MW);
            request.set(JAVA_LONG, offset(BIND, "mw"), window);
            request.set(JAVA_INT, offset(BIND, "rkey"), key);
            request.set(JAVA_LONG, offset(BIND, "mr"), region);
            request.set(JAVA_LONG, offset(BIND, "addr"), memory.address());
            request.set(JAVA_LONG, offset(BIND, "length"), memory.byteSize());
            request.set(JAVA_INT, offset(BIND, "mw_access_flags"),
                    Constants.IBV_ACCESS_REMOTE_WRITE);
            int result = domain.dataPath().postSend(((VerbsEndpoint) endpoint).queuePair(),
                    request.address(), arena.allocate(JAVA_LONG).address());
            if (result != 0) {
                throw Errno.failure("bind of a memory window", Math.abs(result));
            }
        }
        remote = new RemoteMemory(memory.address(), key, memory.byteSize());
    }

    /** Increments the lower byte of a key, which the program must change with each bind (ibv_inc_rkey). */
    private static int nextKey(int key) {
        return key & ~0xFF | key + 1 & 0xFF;
    }

    private NativeFunction function(String name) {
        return new NativeFunction(name,
                MemorySegment.ofAddress(functions.get(JAVA_LONG, offset(CONTEXT, name))));
    }

    /** Returns the memory that the peer may write to until the key is invalidated. */
    public RemoteMemory remote() {
        return remote;
    }

    @Override
    public void close() throws ProviderException {
        function("dealloc_mw").check(window);
        domain.verbs().deregister(region);
    }
}
