package lunar.rdma.libfabric;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A locked file in /dev/shm that shows that a process is running, whatever its number is in the PID namespaces of
 * others. The kernel releases the lock when the process ends, even if it is killed. A process that starts deletes the
 * files that ended processes of its user have left: an endpoint of libfabric's shm takes 16 MB, and libfabric creates
 * none under the name that an earlier process with the same number has left ("device or resource busy").
 *
 * <p>The lock is one of fcntl(2), which a process loses if it closes the file under any other descriptor, so a process
 * never opens its own file a second time.
 */
final class ShmPresence {
    private static final System.Logger LOG = System.getLogger("lunar.rdma");
    private static final Pattern PRESENCE = Pattern
            .compile(ShmBoard.PREFIX + "(?<pid>\\d{1,10})-[0-9a-f]{16}\\.running");
    /** Boards, and endpoints of libfabric. */
    private static final Pattern SHARED = Pattern
            .compile("(" + ShmBoard.PREFIX + ")?(?<pid>\\d{1,10})(-[0-9a-f]{16}|:\\d+:\\d+)");
    private static final Set<StandardOpenOption> NEW = Set.of(StandardOpenOption.CREATE_NEW,
            StandardOpenOption.WRITE);

    /** Domains of this process, and what they share; guarded by the class. */
    private static int domains;
    private static @Nullable ShmPresence shown;

    private final Path folder;
    private final String pid;
    /** User id of the process. */
    private final Object user;
    private final Path file;
    private final FileChannel channel;

    private ShmPresence(Path folder, String pid) throws IOException {
        this.folder = folder;
        this.pid = pid;
        user = user(Path.of("/proc/self"));
        file = folder.resolve(ShmDomain.boardPrefix(pid) + HexFormat.of()
                .toHexDigits(RandomGenerator.of("SecureRandom").nextLong()) + ".running");
        channel = FileChannel.open(file, NEW, ShmBoard.PRIVATE);
    }

    /** Shows this process for a domain that is about to be opened. */
    static synchronized void begin() throws IOException {
        if (domains == 0) {
            ProcessHandle process = ProcessHandle.current();
            shown = show(ShmBoard.FOLDER, Long.toString(process.pid()),
                    process.info().startInstant().orElse(Instant.MIN));
        }
        domains++;
    }

    /** Hides this process if no other domain is open. */
    static synchronized void end() {
        domains--;
        if (domains == 0 && shown != null) {
            shown.hide();
            shown = null;
        }
    }

    /**
     * Shows a process, and deletes the files of those that have ended.
     *
     * @param pid its number, in its own PID namespace
     * @param start when it was started: older files with its number are not its own
     */
    static ShmPresence show(Path folder, String pid, Instant start) throws IOException {
        // The processes of a user do this one at a time: a process that has not locked its file yet would look as if it
        // had ended.
        try (FileChannel starts = openStarts(folder)) {
            if (starts != null) {
                FileLock _ = starts.lock();
            }
            var presence = new ShmPresence(folder, pid);
            boolean locked = false;
            try {
                FileLock _ = presence.channel.lock(); // until the process ends
                locked = true;
            } finally {
                if (!locked) {
                    presence.hide();
                }
            }
            if (starts != null) {
                presence.deleteLeftovers(start);
            }
            return presence;
        }
    }

    /** Opens the file that processes of this user lock at their start; null if another user has taken its name. */
    private static @Nullable FileChannel openStarts(Path folder) throws IOException {
        Object user = user(Path.of("/proc/self"));
        Path starts = folder.resolve(ShmBoard.PREFIX + "starts-" + user);
        if (!Files.exists(starts, LinkOption.NOFOLLOW_LINKS)) {
            try {
                return FileChannel.open(starts, NEW, ShmBoard.PRIVATE);
            } catch (IOException e) {
                LOG.log(System.Logger.Level.DEBUG, "shared memory {0}: {1}", starts, e.toString());
            }
        }
        // The name of another user's file could be that of a pipe, which would block.
        if (Files.isRegularFile(starts, LinkOption.NOFOLLOW_LINKS) && user.equals(user(starts))) {
            return FileChannel.open(starts, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
        }
        LOG.log(System.Logger.Level.WARNING,
                "{0} does not belong to this user: files of killed processes are not deleted",
                starts);
        return null;
    }

    private static Object user(Path file) throws IOException {
        return Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    }

    private void deleteLeftovers(Instant start) {
        Map<String, List<Path>> ended = new HashMap<>();
        var running = new HashSet<String>();
        Map<Path, String> shared = new HashMap<>(); // with the numbers of their processes
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path each : files) {
                String name = each.getFileName().toString();
                Matcher presence = PRESENCE.matcher(name);
                Matcher memory = SHARED.matcher(name);
                if (each.equals(file) || !isOwn(each)) {
                    continue;
                }
                if (memory.matches()) {
                    shared.put(each, memory.group("pid"));
                } else if (presence.matches()) {
                    if (isLocked(each)) {
                        running.add(presence.group("pid"));
                    } else {
                        ended.computeIfAbsent(presence.group("pid"), _ -> new ArrayList<>())
                                .add(each);
                    }
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            LOG.log(System.Logger.Level.WARNING, "shared memory {0}: {1}", folder, e.toString());
            return;
        }
        ended.keySet().removeAll(running); // in other namespaces, or of this process
        shared.forEach((each, number) -> {
            boolean isLeft = number.equals(pid)
                    ? isOlder(each, start)
                    : ended.containsKey(number) && !isProcess(number);
            if (isLeft && !running.contains(number)) {
                delete(each);
            }
        });
        ended.values().forEach(each -> each.forEach(ShmPresence::delete)); // last, so that none is forgotten
    }

    private boolean isOwn(Path each) {
        try {
            return user.equals(user(each));
        } catch (IOException e) { // it has been deleted
            return false;
        }
    }

    private static boolean isOlder(Path each, Instant start) {
        try {
            return Files.getLastModifiedTime(each, LinkOption.NOFOLLOW_LINKS).toInstant()
                    .isBefore(start);
        } catch (IOException e) {
            return false;
        }
    }

    /** Whether a number is in use in this namespace, maybe by a process that shows nothing. */
    private static boolean isProcess(String number) {
        return Files.exists(Path.of("/proc", number));
    }

    private static boolean isLocked(Path presence) {
        try (FileChannel other = FileChannel.open(presence, StandardOpenOption.WRITE,
                LinkOption.NOFOLLOW_LINKS); FileLock lock = other.tryLock()) {
            return lock == null;
        } catch (OverlappingFileLockException e) { // by this process, which has loaded the class twice
            return true;
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "shared memory {0}: {1}", presence, e.toString());
            return true;
        }
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "shared memory {0}: {1}", file, e.toString());
        }
    }

    /** Deletes the file; the process has no others any more. */
    void hide() {
        try (channel) {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "shared memory {0}: {1}", file, e.toString());
        }
    }
}
