package lunar.rdma;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Tells whether the kernel permits this user's processes to access each other's memory, as shm needs. */
final class ProcessAccess {
    private static final Path SCOPE = Path.of("/proc/sys/kernel/yama/ptrace_scope");
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final Pattern CAPABILITIES = Pattern.compile("(?m)^CapEff:\\s*([0-9a-f]+)$");
    private static final int CAP_SYS_PTRACE = 19;
    /** Value of the setting at which the capability no longer helps. */
    private static final int NOBODY = 3;

    private ProcessAccess() {}

    /** Returns why the kernel forbids the access; empty if it permits it. */
    static Optional<String> obstacle() throws IOException {
        return Files.exists(SCOPE)
                ? obstacle(Files.readString(SCOPE), Files.readString(STATUS))
                : Optional.empty();
    }

    /**
     * Returns why the kernel forbids the access. Scope 1 permits it to ancestors, but a connection needs both
     * directions.
     *
     * @param scope contents of /proc/sys/kernel/yama/ptrace_scope
     * @param status contents of /proc/self/status
     */
    static Optional<String> obstacle(String scope, String status) {
        int level = Integer.parseInt(scope.strip());
        Matcher effective = CAPABILITIES.matcher(status);
        boolean isCapable = effective.find()
                && (Long.parseUnsignedLong(effective.group(1), 16) >> CAP_SYS_PTRACE & 1) != 0;
        return level == 0 || (isCapable && level < NOBODY)
                ? Optional.empty()
                : Optional.of("kernel.yama.ptrace_scope is " + level
                        + (isCapable ? "" : ", and the user has no CAP_SYS_PTRACE"));
    }
}
