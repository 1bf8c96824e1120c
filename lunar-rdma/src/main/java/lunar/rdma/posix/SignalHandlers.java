package lunar.rdma.posix;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Optional;

/**
 * Keeps the signal handlers of the JVM in place around calls into libraries that install their own. The JVM needs
 * SIGSEGV for null checks and safepoints, and SIGTERM and SIGINT to end in order. libpsm and libpsm2, which libfabric
 * of Debian loads, install handlers that print a backtrace and exit, unless environment variables prevent it;
 * libfabric's shm installs some that remove its files and pass the signal on.
 */
public final class SignalHandlers {
    private static final int SIGACTION_BYTES = 152; // struct sigaction of Linux, 64 bits
    private static final int[] SIGNALS = {2, 4, 6, 7, 8, 11, 15}; // INT ILL ABRT BUS FPE SEGV TERM
    private static final Map<String, String> NO_BACKTRACE = Map.of("IPATH_NO_BACKTRACE", "1",
            "HFI_NO_BACKTRACE", "1");

    private SignalHandlers() {}

    /** Runs a call, then restores the handlers that were installed before. */
    public static synchronized void keep(Runnable call) {
        Optional<Libc> found = Libc.LOOKUP;
        if (found.isEmpty()) {
            call.run();
            return;
        }
        Libc libc = found.get();
        try (Arena arena = Arena.ofConfined()) {
            NO_BACKTRACE.forEach((name, value) -> libc.setenv(arena.allocateFrom(name),
                    arena.allocateFrom(value)));
            MemorySegment actions = arena.allocate((long) SIGACTION_BYTES * SIGNALS.length, 8);
            for (int i = 0; i < SIGNALS.length; i++) {
                libc.sigaction(SIGNALS[i], MemorySegment.NULL, action(actions, i));
            }
            try {
                call.run();
            } finally {
                for (int i = 0; i < SIGNALS.length; i++) {
                    libc.sigaction(SIGNALS[i], action(actions, i), MemorySegment.NULL);
                }
            }
        }
    }

    private static MemorySegment action(MemorySegment actions, int index) {
        return actions.asSlice((long) index * SIGACTION_BYTES, SIGACTION_BYTES);
    }
}
