package lunar.target;

import java.io.IOException;
import java.net.BindException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import lunar.iscsi.spi.PduReceiver;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.spi.TransportProvider;
import org.jspecify.annotations.Nullable;

/** Where a server listens. Read by any thread; changed by one at a time. */
final class Portals {
    private static final System.Logger LOG = System.getLogger("lunar.target");

    private final TransportProvider.Loops loops;
    private final BiFunction<BoundPortal, Transport, PduReceiver> receiver;
    private volatile List<BoundPortal> bound = List.of();
    private volatile SortedSet<Integer> groups = Collections.emptySortedSet();

    /** @param receiver what takes a connection that has come by a portal */
    Portals(TransportProvider.Loops loops,
            BiFunction<BoundPortal, Transport, PduReceiver> receiver) {
        this.loops = loops;
        this.receiver = receiver;
    }

    /** Those that are listened on, in the order they were given. */
    List<BoundPortal> all() {
        return bound;
    }

    /** Tags of their groups. */
    SortedSet<Integer> groups() { return groups; }

    static SortedSet<Integer> groups(List<PortalSpec> of) {
        return Collections.unmodifiableSortedSet(
                of.stream().map(PortalSpec::group).collect(Collectors.toCollection(TreeSet::new)));
    }

    /** Takes no new connections. */
    void close() { bound.forEach(BoundPortal::close); }

    /**
     * Listens on what is new among these; all goes on as it was until the change is made.
     *
     * @throws IOException when one of them cannot be listened on; then nothing has changed
     */
    Change change(List<PortalSpec> wanted) throws IOException {
        var left = new ArrayList<>(bound);
        var after = new ArrayList<BoundPortal>();
        for (PortalSpec spec : wanted) {
            BoundPortal kept = first(left,
                    portal -> portal.spec().address().equals(spec.address()));
            if (kept == null) { // or it was given any free port, and now the one that it got
                kept = first(left, portal -> portal.local().equals(spec.address()));
            }
            if (kept == null) {
                kept = new BoundPortal(spec);
            } else {
                left.remove(kept);
            }
            after.add(kept);
        }
        listen(after, left);
        return new Change(List.copyOf(wanted), List.copyOf(after), List.copyOf(left));
    }

    private void listen(List<BoundPortal> after, List<BoundPortal> leaving) throws IOException {
        var opened = new ArrayList<BoundPortal>();
        var closed = new ArrayList<BoundPortal>();
        try {
            for (BoundPortal portal : after) {
                if (!portal.isListening()) {
                    listen(portal, leaving, closed);
                    opened.add(portal);
                }
            }
        } catch (IOException e) {
            opened.forEach(BoundPortal::close);
            closed.forEach(this::listenAgain);
            throw e;
        }
    }

    /** Where a portal that goes has the port of a new one, as every address of the machine has, it goes first. */
    private void listen(BoundPortal portal, List<BoundPortal> leaving, List<BoundPortal> closed)
            throws IOException {
        try {
            listen(portal);
        } catch (BindException e) {
            int port = portal.spec().address().getPort();
            BoundPortal inTheWay = first(leaving,
                    other -> other.isListening() && other.local().getPort() == port);
            if (inTheWay == null) {
                throw e;
            }
            inTheWay.close();
            closed.add(inTheWay);
            listen(portal, leaving, closed);
        }
    }

    private void listen(BoundPortal portal) throws IOException {
        try {
            portal.listen(loops, transport -> receiver.apply(portal, transport));
        } catch (BindException e) {
            var named = new BindException(portal.spec() + ": " + e.getMessage());
            named.initCause(e);
            throw named;
        }
    }

    private void listenAgain(BoundPortal portal) {
        try {
            listen(portal);
        } catch (IOException e) {
            LOG.log(System.Logger.Level.ERROR, "portal {0} is lost: {1}", portal.spec().address(),
                    e.getMessage());
        }
    }

    private static @Nullable BoundPortal first(List<BoundPortal> of, Predicate<BoundPortal> which) {
        return of.stream().filter(which).findFirst().orElse(null);
    }

    /** New portals that listen, though nobody is told of them yet. */
    final class Change {
        private final List<PortalSpec> specs;
        private final List<BoundPortal> after;
        private final List<BoundPortal> leaving;

        private Change(List<PortalSpec> specs, List<BoundPortal> after,
                List<BoundPortal> leaving) {
            this.specs = specs;
            this.after = after;
            this.leaving = leaving;
        }

        /**
         * Makes the change, but for logins by new portals.
         *
         * @return those whose connections cannot stay: they are gone, in another group, or send initiators elsewhere
         */
        List<BoundPortal> begin() {
            var without = new ArrayList<>(leaving);
            for (int i = 0; i < specs.size(); i++) {
                BoundPortal portal = after.get(i);
                PortalSpec spec = specs.get(i);
                if (portal.group() != spec.group() || (spec.moved().isPresent()
                        && !spec.moved().equals(portal.spec().moved()))) {
                    without.add(portal);
                }
                portal.become(spec);
            }
            groups = groups(specs);
            return without;
        }

        /** Lets initiators log in by new portals; those that are not wanted any more take no new connections. */
        void finish() {
            bound = after;
            leaving.forEach(BoundPortal::close);
        }

        /** Listens where it did before. */
        void cancel() {
            after.stream().filter(portal -> !bound.contains(portal)).forEach(BoundPortal::close);
            leaving.stream().filter(portal -> !portal.isListening())
                    .forEach(Portals.this::listenAgain);
        }
    }
}
