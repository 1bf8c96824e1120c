package lunar.rdma.libfabric;

import java.lang.foreign.MemorySegment;
import lunar.rdma.Operation;
import lunar.rdma.ProviderException;
import lunar.rdma.WorkRequest;

/**
 * Data transfers of an endpoint: posts work requests with the functions of its tables. Sends and receives may be posted
 * at the same time, by different threads.
 *
 * <p>Every operation reports its completion. A signalled write reports it once the data are in the peer's memory
 * (FI_DELIVERY_COMPLETE), as reliable connections of hardware do; an unsignalled one, once the local memory is no
 * longer in use, which saves an answer of the peer.
 */
final class Transfers {
    private static final long INLINE = Numbers.FI_COMPLETION | Numbers.FI_INJECT;
    private static final long DELIVERED = Numbers.FI_COMPLETION | Numbers.FI_DELIVERY_COMPLETE;

    private final long endpoint;
    private final long peer;
    private final Scratch sending;
    private final Scratch receiving;
    private final MemorySegment send;
    private final MemorySegment sendv;
    private final MemorySegment sendmsg;
    private final MemorySegment recv;
    private final MemorySegment recvv;
    private final MemorySegment read;
    private final MemorySegment readv;
    private final MemorySegment write;
    private final MemorySegment writev;
    private final MemorySegment writemsg;

    /**
     * @param peer address of the peer in the address vector; 0 for a connected endpoint
     * @param memory of {@link FabricDomain#takeScratch}
     */
    Transfers(long endpoint, long peer, MemorySegment memory) {
        this.endpoint = endpoint;
        this.peer = peer;
        sending = new Scratch(memory.asSlice(0, Scratch.BYTES));
        receiving = new Scratch(memory.asSlice(Scratch.BYTES, Scratch.BYTES));
        send = message("send");
        sendv = message("sendv");
        sendmsg = message("sendmsg");
        recv = message("recv");
        recvv = message("recvv");
        read = remote("read");
        readv = remote("readv");
        write = remote("write");
        writev = remote("writev");
        writemsg = remote("writemsg");
    }

    private MemorySegment message(String name) {
        return Fid.function(endpoint, Layouts.EP, "msg", Layouts.OPS_MSG, name);
    }

    private MemorySegment remote(String name) {
        return Fid.function(endpoint, Layouts.EP, "rma", Layouts.OPS_RMA, name);
    }

    /**
     * Posts an operation.
     *
     * @return false if there is no room at the moment
     */
    boolean post(WorkRequest request, long id) throws ProviderException {
        return isPosted(request.operation(), switch (request.operation()) {
            case SEND -> send(request, id);
            case RECEIVE -> transfer(recv, recvv, receiving, request, id);
            case READ -> rma(read, readv, request, id);
            case WRITE -> write(request, id);
            case SEND_INVALIDATE -> throw new UnsupportedOperationException("invalidation");
        });
    }

    /**
     * Posts a send of a message that libfabric copies, as short ones are.
     *
     * @param message remains alive until this returns
     * @return false if there is no room at the moment
     */
    boolean send(MemorySegment message, long id) throws ProviderException {
        return isPosted(Operation.SEND, Calls.transfer(send, endpoint, message.address(),
                message.byteSize(), 0, peer, id));
    }

    private static boolean isPosted(Operation operation, long result) throws ProviderException {
        if (result == 0) {
            return true;
        }
        if (result == -Numbers.EAGAIN) {
            return false;
        }
        throw Library.failure("post of " + operation, result);
    }

    /**
     * Posts an empty write without a destination; its completion has an id that no operation has.
     *
     * @return false if there is no room at the moment
     */
    boolean probe() throws ProviderException {
        long result = Calls.rma(write, endpoint, 0, 0, 0, peer, 0, 0, 0);
        if (result != 0 && result != -Numbers.EAGAIN) {
            throw Library.failure("first operation", result);
        }
        return result == 0;
    }

    private long send(WorkRequest request, long id) {
        return request.isInline()
                ? Calls.long3(sendmsg, endpoint, sending.message(request, peer, id), INLINE)
                : transfer(send, sendv, sending, request, id);
    }

    private long transfer(MemorySegment one, MemorySegment several, Scratch scratch,
            WorkRequest request, long id) {
        int count = request.segments();
        if (count == 1) {
            return Calls.transfer(one, endpoint, request.address(0), request.length(0),
                    request.memory(0).localKey(), peer, id);
        }
        if (count == 0) {
            return Calls.transfer(one, endpoint, 0, 0, 0, peer, id);
        }
        scratch.fill(request);
        return Calls.transfer(several, endpoint, scratch.pieces(), scratch.descriptors(), count,
                peer, id);
    }

    private long write(WorkRequest request, long id) {
        boolean awaits = request.isSignalled();
        if (request.isInline() || awaits) {
            return Calls.long3(writemsg, endpoint, sending.remote(request, peer, id),
                    (request.isInline() ? INLINE : 0) | (awaits ? DELIVERED : 0));
        }
        return rma(write, writev, request, id);
    }

    private long rma(MemorySegment one, MemorySegment several, WorkRequest request, long id) {
        int count = request.segments();
        long key = Integer.toUnsignedLong(request.remoteKey());
        if (count == 1) {
            return Calls.rma(one, endpoint, request.address(0), request.length(0),
                    request.memory(0).localKey(), peer, request.remoteAddress(), key, id);
        }
        sending.fill(request);
        return Calls.rma(several, endpoint, sending.pieces(), sending.descriptors(), count, peer,
                request.remoteAddress(), key, id);
    }
}
