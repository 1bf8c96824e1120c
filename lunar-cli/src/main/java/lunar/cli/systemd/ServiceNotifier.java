package lunar.cli.systemd;

import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Reports to the service manager that started this process when the server is ready, reloads and stops, and feeds its
 * watchdog (sd_notify(3), sd_watchdog_enabled(3)). Has no effect where no service manager asks for it.
 *
 * <p>The watchdog detects a JVM whose threads no longer run, such as one that is short of memory and spends its time in
 * garbage collection. All methods are thread-safe; none throws if the service manager cannot be reached, which is
 * logged as a warning.
 */
public final class ServiceNotifier implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("lunar.cli");
    private static final String SOCKET = "NOTIFY_SOCKET";
    private static final String WATCHDOG_PERIOD = "WATCHDOG_USEC";
    private static final String WATCHDOG_PROCESS = "WATCHDOG_PID";

    private final Optional<NotifySocket> socket;
    private final long watchdogUs;
    private volatile boolean isReached = true;
    private final ScheduledExecutorService watchdog = Executors.newSingleThreadScheduledExecutor(
            task -> Thread.ofPlatform().daemon().name("lunar-watchdog").unstarted(task));

    private ServiceNotifier(Optional<NotifySocket> socket, long watchdogUs) {
        this.socket = socket;
        this.watchdogUs = watchdogUs;
    }

    /**
     * Returns a notifier for the service manager that an environment names.
     *
     * @param environment variables of this process
     */
    public static ServiceNotifier of(Map<String, String> environment) {
        String address = environment.getOrDefault(SOCKET, "");
        if (address.isEmpty()) {
            return new ServiceNotifier(Optional.empty(), 0);
        }
        try {
            return new ServiceNotifier(Optional.of(new NotifySocket(address)),
                    watchdogUs(environment));
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "$" + SOCKET + ": " + e.getMessage());
            return new ServiceNotifier(Optional.empty(), 0);
        }
    }

    /** Returns the watchdog's period in microseconds; 0 if there is none, or it is for another process. */
    private static long watchdogUs(Map<String, String> environment) {
        String process = environment.getOrDefault(WATCHDOG_PROCESS, "");
        if (!process.isEmpty() && !process.equals(Long.toString(ProcessHandle.current().pid()))) {
            return 0;
        }
        try {
            return Math.max(0, Long.parseLong(environment.getOrDefault(WATCHDOG_PERIOD, "0")));
        } catch (NumberFormatException e) {
            LOG.log(System.Logger.Level.WARNING,
                    "$" + WATCHDOG_PERIOD + " is not a number of microseconds");
            return 0;
        }
    }

    /** Reports that the server starts. */
    public void starting() { tell("STATUS=starting"); }

    /**
     * Reports that the server is ready, and feeds the watchdog twice in each of its periods from now on.
     *
     * @param status what the server does, in one line
     */
    public void ready(String status) {
        tell("READY=1\nSTATUS=" + status);
        if (watchdogUs > 0 && socket.isPresent()) {
            long half = Math.max(1, watchdogUs / 2);
            var _ = watchdog.scheduleAtFixedRate(() -> tell("WATCHDOG=1"), 0, half,
                    TimeUnit.MICROSECONDS);
        }
    }

    /** Reports that the server reloads its configuration; {@link #reloaded} must follow. */
    public void reloading() {
        // The clock of CLOCK_MONOTONIC, as System.nanoTime is on Linux: since systemd 253 it tells reloads apart.
        tell("RELOADING=1\nMONOTONIC_USEC=" + TimeUnit.NANOSECONDS.toMicros(System.nanoTime()));
    }

    /**
     * Reports that the reload has ended, whether it has changed anything or not.
     *
     * @param status what the server does, in one line
     */
    public void reloaded(String status) { tell("READY=1\nSTATUS=" + status); }

    /** Reports what is served, after a change other than a reload. */
    public void serving(String status) {
        tell("STATUS=" + status);
    }

    /** Reports that the server stops. */
    public void stopping() {
        tell("STOPPING=1\nSTATUS=stopping");
    }

    /** Stops feeding the watchdog. */
    @Override
    public void close() { watchdog.shutdownNow(); }

    /** Never throws: an exception would end the watchdog's task, and the service manager then ends the server. */
    private void tell(String state) {
        if (socket.isEmpty()) {
            return;
        }
        try {
            socket.get().send(state);
            isReached = true;
        } catch (IOException | RuntimeException | Error e) {
            if (isReached) { // once, not for each message
                LOG.log(System.Logger.Level.WARNING, "the service manager cannot be reached: "
                        + e.getMessage());
            }
            isReached = false;
        }
    }
}
