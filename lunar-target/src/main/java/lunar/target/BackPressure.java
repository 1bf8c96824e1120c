package lunar.target;

import lunar.iscsi.spi.Transport;

/** Reads nothing more from a peer that does not take its answers, until it does. On the loop. */
final class BackPressure {
    private static final long RESUME_CHECK_MS = 5;

    private final Transport transport;
    private final long maxQueuedBytes;
    private final Runnable alive;
    private long lastQueuedBytes;
    private boolean stopped;

    /** @param alive told that the peer takes what is sent, however slowly */
    BackPressure(Transport transport, long maxQueuedBytes, Runnable alive) {
        this.transport = transport;
        this.maxQueuedBytes = maxQueuedBytes;
        this.alive = alive;
    }

    /** After each batch. */
    void look() {
        if (transport.queuedBytes() > maxQueuedBytes) {
            transport.reading(false);
            transport.loop().schedule(this::resume, RESUME_CHECK_MS);
        }
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
        if (queuedBytes > maxQueuedBytes / 2) {
            transport.loop().schedule(this::resume, RESUME_CHECK_MS);
        } else {
            transport.reading(true);
        }
    }
}
