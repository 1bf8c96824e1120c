package lunar.rdma.libfabric;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A locked file in /dev/shm that shows that a process is running, whatever its number is in the PID namespaces of
 * others. The kernel releases the lock when the process ends, even if it is killed. A process that starts deletes the
 * files of those that have ended: an endpoint of libfabric's shm takes 16 MB, and libfabric creates none under the name
 * that an earlier process with the same number has left ("device or resource busy").
 *
 * <p>The lock is one of fcntl(2), which a process loses if it closes the file under any other descriptor, so a process
 * never opens its own file a second time.
 */
final class ShmPresence {
    private static final System.Logger LOG = System.getLogger("lunar.rdma");
    private static final String PREFIX = "lunar-rdma-";
    private static final Pattern PRESENCE = Pattern
            .compile(PREFIX + "(?<pid>\\d{1,10})-[0-9a-f]{16}\\.running");
    /** Boards, and endpoints of libfabric. */
    private static final Pattern OWNED = Pattern
            .compile("(" + PREFIX + ")?(?<pid>\\d{1,10})(-[0-9a-f]{16}|:\\d+:\\d+)");

    /** Domains of this process, and what they share; guarded by the class. */
    private static int domains;
    private static @Nullable ShmPresence shared;

    private final Path file;
    private final FileChannel channel;

    private ShmPresence(Path file, FileChannel channel) {
        this.file = file;
        this.channel = channel;
    }

    /** Shows this process for a domain that is about to be opened. */
    static synchronized void begin() throws IOException {
        if (domains == 0) {
            shared = show(ShmBoard.FOLDER, Long.toString(ProcessHandle.current().pid()));
        }
        domains++;
    }

    /** Hides this process if no other domain is open. */
    static synchronized void end() {
        domains--;
        if (domains == 0 && shared != null) {
            shared.hide();
            shared = null;
        }
    }

    /**
     * Shows a process that has no other files in the folder yet, and deletes the files of those that have ended.
     *
     * @param pid its number, in its own PID namespace
     */
    static ShmPresence show(Path folder, String pid) throws IOException {
        Path file = folder.resolve(PREFIX + pid + "-" + HexFormat.of()
                .toHexDigits(RandomGenerator.of("SecureRandom").nextLong()) + ".running");
        FileChannel channel = FileChannel.open(file, Set.of(StandardOpenOption.CREATE_NEW,
                StandardOpenOption.WRITE), ShmBoard.PRIVATE);
        var shown = new ShmPresence(file, channel);
        boolean locked = false;
        Object user = user(file);
        Path starting = folder.resolve(PREFIX + "starts-" + user);
        // Processes that start wait for each other: none deletes files of one that is about to lock its own.
        try (FileChannel starts = FileChannel.open(starting, Set.of(StandardOpenOption.CREATE,
                StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS), ShmBoard.PRIVATE)) {
            if (!user.equals(user(starting))) {
                throw new IOException(starting + " belongs to another user");
            }
            FileLock _ = starts.lock();
            FileLock _ = channel.lock(); // until the process ends
            locked = true;
            deleteLeftovers(folder, pid, file, user);
        } finally {
            if (!locked) {
                shown.hide();
            }
        }
        return shown;
    }

    private static Object user(Path file) throws IOException {
        return Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    }

    private static void deleteLeftovers(Path folder, String pid, Path own, Object user)
            throws IOException {
        var running = new HashSet<String>();
        var ended = new HashSet<>(Set.of(pid));
        var owned = new ArrayList<Path>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path each : files) {
                String name = each.getFileName().toString();
                Matcher presence = PRESENCE.matcher(name);
                if (OWNED.matcher(name).matches()) {
                    owned.add(each);
                } else if (presence.matches() && !each.equals(own)) {
                    (hasEnded(each, user) ? ended : running).add(presence.group("pid"));
                }
            }
        }
        ended.removeAll(running);
        for (Path each : owned) {
            Matcher matcher = OWNED.matcher(each.getFileName().toString());
            if (matcher.matches() && ended.contains(matcher.group("pid"))) {
                delete(each, user);
            }
        }
    }

    /** Deletes the file of a process that has ended; false if it is running, or belongs to another user. */
    private static boolean hasEnded(Path presence, Object user) {
        try {
            if (!user.equals(user(presence))) {
                return false;
            }
            try (FileChannel other = FileChannel.open(presence, StandardOpenOption.WRITE,
                    LinkOption.NOFOLLOW_LINKS)) {
                return other.tryLock() != null && Files.deleteIfExists(presence);
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "shared memory {0}: {1}", presence, e.toString());
            return false;
        }
    }

    private static void delete(Path file, Object user) {
        try {
            if (user.equals(user(file))) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "shared memory {0}: {1}", file, e.toString());
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
