package lunar.rdma.libfabric;

import static lunar.rdma.posix.Structs.offset;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import lunar.rdma.CompletionStatus;
import lunar.rdma.ProviderException;
import lunar.rdma.posix.WaitSet;
import lunar.rdma.spi.ProviderQueue;
import lunar.rdma.spi.RawCompletions;

/** A completion queue. */
final class FabricQueue implements ProviderQueue {
    private static final int BATCH = 64;
    private static final long ENTRY_BYTES = Layouts.CQ_MSG_ENTRY.byteSize();
    private static final long LENGTH = offset(Layouts.CQ_MSG_ENTRY, "len");
    private static final long ERROR = offset(Layouts.CQ_ERR_ENTRY, "err");

    private final FabricDomain domain;
    private final WaitSet waits;
    private final Arena arena = Arena.ofShared();
    private final long fid;
    private final int descriptor;
    private final MemorySegment read;
    private final MemorySegment readerr;
    private final MemorySegment trywait;
    private final long entries = arena.allocate(BATCH * ENTRY_BYTES, 64).address();
    private final long error = arena.allocate(Layouts.CQ_ERR_ENTRY).address();
    /** Array of one object, for fi_trywait(3). */
    private final long fids = arena.allocate(8, 8).address();

    /**
     * @param waits where its descriptor is waited for
     */
    FabricQueue(FabricDomain domain, int depth, WaitSet waits) throws ProviderException {
        this.domain = domain;
        this.waits = waits;
        boolean opened = false;
        try (Arena temporary = Arena.ofConfined()) {
            long attributes = temporary.allocate(Layouts.CQ_ATTR).address();
            Memory.word(attributes + offset(Layouts.CQ_ATTR, "size"), depth);
            Memory.number(attributes + offset(Layouts.CQ_ATTR, "format"),
                    Numbers.FI_CQ_FORMAT_MSG);
            Memory.number(attributes + offset(Layouts.CQ_ATTR, "wait_obj"), Numbers.FI_WAIT_FD);
            fid = domain.open("fi_cq_open", "cq_open", attributes);
            opened = true;
        } finally {
            if (!opened) {
                arena.close();
            }
        }
        read = Fid.function(fid, Layouts.CQ, "ops", Layouts.OPS_CQ, "read");
        readerr = Fid.function(fid, Layouts.CQ, "ops", Layouts.OPS_CQ, "readerr");
        trywait = Fid.function(domain.fabric(), Layouts.FABRIC, "ops", Layouts.OPS_FABRIC,
                "trywait");
        Memory.word(fids, fid);
        descriptor = Fid.descriptor(fid);
        waits.add(descriptor);
    }

    long fid() { return fid; }

    @Override
    public int poll(RawCompletions into) throws ProviderException {
        int before = into.size();
        for (int room; (room = into.room()) > 0;) {
            int most = Math.min(room, BATCH);
            long count = Calls.long3(read, fid, entries, most);
            if (count > 0) {
                for (int i = 0; i < count; i++) {
                    long entry = entries + i * ENTRY_BYTES;
                    into.add(Memory.word(entry), (int) Memory.word(entry + LENGTH));
                }
            } else if (count == -Numbers.FI_EAVAIL) {
                addError(into);
            } else if (count != -Numbers.EAGAIN && count != 0) {
                throw Library.failure("fi_cq_read", count);
            }
            if (count < most && count != -Numbers.FI_EAVAIL) {
                break;
            }
        }
        return into.size() - before;
    }

    private void addError(RawCompletions into) {
        if (Calls.long3(readerr, fid, error, 0) > 0) {
            int code = Memory.number(error + ERROR);
            into.addError(Memory.word(error), status(code), code);
        }
    }

    /** Returns the meaning of an error of libfabric. */
    static CompletionStatus status(int code) {
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

    @Override
    public boolean arm() { return Calls.trywait(trywait, domain.fabric(), fids, 1) == 0; }

    @Override
    public void close() {
        waits.remove(descriptor);
        Fid.closeFreely(fid, "completion queue");
        arena.close();
    }
}
