package lunar.target.internal.task;

import lunar.iscsi.spi.Transport;

/**
 * Decides when the answers of a connection are handed to the network: at the end of the batch of PDUs that is being
 * received, or once for all tasks that end outside a batch. Confined to the event loop's thread.
 */
public final class FlushScheduler {
    /**
     * So many answers with so many bytes do not wait for the end of the batch: the initiator processes them meanwhile.
     * Fewer answers do wait, as each write may have to wake the initiator, which is a third of the cost of a long read
     * on virtual processors.
     */
    private static final int EARLY_ANSWERS = 4;
    private static final int EARLY_BYTES = 64 * 1024;

    private final Transport transport;
    private final Runnable scheduled = this::run;
    private boolean inBatch;
    private boolean isScheduled;
    private int unsentAnswers;

    FlushScheduler(Transport transport) { this.transport = transport; }

    /** Notes that a batch of PDUs is being received. */
    public void batchBegun() { inBatch = true; }

    /** Flushes at the end of a batch. */
    public void batchEnded() {
        inBatch = false;
        flush();
    }

    /** Flushes later, or at once where enough has gathered, after the answer to a command. */
    void answered() {
        if (++unsentAnswers >= EARLY_ANSWERS && transport.queuedBytes() >= EARLY_BYTES) {
            flush();
        }
        schedule();
    }

    /** Schedules one flush, unless the end of the batch brings one. */
    public void schedule() {
        if (!inBatch && !isScheduled) {
            isScheduled = true;
            transport.loop().execute(scheduled);
        }
    }

    private void run() {
        isScheduled = false;
        flush();
    }

    private void flush() {
        unsentAnswers = 0;
        transport.flush();
    }
}
