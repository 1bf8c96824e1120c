package lunar.isns;

import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the targets of a server registered at a name server (RFC 4171) until it is closed. It keeps one connection open
 * and periodically checks that the registration exists, which also prevents it from expiring; if it is missing,
 * everything is registered again. If the name server is unreachable, it is retried with backoff.
 *
 * <p>Changes are registered incrementally: removed entries are deregistered, unchanged ones are not touched, so that
 * initiators get no spurious notifications.
 *
 * <p>Names and portals of another entity are taken over until the first registration: the last server to start owns
 * them, as after a failover or after a crash under another host name. They are not taken back later, so that two
 * servers with the same name do not compete for it.
 *
 * <p>Runs on its own thread; no method except {@link #close} blocks, which takes at most {@link IsnsTiming#farewell}.
 * Thread-safe.
 */
public final class IsnsRegistrar implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("lunar.isns");

    /** Attempts to take names over: a live owner may register again between the two requests of one. */
    private static final int MAX_TAKE_OVERS = 10;

    /** Supplies the registration. */
    @FunctionalInterface
    public interface Source {
        /**
         * Returns the current registration. Runs on the registrar's thread and may block.
         *
         * @param reached local address of the connection to the name server, for portals on the wildcard address
         * @throws IOException if it is not available now; it is requested again later
         */
        Registration registration(InetAddress reached) throws IOException;
    }

    private final IsnsServer server;
    private final Source source;
    private final IsnsTiming timing;
    private final Backoff backoff;
    private final Semaphore wake = new Semaphore(0);
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private volatile boolean closing;
    /** Too late even for deregistering. */
    private volatile boolean abandoned;
    private volatile boolean registered;
    private volatile @Nullable IsnsConnection connection;

    // --- of the registrar's thread ---

    /** The registration last sent, in full or in part; null when the name server need not know any. */
    private @Nullable Registration told;
    /** The name server's own identifier of the entity that it was told. */
    private String entity = "";
    /** Whether it has acknowledged all of {@link #told}. */
    private boolean complete;
    private int periodSeconds;
    /** Which node asks next whether it is registered. */
    private int turn;
    /** How often names of another entity may still be taken over; 0 since the first registration. */
    private int takeOversLeft = MAX_TAKE_OVERS;
    /** Whether the log has said that the name server is away. */
    private boolean complained;

    private IsnsRegistrar(IsnsServer server, Source source, IsnsTiming timing) {
        this.server = server;
        this.source = source;
        this.timing = timing;
        backoff = new Backoff(timing);
    }

    /** Starts registering. Returns immediately, even if the name server is unreachable. */
    public static IsnsRegistrar start(IsnsServer server, Source source, IsnsTiming timing) {
        var registrar = new IsnsRegistrar(server, source, timing);
        // A platform thread: looking up a name may hold on to its carrier.
        Thread.ofPlatform().daemon().name("lunar-isns").start(registrar::run);
        return registrar;
    }

    /** Requests an update after a change of the registration. */
    public void changed() {
        wake.release();
    }

    /** Whether the name server has all that it shall have, as far as we know. */
    public boolean isRegistered() {
        return registered;
    }

    /** Deregisters, if the name server can be reached. */
    @Override
    public void close() {
        closing = true;
        wake.release();
        ended.completeOnTimeout(null, timing.farewell().toMillis(), TimeUnit.MILLISECONDS).join();
        abandoned = true;
        IsnsConnection open = connection;
        if (open != null) {
            open.close();
        }
    }

    private void run() {
        try {
            while (!closing) {
                attempt();
                registered = false;
                if (!closing) {
                    pause(backoff.nextMs());
                }
            }
            if (told != null) {
                attempt();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // nothing does that; the name server will forget us
        } finally {
            registered = false;
            ended.complete(null);
        }
    }

    /** Connects, and stays until the connection ends or we do; then deregisters. */
    private void attempt() throws InterruptedException {
        long since = System.nanoTime();
        try (var opened = new IsnsConnection(server, timing, wake::release)) {
            connection = opened;
            if (abandoned) {
                return;
            }
            opened.open();
            while (!closing) {
                bringUpToDate(opened);
                if (wake.tryAcquire(timing.checkAfterMs(periodSeconds), TimeUnit.MILLISECONDS)) {
                    wake.drainPermits();
                }
                opened.requireOpen();
            }
            removeAll(opened);
        } catch (IOException e) {
            report(e);
        } catch (RuntimeException e) { // of the source: the next attempt may go better
            LOG.log(System.Logger.Level.ERROR, "internal error while registering at " + server, e);
        } finally {
            connection = null;
            backoff.wentWellFor((System.nanoTime() - since) / 1_000_000);
        }
    }

    /** Logs a failure; it is a warning only the first time that no new connection can be made. */
    private void report(IOException e) {
        if (registered || closing || complained) {
            LOG.log(System.Logger.Level.DEBUG, "{0}: {1}", server, e.getMessage());
        } else {
            LOG.log(System.Logger.Level.WARNING,
                    "{0}: {1}; registration is retried, and the targets are served meanwhile",
                    server, e.getMessage());
            complained = true;
        }
    }

    private void pause(long ms) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
        for (long left = end - System.nanoTime(); left > 0
                && !closing; left = end - System.nanoTime()) {
            // News do not make a name server come back: only the end does not wait.
            if (wake.tryAcquire(left, TimeUnit.NANOSECONDS)) {
                wake.drainPermits();
            }
        }
    }

    private void bringUpToDate(IsnsConnection to) throws IOException {
        Registration wanted = source.registration(to.localAddress());
        Registration before = told;
        if (wanted.nodes().isEmpty()) {
            removeAll(to);
        } else if (before == null || !complete || !isKnown(to, before)) {
            registerAll(to, wanted);
        } else if (!wanted.equals(before)) {
            change(to, before, wanted);
        }
        registered = true;
        if (complained) {
            LOG.log(System.Logger.Level.INFO, "{0} is reachable again", server);
            complained = false;
        }
    }

    private boolean isKnown(IsnsConnection to, Registration before) throws IOException {
        turn = (turn + 1) % before.nodes().size();
        try {
            Message.Response answer = to
                    .exchange(Registrations.whoseIs(before.nodes().get(turn).name()));
            return answer.operating()
                    .contains(new Attribute.Text(Tags.ENTITY_IDENTIFIER, entity));
        } catch (IsnsException.Refused e) {
            return switch (e.status()) {
                case Status.SOURCE_UNKNOWN, Status.SOURCE_ABSENT, Status.SOURCE_UNAUTHORIZED,
                        Status.NO_SUCH_ENTRY ->
                    false;
                default -> throw e;
            };
        }
    }

    private void registerAll(IsnsConnection to, Registration wanted) throws IOException {
        told = wanted;
        complete = false;
        entity = wanted.entity();
        try {
            register(to, wanted, true);
        } catch (IsnsException.Refused e) {
            if (takeOversLeft == 0 || e.status() != Status.INVALID_REGISTRATION) {
                throw e;
            }
            takeOversLeft--;
            takeOver(to, wanted);
            register(to, wanted, true);
        }
        takeOversLeft = 0;
        LOG.log(System.Logger.Level.INFO, "registered at {0} as entity {1}; targets: {2}", server,
                entity, Integer.toString(wanted.nodes().size()));
    }

    private void takeOver(IsnsConnection to, Registration wanted) throws IOException {
        for (Message.Request request : Registrations.takeOver(wanted)) {
            try {
                to.exchange(request);
            } catch (IsnsException.Refused e) {
                LOG.log(System.Logger.Level.DEBUG, "{0}: {1}", server, e.getMessage());
            }
        }
    }

    private void register(IsnsConnection to, Registration wanted, boolean replace)
            throws IOException {
        List<Message.Request> requests = Registrations.register(wanted, entity, replace,
                Math.toIntExact(timing.period().toSeconds()));
        for (Message.Request request : requests) {
            Message.Response answer = to.exchange(request);
            for (Attribute attribute : answer.attributes()) {
                if (attribute instanceof Attribute.Text(int tag, String name)
                        && tag == Tags.ENTITY_IDENTIFIER) {
                    entity = name; // some give their own
                } else if (attribute instanceof Attribute.Numeric(int tag, int seconds)
                        && tag == Tags.REGISTRATION_PERIOD) {
                    periodSeconds = seconds;
                }
            }
        }
        complete = true;
    }

    private void change(IsnsConnection to, Registration before, Registration wanted)
            throws IOException {
        StorageNode stays = before.nodes().stream().filter(node -> wanted.has(node.name()))
                .findFirst().orElse(null);
        if (stays == null || !wanted.entity().equals(before.entity())) {
            removeAll(to); // the name server takes changes from nodes of the entity only
            registerAll(to, wanted);
            return;
        }
        complete = false;
        for (Message.Request request : Registrations.removeAllBut(wanted, before,
                stays.name())) {
            to.exchange(request);
        }
        told = wanted;
        register(to, wanted, false);
    }

    private void removeAll(IsnsConnection to) throws IOException {
        Registration before = told;
        if (before != null) {
            to.exchange(Registrations.removeEntity(before.nodes().getFirst().name(), entity));
            told = null;
        }
    }
}
