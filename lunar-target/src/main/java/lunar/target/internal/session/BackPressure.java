package lunar.target.internal.session;

import lunar.iscsi.spi.Transport;

/**
 * Stops reading from a peer that does not take its answers, until it does. Stops after the PDU that exceeds a limit,
 * not after a read, which can bring a thousand requests. Confined to the event loop's thread.
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
     * @param alive run when the peer takes what is sent, however slowly
     */
    BackPressure(Transport transport, long maxQueuedBytes, long maxBufferedBytes, Runnable alive) {
        this.transport = transport;
        this.maxQueuedBytes = maxQueuedBytes;
        this.maxBufferedBytes = maxBufferedBytes;
        this.alive = alive;
    }

    /** Stops reading where a limit is exceeded. Called after each PDU, and each batch of them. */
    void look() {
        if (waiting || stopped || !isOver(1)) {
            return;
        }
        transport.flush(); // mostly the bytes just were not sent yet
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
