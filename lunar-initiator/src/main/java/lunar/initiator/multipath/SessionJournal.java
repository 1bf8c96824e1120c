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
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import lunar.block.ConnectionRecords;
import lunar.block.DeviceGoneException;
import lunar.block.Identity;
import lunar.block.StorageException;

/**
 * Records the sessions of a device to a unit, each before its first write. The sessions that a killed process has left
 * there are {@linkplain #earlier found} by the next one, which ends them at the target before it writes: something on
 * the way may still hold writes of theirs. A session is removed when it has ended at the target, or has no write of
 * unknown outcome. Removals are stored with the next session, or by {@link #store}: a record that is left without need
 * costs a login. Thread-safe; storing blocks.
 */
final class SessionJournal {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");

    /** Sessions of this process are known to its {@link WriteBarrier}s. */
    private static final UUID PROCESS = UUID.randomUUID();

    /** Several devices may share a record. */
    private static final ReentrantLock STORING = new ReentrantLock();

    private final Optional<ConnectionRecords> records;
    private final String name;
    private final String unit;
    /** Number of sessions of each line: a path logs in again with the same ISID. Guarded by STORING. */
    private final Map<String, Integer> live = new HashMap<>();
    private final Set<String> removed = new HashSet<>(); // guarded by STORING
    private boolean closed; // guarded by STORING

    /**
     * @param records empty to record nothing
     * @param unit identity of the unit: targets of several servers may have one name
     */
    SessionJournal(Optional<ConnectionRecords> records, String targetName, Identity unit) {
        this.records = records;
        this.unit = targetName + " " + unit.uuid();
        name = "sessions-" + Identity.uuidOf(this.unit);
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
                if (!line.startsWith(own(""))) {
                    earlier.add(SessionRecord.parse(ofEarlier(line)));
                }
            }
            return earlier;
        } catch (IOException e) {
            throw new DeviceGoneException(unit + ": sessions of an earlier process cannot be read"
                    + " from record " + name + ": " + e.getMessage(), e);
        }
    }

    /** Records a session. If that fails, it is logged: writes go on, and a process after this one may not end it. */
    void add(SessionRecord session) {
        STORING.lock();
        try {
            String line = own(session.line());
            live.merge(line, 1, Integer::sum);
            boolean _ = removed.remove(line);
            store(Optional.of(line));
        } finally {
            STORING.unlock();
        }
    }

    /** Notes that a session of this process, which was added, need not be ended any longer. */
    void remove(SessionRecord session) {
        STORING.lock();
        try {
            String line = own(session.line());
            if (live.merge(line, -1, Integer::sum) == 0) {
                live.remove(line);
                removeLine(line);
            }
        } finally {
            STORING.unlock();
        }
    }

    /** Notes that a session of an earlier process has ended at the target. */
    void removeEarlier(SessionRecord session) {
        STORING.lock();
        try {
            if (records.isPresent()) {
                lines(records.get()).stream()
                        .filter(line -> !line.startsWith(own(""))
                                && ofEarlier(line).equals(session.line()))
                        .toList().forEach(this::removeLine);
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, unit, e);
        } finally {
            STORING.unlock();
        }
    }

    private void removeLine(String line) {
        removed.add(line);
        if (closed) {
            store();
        }
    }

    /** Stores what was removed. */
    void store() {
        STORING.lock();
        try {
            store(Optional.empty());
        } finally {
            STORING.unlock();
        }
    }

    /** Stores what was removed; from now on, each removal at once. */
    void close() {
        STORING.lock();
        try {
            closed = true;
            store();
        } finally {
            STORING.unlock();
        }
    }

    private void store(Optional<String> added) {
        if (records.isEmpty()) {
            return;
        }
        try {
            Set<String> before = lines(records.get());
            var after = new LinkedHashSet<>(before);
            after.removeAll(removed);
            added.ifPresent(after::add);
            if (!after.equals(before)) {
                records.get().keep(name, after.stream().map(line -> line + "\n")
                        .collect(Collectors.joining()));
            }
            removed.clear();
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, unit + ": its sessions cannot be recorded: after a"
                    + " crash, a write that is still on its way may land after later ones", e);
        }
    }

    private Set<String> lines(ConnectionRecords from) throws IOException {
        return from.find(name).orElse("").lines()
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private static String own(String line) { return PROCESS + " " + line; }

    /** Returns the line of a session without its process. */
    private static String ofEarlier(String line) {
        return line.substring(line.indexOf(' ') + 1);
    }
}
