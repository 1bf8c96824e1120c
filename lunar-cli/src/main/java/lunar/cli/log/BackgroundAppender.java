package lunar.cli.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Passes events on in a thread of its own: a stream that nobody reads must not stop those who log, such as the event
 * loops of a target. {@value #CAPACITY} events wait for the stream; those that find no place are dropped, and their
 * number is logged. Thread-safe.
 */
final class BackgroundAppender extends UnsynchronizedAppenderBase<ILoggingEvent> {
    /** Events that wait. */
    static final int CAPACITY = 1024;

    private static final long FLUSH_MS = 1000;
    private static final long PAUSE_MS = 2;

    private final Appender<ILoggingEvent> next;
    private final BlockingQueue<ILoggingEvent> waiting = new ArrayBlockingQueue<>(CAPACITY);
    private final AtomicLong accepted = new AtomicLong();
    private final AtomicLong written = new AtomicLong();
    private final AtomicLong dropped = new AtomicLong();
    private final Thread writer;

    /** @param next closed with this */
    BackgroundAppender(Appender<ILoggingEvent> next) {
        this.next = next;
        writer = Thread.ofPlatform().daemon().name("lunar-log").unstarted(this::write);
    }

    @Override
    public void start() {
        super.start();
        writer.start();
    }

    @Override
    protected void append(ILoggingEvent event) {
        event.prepareForDeferredProcessing();
        if (waiting.offer(event)) {
            accepted.incrementAndGet();
        } else {
            dropped.incrementAndGet();
        }
    }

    private void write() {
        try {
            for (;;) {
                ILoggingEvent event = waiting.take();
                next.doAppend(event);
                written.incrementAndGet();
                // Not between each two events that come too fast, but once there is space again.
                long lost = waiting.size() < CAPACITY / 2 ? dropped.getAndSet(0) : 0;
                if (lost > 0) {
                    next.doAppend(notice(lost));
                }
            }
        } catch (InterruptedException _) {
            // stopped
        }
    }

    private ILoggingEvent notice(long lost) {
        return new LoggingEvent(BackgroundAppender.class.getName(),
                ((LoggerContext) getContext()).getLogger("lunar.log"), Level.WARN, lost
                        + " lines of the log were dropped: its reader was too slow",
                null, null);
    }

    /** Waits until all events so far are written, but at most a second. */
    void flush() {
        long last = accepted.get();
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(FLUSH_MS);
        try {
            while (written.get() < last && System.nanoTime() - endNanos < 0) {
                Thread.sleep(PAUSE_MS);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void stop() {
        super.stop();
        flush();
        writer.interrupt();
        next.stop();
    }
}
