package lunar.initiator.multipath;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import lunar.block.BlockDevice;
import lunar.block.StorageException;
import lunar.initiator.Initiator;
import lunar.initiator.LunDevice;
import lunar.initiator.SessionOptions;
import lunar.initiator.UnflushedWrites;
import org.jspecify.annotations.Nullable;

/**
 * A unit with its paths: admits paths, and shares their findings. Engine of a {@link MultipathDevice}. Thread-safe.
 */
final class MultipathUnit implements PathAgent.Owner {
    private final EventDispatcher dispatcher;
    private final UnflushedWrites writes;
    private final UsablePaths paths;
    private final HeldWrites held;
    private final PathReservations reservations;
    private final ReentrantLock admission = new ReentrantLock();
    /** The unit as the latest path has found it; null before the first. */
    private volatile @Nullable LunDevice latest;
    private volatile boolean open;

    /**
     * @param name name of the unit, for messages
     * @param device the unit as listeners see it
     */
    MultipathUnit(String name, BlockDevice device, Initiator initiator,
            MultipathOptions options) {
        dispatcher = new EventDispatcher(options.listener());
        writes = new UnflushedWrites(options.stableCache());
        paths = new UsablePaths(name, options, new Outage(device, dispatcher));
        held = new HeldWrites(name, paths, initiator, options);
        var all = new ArrayList<PathAgent>();
        for (SessionOptions path : options.paths()) {
            all.add(new PathAgent(this, initiator, path, options, all.size()));
        }
        paths.begin(all);
        reservations = new PathReservations(name, this::devices);
    }

    /** Starts the paths, and waits until one is up. */
    void open() throws StorageException {
        paths.all().forEach(PathAgent::start);
        paths.awaitFirst();
        open = true;
        held.adopt();
    }

    UsablePaths paths() { return paths; }

    PathReservations reservations() { return reservations; }

    /** Returns the unit as the latest path has found it. */
    LunDevice latest() {
        return Objects.requireNonNull(latest);
    }

    /** Returns the unit's device by each path that is up. */
    private List<LunDevice> devices() {
        return paths.all().stream().map(PathAgent::session).filter(Objects::nonNull)
                .map(PathSession::device).toList();
    }

    // --- reports of paths ---

    @Override
    public boolean isOpen() { return open; }

    @Override
    public void admit(LunDevice by) throws StorageException, ForeignUnitException {
        admission.lock(); // two paths may come up at once, and only one of them is the first
        try {
            LunDevice known = latest;
            if (known != null && !(known.identity().equals(by.identity())
                    && known.geometry().blockSize() == by.geometry().blockSize())) {
                throw new ForeignUnitException(by + " leads to " + by.identity() + " rather than "
                        + known.identity() + " like other paths");
            }
            held.begin(by.identity());
            if (known != null) {
                by.learn(known);
            }
            latest = by;
            devices().forEach(other -> other.learn(by));
        } finally {
            admission.unlock();
        }
        reservations.admit(by);
    }

    @Override
    public void register(LunDevice by) throws StorageException {
        LunDevice known = latest; // of another path that was admitted since
        if (known != null) {
            by.learn(known);
        }
        reservations.admit(by);
    }

    @Override
    public UnflushedWrites writes() { return writes; }

    @Override
    public HeldWrites heldWrites() { return held; }

    @Override
    public void reopened(PathAgent path, LunDevice by) throws StorageException {
        by.reopened(() -> paths.all().stream().filter(other -> !other.equals(path))
                .map(PathAgent::session)
                .anyMatch(older -> older != null && older.reachesUnit()));
    }

    @Override
    public void offer(PathAgent path) {
        paths.offer(path);
        paths.all().stream().filter(other -> !other.equals(path)).forEach(PathAgent::help);
    }

    @Override
    public void withdraw(PathAgent path) {
        if (paths.withdraw(path)) {
            held.lowered(); // what is held back waits for a path now
        }
    }

    @Override
    public void failed(Exception why) { paths.failed(why); }

    @Override
    public List<PathSession> sessionsBeside(PathAgent path) { return paths.sessionsBeside(path); }

    @Override
    public void lookAtAccess() { paths.all().forEach(PathAgent::wake); }

    @Override
    public void askCapacity() { devices().forEach(LunDevice::askCapacity); }

    @Override
    public void tell(PathEvent event) {
        paths.weigh();
        announce(listener -> listener.changed(event));
    }

    @Override
    public void announce(Consumer<PathListener> event) { dispatcher.tell(event); }

    // --- the end ---

    /** Logs out of all paths, once no request is left; returns whether the thread was interrupted meanwhile. */
    boolean close() {
        boolean interrupted = false;
        paths.all().forEach(PathAgent::stop);
        for (PathAgent path : paths.all()) {
            try {
                path.awaitStop();
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        held.leave(paths.all().stream().flatMap(path -> path.left().stream()).toList());
        try {
            dispatcher.awaitTold();
        } catch (InterruptedException _) {
            interrupted = true;
        }
        return interrupted;
    }
}
