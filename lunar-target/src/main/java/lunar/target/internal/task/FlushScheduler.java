package lunar.target.internal.task;

import lunar.iscsi.spi.Transport;

/**
 * Decides when the responses of a connection are flushed: at the end of a batch of received PDUs, or once for all tasks
 * that end outside a batch. Confined to the event loop's thread.
 */
public final class FlushScheduler {
    /**
     * Number of responses that are flushed before the end of the batch, so that the initiator can process them
     * meanwhile. Fewer responses wait, because each write may have to wake the initiator, which is a third of the cost
     * of a long read on virtual processors.
     */
    private static final int EARLY_ANSWERS = 4;
    private static final int EARLY_BYTES = 64 * 1024;

    private final Transport transport;
    private final Runnable scheduled = this::run;
    private boolean inBatch;
    private boolean isScheduled;
    private int unsentAnswers;

    FlushScheduler(Transport transport) { this.transport = transport; }

    /** Records that a batch of PDUs is being received. */
    public void batchBegun() {
        inBatch = true;
    }

    /** Flushes at the end of a batch. */
    public void batchEnded() {
        inBatch = false;
        flush();
    }

    /** Schedules a flush after a response, or flushes immediately if enough has accumulated. */
    void answered() {
        if (++unsentAnswers >= EARLY_ANSWERS && transport.queuedBytes() >= EARLY_BYTES) {
            flush();
        }
        schedule();
    }

    /** Schedules one flush, unless a batch is being received. */
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
