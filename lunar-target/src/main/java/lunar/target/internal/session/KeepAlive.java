package lunar.target.internal.session;

import lunar.iscsi.spi.EventLoop;

/**
 * Pings a peer that has been silent for a while, and ends the connection if the ping is not answered for as long again.
 * Confined to the event loop's thread.
 */
final class KeepAlive {
    private final EventLoop loop;
    private final long idleMs;
    private final Runnable ping;
    private final Runnable end;
    private long heardMs;
    private EventLoop.Timer timer = () -> {};
    private boolean stopped;

    /** Whether a ping is outstanding, with nothing received since. */
    private boolean pinged;

    KeepAlive(EventLoop loop, long idleMs, Runnable ping, Runnable end) {
        this.loop = loop;
        this.idleMs = idleMs;
        this.ping = ping;
        this.end = end;
        heard();
        schedule();
    }

    /** Records that the peer has sent or received data. */
    void heard() {
        heardMs = loop.nowMs();
        pinged = false;
    }

    /** Returns when the peer was last active. */
    long heardMs() { return heardMs; }

    void stop() {
        stopped = true;
        timer.cancel();
    }

    private void schedule() {
        long silentMs = loop.nowMs() - heardMs;
        timer = loop.schedule(this::look, pinged ? idleMs : Math.max(1, idleMs - silentMs));
    }

    private void look() {
        if (stopped) {
            return;
        }
        if (pinged) {
            end.run();
            return;
        }
        if (loop.nowMs() - heardMs >= idleMs) {
            pinged = true;
            ping.run();
        }
        schedule();
    }
}
