package lunar.initiator.multipath;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lunar.block.ConnectionRecords;
import lunar.block.DeviceGoneException;
import lunar.block.Identity;
import lunar.block.StorageException;

/**
 * Records the sessions of a device to a unit, each before its first write. The sessions that a killed process has left
 * there are {@linkplain #earlier found} by the next one, which ends them at the target before it writes: something on
 * the way may still hold writes of theirs. A session is removed when it has ended at the target, or has no write of
 * unknown outcome. Removals are stored with the next session, or by {@link #store}: a record that is left without need
 * costs a login. What could not be stored is tried again every {@value #RETRY_SECONDS} s. Thread-safe; adding and
 * storing block, removing only after {@link #close}.
 */
final class SessionJournal {
    /** Maximum number of sessions in a record, far more than the paths to a unit. */
    static final int MAX_SESSIONS = 1024;

    private static final System.Logger LOG = System.getLogger("lunar.initiator");

    /** Sessions of this process are known to its {@link WriteBarrier}s. */
    private static final UUID PROCESS = UUID.randomUUID();

    private static final long RETRY_SECONDS = 10;
    private static final Executor RETRY = CompletableFuture.delayedExecutor(RETRY_SECONDS,
            TimeUnit.SECONDS, task -> {
                var _ = Thread.ofVirtual().name("lunar-journal").start(task);
            });

    /** Several devices may share a record; a record always has the same lock. */
    private static final List<ReentrantLock> LOCKS = Stream.generate(ReentrantLock::new).limit(64)
            .toList();

    private final Optional<ConnectionRecords> records;
    private final Executor later;
    private final String name;
    private final String unit;
    private final ReentrantLock storing;
    private boolean failed; // guarded by storing
    private boolean retries; // guarded by storing
    /** Number of sessions of each line: a path logs in again with the same ISID. Guarded by this. */
    private final Map<String, Integer> live = new HashMap<>();
    private final Set<String> removed = new HashSet<>(); // guarded by this
    /** Ended sessions of earlier processes, without their processes. Guarded by this. */
    private final Set<String> ended = new HashSet<>();
    private boolean closed; // guarded by this

    /**
     * @param records empty to record nothing
     * @param unit identity of the unit: targets of several servers may have one name
     */
    SessionJournal(Optional<ConnectionRecords> records, String targetName, Identity unit) {
        this(records, targetName, unit, RETRY);
    }

    /** @param later runs a task after a while */
    SessionJournal(Optional<ConnectionRecords> records, String targetName, Identity unit,
            Executor later) {
        this.records = records;
        this.later = later;
        this.unit = targetName + " " + unit.uuid();
        name = "sessions-" + Identity.uuidOf(this.unit);
        storing = LOCKS.get(Math.floorMod(name.hashCode(), LOCKS.size()));
    }

    /** Returns the name of the record, for an operator. */
    String name() { return name; }

    /** Returns the sessions that earlier processes have left. */
    List<SessionRecord> earlier() throws StorageException {
        if (records.isEmpty()) {
            return List.of();
        }
        try {
            var earlier = new ArrayList<SessionRecord>();
            for (String line : lines(records.get())) {
                if (!isOwn(line)) {
                    earlier.add(SessionRecord.parse(ofEarlier(line)));
                }
            }
            return earlier;
        } catch (IOException e) {
            throw new DeviceGoneException(unit + ": sessions of an earlier process cannot be read"
                    + " from record " + name + ": " + e.getMessage(), e);
        }
    }

    /**
     * Records a session. If it cannot be stored, that is logged: writes go on, and a process after this one may not end
     * it.
     *
     * @throws DeviceGoneException if the record is full: the session must not be used
     */
    void add(SessionRecord session) throws DeviceGoneException {
        if (records.isEmpty()) {
            return;
        }
        String line = own(session.line());
        synchronized (this) {
            live.merge(line, 1, Integer::sum);
            boolean _ = removed.remove(line);
        }
        if (!store(MAX_SESSIONS)) {
            remove(session);
            throw new DeviceGoneException(unit + ": record " + name + " has " + MAX_SESSIONS
                    + " sessions that have not ended; if their portals are gone for good, stop the"
                    + " server and remove the record from its state directory");
        }
    }

    /** Notes that a session of this process, which was added, need not be ended any longer. */
    void remove(SessionRecord session) {
        if (records.isEmpty()) {
            return;
        }
        String line = own(session.line());
        boolean stores;
        synchronized (this) {
            if (live.merge(line, -1, Integer::sum) != 0) {
                return;
            }
            live.remove(line);
            removed.add(line);
            stores = closed;
        }
        if (stores) {
            store();
        }
    }

    /** Notes that a session of an earlier process has ended at the target. */
    void removeEarlier(SessionRecord session) {
        boolean stores; // there are records: it was found in them
        synchronized (this) {
            ended.add(session.line());
            stores = closed;
        }
        if (stores) {
            store();
        }
    }

    /** Stores what was removed. */
    void store() { boolean _ = store(Integer.MAX_VALUE); }

    /** Stores what was removed; from now on, each removal at once. */
    void close() {
        synchronized (this) {
            closed = true;
        }
        store();
    }

    /** @return false if the record would have more sessions than that: nothing is stored then */
    private boolean store(int most) {
        if (records.isEmpty()) {
            return true;
        }
        storing.lock();
        try {
            Set<String> gone;
            Set<String> over;
            Set<String> there;
            synchronized (this) {
                gone = Set.copyOf(removed);
                over = Set.copyOf(ended);
                there = Set.copyOf(live.keySet());
            }
            Set<String> before = lines(records.get());
            var after = new LinkedHashSet<>(before);
            after.removeIf(line -> gone.contains(line)
                    || (!isOwn(line) && over.contains(ofEarlier(line))));
            after.addAll(there);
            if (after.size() > Math.max(most, before.size())) {
                return false;
            }
            if (!after.equals(before)) {
                keep(records.get(), after);
            }
            synchronized (this) {
                removed.removeAll(gone);
                ended.removeAll(over);
            }
            failed = false;
        } catch (IOException e) {
            failed(e);
        } finally {
            storing.unlock();
        }
        return true;
    }

    /** With the lock held. A closed device has no more sessions to record. */
    private void failed(IOException e) {
        LOG.log(failed ? System.Logger.Level.DEBUG : System.Logger.Level.WARNING,
                unit + ": its sessions cannot be recorded: after a crash, a write that is still on"
                        + " its way may land after later ones; tried again until it succeeds",
                e);
        failed = true;
        synchronized (this) {
            if (closed || retries) {
                return;
            }
        }
        retries = true;
        later.execute(this::retry);
    }

    private void retry() {
        storing.lock();
        try {
            retries = false;
            store();
        } finally {
            storing.unlock();
        }
    }

    private void keep(ConnectionRecords to, Set<String> lines) throws IOException {
        if (lines.isEmpty()) {
            to.remove(name);
        } else {
            to.keep(name, lines.stream().map(line -> line + "\n").collect(Collectors.joining()));
        }
    }

    private Set<String> lines(ConnectionRecords from) throws IOException {
        return from.find(name).orElse("").lines()
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private static String own(String line) { return PROCESS + " " + line; }

    private static boolean isOwn(String line) { return line.startsWith(own("")); }

    /** Returns the line of a session without its process. */
    private static String ofEarlier(String line) {
        return line.substring(line.indexOf(' ') + 1);
    }
}
