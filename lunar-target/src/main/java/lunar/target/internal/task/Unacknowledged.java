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
 * connection (RFC 7143 sections 7.2 and 11.16). Bounded: the oldest are dropped. Used from error recovery level 1 on.
 * Confined to the event loop's thread.
 */
public final class Unacknowledged {
    /** Maximum number of PDUs with a status number that are kept. */
    public static final int MAX_COUNT = 1024;

    /** Maximum number of bytes of data segments that are kept as copies, such as echoed pings. */
    static final int MAX_COPIED_BYTES = 1 << 20;

    /**
     * A PDU with a status number.
     *
     * @param header its header as it was sent
     * @param data its data segment
     * @param task the task that it ends with its status; null for other PDUs
     * @param pduBytes the longest Data-In PDU that was sent before
     */
    record Sent(int statSn, MemorySegment header, MemorySegment data, @Nullable Task task,
            int pduBytes) {}

    private final Deque<Sent> sent = new ArrayDeque<>();
    private final long maxDataBytes;
    private long dataBytes;
    private long copiedBytes;

    /** @param maxDataBytes limit of the data of tasks that are kept */
    Unacknowledged(long maxDataBytes) {
        this.maxDataBytes = maxDataBytes;
    }

    /** Keeps a PDU, and holds the buffer of its task meanwhile. */
    void add(Sent pdu) {
        sent.add(pdu);
        copiedBytes += pdu.data().byteSize();
        if (pdu.task() != null) {
            pdu.task().hold();
            dataBytes += pdu.task().outcome().dataInBytes();
        }
        while (sent.size() > MAX_COUNT || copiedBytes > MAX_COPIED_BYTES
                || (dataBytes > maxDataBytes && sent.size() > 1)) {
            forgetOldest();
        }
    }

    /** Drops the PDUs before a StatSN, which the initiator has received. */
    void acknowledge(int expStatSn) {
        while (!sent.isEmpty() && SerialNumbers.lessThan(sent.getFirst().statSn(), expStatSn)) {
            forgetOldest();
        }
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

    /** Returns the kept status of the last task of a tag, or null. */
    @Nullable
    Sent ofTask(int itt) {
        for (var all = sent.descendingIterator(); all.hasNext();) {
            Sent pdu = all.next();
            if (pdu.task() != null && pdu.task().itt() == itt) {
                return pdu;
            }
        }
        return null;
    }

    /** Hands the status of a task over; the caller then releases the task's buffer. */
    void hand(Sent pdu) {
        sent.remove(pdu);
        copiedBytes -= pdu.data().byteSize();
        dataBytes -= pdu.task() == null ? 0 : pdu.task().outcome().dataInBytes();
    }

    void clear() {
        while (!sent.isEmpty()) {
            forgetOldest();
        }
    }

    private void forgetOldest() {
        Sent oldest = sent.removeFirst();
        copiedBytes -= oldest.data().byteSize();
        Task task = oldest.task();
        if (task != null) {
            dataBytes -= task.outcome().dataInBytes();
            task.release();
        }
    }
}
