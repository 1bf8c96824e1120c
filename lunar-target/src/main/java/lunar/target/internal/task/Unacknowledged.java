package lunar.target.internal.task;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import lunar.iscsi.SerialNumbers;
import org.jspecify.annotations.Nullable;

/**
 * Keeps sent PDUs that the initiator has not acknowledged by ExpStatSN, to retransmit them for a SNACK or on another
 * connection (RFC 7143 sections 7.2 and 11.16). Used from error recovery level 1 on. Confined to the event loop's
 * thread.
 *
 * <p>Bounded for the connection and, by {@link RetransmissionMemory}, for the server: the oldest PDUs are dropped. A
 * status holds the buffers of its task as long as Data-In may have to be retransmitted; beyond the limit of buffers,
 * the oldest statuses are kept without them: their Data-In cannot be retransmitted, and their tasks not be reassigned.
 */
public final class Unacknowledged {
    /** Maximum number of PDUs with a status number that are kept. */
    public static final int MAX_COUNT = 1024;

    /** What a PDU occupies besides its data segment, with its task. */
    static final int PDU_BYTES = 512;

    /** Maximum size of the PDUs that are kept: that many, and some echoed pings. */
    static final int MAX_HEAP_BYTES = MAX_COUNT * PDU_BYTES + (256 << 10);

    /** A PDU with a status number. */
    static final class Sent {
        private final int statSn;
        private final MemorySegment header;
        private final MemorySegment data;
        private final @Nullable Task task;
        private final int pduBytes;
        /** Size of the task's buffers, which are held; 0 if none is. */
        private long heldBytes;

        /**
         * @param header its header as it was sent
         * @param data its data segment
         * @param task the task that it ends with its status; null for other PDUs
         * @param pduBytes the longest Data-In PDU that was sent before
         */
        Sent(int statSn, MemorySegment header, MemorySegment data, @Nullable Task task,
                int pduBytes) {
            this.statSn = statSn;
            this.header = header;
            this.data = data;
            this.task = task;
            this.pduBytes = pduBytes;
        }

        int statSn() { return statSn; }

        MemorySegment header() { return header; }

        MemorySegment data() { return data; }

        @Nullable
        Task task() { return task; }

        int pduBytes() { return pduBytes; }

        private boolean isOf(int itt) { return task != null && task.itt() == itt; }

        /** Whether everything that was sent for the task can be sent again. */
        private boolean isWhole() {
            return task != null && (heldBytes > 0 || task.outcome().dataInBytes() == 0);
        }

        private long heapBytes() { return PDU_BYTES + data.byteSize(); }
    }

    private final Deque<Sent> sent = new ArrayDeque<>();
    /** The kept PDUs whose tasks hold buffers, oldest first. */
    private final Deque<Sent> holders = new ArrayDeque<>();
    private final long maxBufferBytes;
    private final RetransmissionMemory ofServer;
    private long heapBytes;
    private long bufferBytes;
    private boolean closed;

    /** @param maxBufferBytes limit of the buffers of tasks that are held, except those of the latest one */
    Unacknowledged(long maxBufferBytes, RetransmissionMemory ofServer) {
        this.maxBufferBytes = maxBufferBytes;
        this.ofServer = ofServer;
    }

    /** Keeps a PDU, and holds the buffers of its task meanwhile, if it has Data-In. */
    void add(Sent pdu) {
        if (closed) { // sent to nobody, such as the response to a logout of its own connection
            return;
        }
        sent.add(pdu);
        count(pdu.heapBytes());
        Task task = pdu.task();
        if (task != null && task.outcome().dataInBytes() > 0) {
            task.hold();
            pdu.heldBytes = task.data().occupiedBytes();
            holders.add(pdu);
            countBuffers(pdu.heldBytes);
        }
        while (!sent.isEmpty() && (sent.size() > MAX_COUNT || heapBytes > MAX_HEAP_BYTES
                || ofServer.isHeapExceeded())) {
            drop(sent.getFirst());
        }
        while (!holders.isEmpty() && (ofServer.areBuffersExceeded()
                || (bufferBytes > maxBufferBytes && holders.size() > 1))) {
            releaseBuffers(holders.getFirst());
        }
    }

    /** Drops the PDUs before a StatSN, which the initiator has received. */
    void acknowledge(int expStatSn) {
        while (!sent.isEmpty() && SerialNumbers.lessThan(sent.getFirst().statSn(), expStatSn)) {
            drop(sent.getFirst());
        }
    }

    /** Drops the PDUs that end no task: they are of no use to another connection. */
    void keepTasks() {
        List.copyOf(sent).stream().filter(pdu -> pdu.task() == null).forEach(this::drop);
    }

    /** Returns the kept PDUs of a run of numbers; all from the first on for a length of 0. */
    List<Sent> run(int first, int length) {
        var found = new ArrayList<Sent>();
        for (Sent pdu : sent) {
            int distance = pdu.statSn() - first;
            if (distance >= 0 && (length == 0 || Integer.compareUnsigned(distance, length) < 0)) {
                found.add(pdu);
            }
        }
        return found;
    }

    /** Returns the kept status of the last task of a tag; null if there is none, or Data-In before it are not kept. */
    @Nullable
    Sent ofTask(int itt) {
        for (var all = sent.descendingIterator(); all.hasNext();) {
            Sent pdu = all.next();
            if (pdu.isOf(itt)) {
                return pdu.isWhole() ? pdu : null;
            }
        }
        return null;
    }

    /** Drops the status of a task, but not its buffers: returns whether the caller has to release the task. */
    boolean hand(Sent pdu) {
        boolean isHeld = endHold(pdu);
        drop(pdu);
        return isHeld;
    }

    /** Drops all PDUs, and keeps no further ones. */
    void close() {
        closed = true;
        while (!sent.isEmpty()) {
            drop(sent.getFirst());
        }
    }

    private void drop(Sent pdu) {
        sent.remove(pdu); // usually the first
        count(-pdu.heapBytes());
        releaseBuffers(pdu);
    }

    private void releaseBuffers(Sent pdu) {
        Task task = pdu.task();
        if (task != null && endHold(pdu)) {
            task.release();
        }
    }

    /** Counts the buffers of a PDU no more; returns whether its task held any. */
    private boolean endHold(Sent pdu) {
        if (!holders.remove(pdu)) {
            return false;
        }
        countBuffers(-pdu.heldBytes);
        pdu.heldBytes = 0;
        return true;
    }

    private void count(long bytes) {
        heapBytes += bytes;
        ofServer.addHeap(bytes);
    }

    private void countBuffers(long bytes) {
        bufferBytes += bytes;
        ofServer.addBuffers(bytes);
    }
}
