package lunar.raid.service;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** Hears what happens to a volume, and waits for it. */
final class EventLog implements Consumer<VolumeEvent> {
    private static final long MAX_NS = TimeUnit.SECONDS.toNanos(120);

    private final List<VolumeEvent> events = new ArrayList<>();
    /** Events before this one were waited for. */
    private int next;

    @Override
    public synchronized void accept(VolumeEvent event) {
        events.add(event);
        notifyAll();
    }

    /** The next event of a kind, of those that were not waited for or passed over. */
    <E extends VolumeEvent> E await(Class<E> kind) throws InterruptedException {
        return await(kind, _ -> true);
    }

    synchronized <E extends VolumeEvent> E await(Class<E> kind, Predicate<E> wanted)
            throws InterruptedException {
        long until = System.nanoTime() + MAX_NS;
        while (true) {
            while (next < events.size()) {
                VolumeEvent event = events.get(next);
                next++;
                if (kind.isInstance(event) && wanted.test(kind.cast(event))) {
                    return kind.cast(event);
                }
            }
            long leftMs = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
            if (leftMs <= 0) {
                throw new AssertionError(
                        "no " + kind.getSimpleName() + " in time; there were " + events);
            }
            wait(leftMs);
        }
    }

    /** The next scan of a kind that is through. */
    void awaitThrough(ScanKind kind) throws InterruptedException {
        VolumeEvent.ScanEnded _ = await(VolumeEvent.ScanEnded.class,
                end -> end.kind() == kind && end.isThrough());
    }

    synchronized List<VolumeEvent> all() { return List.copyOf(events); }
}
