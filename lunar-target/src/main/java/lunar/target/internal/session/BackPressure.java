package lunar.target.internal.session;

import lunar.iscsi.spi.Transport;

/**
 * Suspends reading from a peer that does not receive its responses until it does. Stops after the PDU that exceeds a
 * limit rather than after the read, which may contain a thousand requests. Confined to the event loop's thread.
 */
final class BackPressure {
    private static final long RESUME_CHECK_MS = 5;

    private final Transport transport;
    private final long maxQueuedBytes;
    private final long maxBufferedBytes;
    private final Runnable alive;
    private long lastQueuedBytes;
    private boolean waiting;
    private boolean stopped;

    /**
     * @param maxQueuedBytes limit of all bytes that wait to be sent
     * @param maxBufferedBytes limit of the part that was copied into memory which all connections share
     * @param alive run when the peer receives data, however slowly
     */
    BackPressure(Transport transport, long maxQueuedBytes, long maxBufferedBytes, Runnable alive) {
        this.transport = transport;
        this.maxQueuedBytes = maxQueuedBytes;
        this.maxBufferedBytes = maxBufferedBytes;
        this.alive = alive;
    }

    /** Checks the limits and stops reading if one is exceeded. Called after each PDU and each batch of PDUs. */
    void look() {
        if (waiting || stopped || !isOver(1)) {
            return;
        }
        transport.flush(); // usually the bytes just were not flushed yet
        if (isOver(1)) {
            waiting = true;
            transport.reading(false);
            transport.loop().schedule(this::resume, RESUME_CHECK_MS);
        }
    }

    private boolean isOver(int part) {
        long bufferedBytes = transport.bufferedBytes();
        return transport.queuedBytes() > maxQueuedBytes / part
                || bufferedBytes > maxBufferedBytes / part
                || (bufferedBytes > 0 && transport.isCrowding());
    }

    /** Ends when the connection does. */
    void stop() { stopped = true; }

    private void resume() {
        if (stopped) {
            return;
        }
        long queuedBytes = transport.queuedBytes();
        if (queuedBytes < lastQueuedBytes) {
            alive.run();
        }
        lastQueuedBytes = queuedBytes;
        if (isOver(2)) {
            transport.loop().schedule(this::resume, RESUME_CHECK_MS);
        } else {
            waiting = false;
            transport.reading(true);
        }
    }
}
