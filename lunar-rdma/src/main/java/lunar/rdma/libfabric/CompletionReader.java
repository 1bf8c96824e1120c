package lunar.rdma.libfabric;

import static lunar.rdma.posix.Structs.offset;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import lunar.rdma.CompletionStatus;
import lunar.rdma.ProviderException;
import lunar.rdma.spi.RawCompletions;

/** Reads completions from native queues of one provider, into memory of its own. For one thread at a time. */
final class CompletionReader {
    private static final int BATCH = 64;
    private static final long ENTRY_BYTES = Layouts.CQ_MSG_ENTRY.byteSize();
    private static final long LENGTH = offset(Layouts.CQ_MSG_ENTRY, "len");
    private static final long ERROR = offset(Layouts.CQ_ERR_ENTRY, "err");
    private static final long ERROR_AT = BATCH * ENTRY_BYTES;
    /** Length of the memory in bytes. */
    static final long BYTES = ERROR_AT + Layouts.CQ_ERR_ENTRY.byteSize();

    private final long entries;

    /**
     * @param memory of {@link #BYTES}, which remains alive while this is used
     */
    CompletionReader(MemorySegment memory) { entries = memory.address(); }

    /** A native queue and its functions. */
    record Source(long fid, MemorySegment read, MemorySegment readerr) {
        Source(long fid) {
            this(fid, Fid.function(fid, Layouts.CQ, "ops", Layouts.OPS_CQ, "read"),
                    Fid.function(fid, Layouts.CQ, "ops", Layouts.OPS_CQ, "readerr"));
        }
    }

    /** Opens a native queue. */
    static long open(FabricDomain domain, int depth, int waitObject) throws ProviderException {
        try (Arena arena = Arena.ofConfined()) {
            long attributes = arena.allocate(Layouts.CQ_ATTR).address();
            Memory.word(attributes + offset(Layouts.CQ_ATTR, "size"), depth);
            Memory.number(attributes + offset(Layouts.CQ_ATTR, "format"),
                    Numbers.FI_CQ_FORMAT_MSG);
            Memory.number(attributes + offset(Layouts.CQ_ATTR, "wait_obj"), waitObject);
            return domain.open("fi_cq_open", "cq_open", attributes);
        }
    }

    /** Moves available completions into a list that has room, and lets the endpoints of the queue make progress. */
    void read(Source queue, RawCompletions into) throws ProviderException {
        for (int room; (room = into.room()) > 0;) {
            int most = Math.min(room, BATCH);
            long count = Calls.long3(queue.read(), queue.fid(), entries, most);
            if (count > 0) {
                for (int i = 0; i < count; i++) {
                    long entry = entries + i * ENTRY_BYTES;
                    into.add(Memory.word(entry), (int) Memory.word(entry + LENGTH));
                }
            } else if (count == -Numbers.FI_EAVAIL) {
                addError(queue, into);
            } else if (count != -Numbers.EAGAIN && count != 0) {
                throw Library.failure("fi_cq_read", count);
            }
            if (count < most && count != -Numbers.FI_EAVAIL) {
                break;
            }
        }
    }

    private void addError(Source queue, RawCompletions into) {
        long error = entries + ERROR_AT;
        if (Calls.long3(queue.readerr(), queue.fid(), error, 0) > 0) {
            int code = Math.abs(Memory.number(error + ERROR)); // shm of 1.17 gives negative ones
            into.addResult(Memory.word(error), status(code), code);
        }
    }

    /** Returns the meaning of an error of libfabric. */
    private static CompletionStatus status(int code) {
        return switch (code) {
            case Numbers.ECANCELED -> CompletionStatus.FLUSHED;
            case Numbers.FI_ETRUNC, Numbers.EMSGSIZE, Numbers.FI_ETOOSMALL ->
                CompletionStatus.LENGTH_ERROR;
            case Numbers.EFAULT -> CompletionStatus.LOCAL_ACCESS_ERROR;
            case Numbers.EACCES, Numbers.EKEYREJECTED, Numbers.FI_ENOKEY ->
                CompletionStatus.REMOTE_ACCESS_ERROR;
            case Numbers.EREMOTEIO -> CompletionStatus.REMOTE_OPERATION_ERROR;
            case Numbers.FI_ENORX -> CompletionStatus.RECEIVER_NOT_READY;
            case Numbers.ENOTCONN, Numbers.ECONNRESET, Numbers.ECONNABORTED, Numbers.ESHUTDOWN,
                    Numbers.ETIMEDOUT, Numbers.EPIPE, Numbers.EHOSTUNREACH, Numbers.ENETDOWN,
                    Numbers.ENETUNREACH ->
                CompletionStatus.PEER_LOST;
            default -> CompletionStatus.PROVIDER_ERROR;
        };
    }
}
