package lunar.target;

import lunar.iscsi.spi.Transport;

/**
 * Takes nothing more from a peer that does not take its answers, until it does: after the PDU that fills its share, for
 * what one read brings can be a thousand requests. On the loop.
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
     * @param maxQueuedBytes all that waits to be sent
     * @param maxBufferedBytes the part of it that was copied into memory which all connections share
     * @param alive told that the peer takes what is sent, however slowly
     */
    BackPressure(Transport transport, long maxQueuedBytes, long maxBufferedBytes, Runnable alive) {
        this.transport = transport;
        this.maxQueuedBytes = maxQueuedBytes;
        this.maxBufferedBytes = maxBufferedBytes;
        this.alive = alive;
    }

    /** After each PDU, and each batch of them. */
    void look() {
        if (waiting || stopped || !isOver(1)) {
            return;
        }
        transport.flush(); // most often it just was not sent yet
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

    /** The connection is over. */
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
