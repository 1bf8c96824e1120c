package lunar.raid.service.ownership;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lunar.raid.metadata.record.OwnerRecord;

/**
 * Identifies this process, and tells whether another process of this host still runs: by /proc (proc(5)). Without /proc
 * the answer is {@link Life#UNKNOWN}.
 */
public final class ThisProcess {
    /** Whether the process of a record still runs. */
    public enum Life {
        ALIVE, DEAD, UNKNOWN
    }

    private static final UUID NIL = new UUID(0, 0);
    private static final Path BOOT = Path.of("/proc/sys/kernel/random/boot_id");
    private static final Path HOST = Path.of("/proc/sys/kernel/hostname");
    private static final Path SELF = Path.of("/proc/self");
    /** The first process of a PID namespace; if it is not visible, others may not be either (hidepid). */
    private static final Path FIRST = Path.of("/proc/1/stat");
    private static final Pattern NAMESPACE = Pattern.compile("pid:\\[(\\d{1,18})]");
    /** Field 22 of /proc/PID/stat, counted from the third, which follows the name in parentheses. */
    private static final int START_TIME = 19;

    private static final OwnerRecord.ProcessId SELF_AS_OWNER = look();
    /** Tokens under which this process runs volumes. */
    private static final Set<UUID> TOKENS = ConcurrentHashMap.newKeySet();

    private ThisProcess() {}

    static OwnerRecord.ProcessId asOwner() { return SELF_AS_OWNER; }

    /** Registers the token of a volume that this process runs. */
    static void begins(UUID token) {
        TOKENS.add(token);
    }

    static void ends(UUID token) { TOKENS.remove(token); }

    /** Whether this process runs a volume under a token. */
    public static boolean runs(UUID token) {
        return TOKENS.contains(token);
    }

    private static OwnerRecord.ProcessId look() {
        long pid = ProcessHandle.current().pid();
        UUID boot = read(BOOT).map(ThisProcess::uuid).orElse(NIL);
        return new OwnerRecord.ProcessId(boot, namespace(), pid, stat(pid).map(Stat::startTicks)
                .orElse(0L), uid(), read(HOST).orElse("unknown"));
    }

    private static UUID uuid(String text) {
        try {
            return UUID.fromString(text);
        } catch (IllegalArgumentException _) {
            return NIL;
        }
    }

    private static long namespace() {
        try {
            Matcher matcher = NAMESPACE
                    .matcher(Files.readSymbolicLink(SELF.resolve("ns/pid")).toString());
            return matcher.matches() ? Long.parseLong(matcher.group(1)) : 0;
        } catch (IOException | UnsupportedOperationException _) {
            return 0;
        }
    }

    private static int uid() {
        try {
            return (Integer) Files.getAttribute(SELF, "unix:uid");
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException _) {
            return -1;
        }
    }

    private static Optional<String> read(Path file) {
        try {
            return Optional.of(Files.readString(file).strip());
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    private record Stat(boolean isRunning, long startTicks) {}

    private static Optional<Stat> stat(long pid) {
        String text = read(Path.of("/proc/" + pid + "/stat")).orElse("");
        String[] fields = text.substring(text.lastIndexOf(')') + 1).strip().split(" ", -1);
        if (fields.length <= START_TIME) {
            return Optional.empty();
        }
        try {
            // A zombie that is a thread group's leader may have threads that run.
            boolean isOver = fields[0].equals("X")
                    || (fields[0].equals("Z") && threads(pid) <= 1);
            return Optional.of(new Stat(!isOver, Long.parseLong(fields[START_TIME])));
        } catch (NumberFormatException _) {
            return Optional.empty();
        }
    }

    private static long threads(long pid) {
        try (var tasks = Files.list(Path.of("/proc/" + pid + "/task"))) {
            return tasks.count();
        } catch (IOException _) {
            return 0;
        }
    }

    /** Whether an owner is on this host: the same kernel since the same boot. */
    public static boolean isHere(OwnerRecord owner) {
        UUID boot = owner.process().boot();
        return !boot.equals(NIL) && boot.equals(SELF_AS_OWNER.boot());
    }

    /** Whether the owner still runs, as far as that is certain. */
    public static Life life(OwnerRecord owner) {
        OwnerRecord.ProcessId process = owner.process();
        long namespace = SELF_AS_OWNER.pidNamespace();
        if (!isHere(owner) || namespace == 0 || process.pidNamespace() != namespace
                || process.startTicks() == 0) {
            return Life.UNKNOWN;
        }
        if (process.pid() == SELF_AS_OWNER.pid()
                && process.startTicks() == SELF_AS_OWNER.startTicks()) {
            return TOKENS.contains(owner.token()) ? Life.ALIVE : Life.DEAD;
        }
        if (!Files.isReadable(FIRST)) {
            return Life.UNKNOWN;
        }
        return stat(process.pid())
                .filter(stat -> stat.isRunning() && stat.startTicks() == process.startTicks())
                .isPresent() ? Life.ALIVE : Life.DEAD;
    }
}
