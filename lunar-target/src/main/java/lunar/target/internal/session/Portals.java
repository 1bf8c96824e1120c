package lunar.target.internal.session;

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
import lunar.iscsi.framing.PduReceiver;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.spi.TransportProvider;
import lunar.iscsi.spi.Transports;
import lunar.target.PortalSpec;
import org.jspecify.annotations.Nullable;

/** The portals of a server. Readable by any thread; changed by one thread at a time. */
public final class Portals {
    private static final System.Logger LOG = System.getLogger("lunar.target");

    private final Transports transports;
    private final BiFunction<BoundPortal, Transport, PduReceiver> receiver;
    private volatile List<BoundPortal> bound = List.of();
    private volatile List<PortalSpec> elsewhere = List.of();
    private volatile SortedSet<Integer> groups = Collections.emptySortedSet();

    /** @param receiver creates the receiver of a connection that a portal has accepted */
    Portals(Transports transports, BiFunction<BoundPortal, Transport, PduReceiver> receiver) {
        this.transports = transports;
        this.receiver = receiver;
    }

    /** Returns the portals for logins, in configuration order. */
    public List<BoundPortal> all() {
        return bound;
    }

    /** Returns the portals of other servers, which are only reported to initiators. */
    List<PortalSpec> elsewhere() {
        return elsewhere;
    }

    /** Returns the tags of the portal groups, also those of other servers. */
    public SortedSet<Integer> groups() {
        return groups;
    }

    public static SortedSet<Integer> groups(List<PortalSpec> of) {
        return Collections.unmodifiableSortedSet(
                of.stream().map(PortalSpec::group).collect(Collectors.toCollection(TreeSet::new)));
    }

    /** Stops accepting connections. */
    public void close() { bound.forEach(BoundPortal::close); }

    /**
     * Listens on the new portals among these, and reads certificates; the current ones stay in use until the change is
     * made.
     *
     * @param isRenewing whether the certificates of portals that stay as they are, are read again too
     * @throws IOException if one of them cannot be listened on, or its files cannot be used; then nothing has changed
     */
    public Change change(List<PortalSpec> wanted, boolean isRenewing) throws IOException {
        var left = new ArrayList<>(bound);
        var after = new ArrayList<BoundPortal>();
        var renewals = new ArrayList<Runnable>();
        List<PortalSpec> here = wanted.stream().filter(spec -> !spec.elsewhere()).toList();
        for (PortalSpec spec : here) {
            BoundPortal kept = first(left,
                    portal -> portal.spec().hasPlaceOf(spec));
            if (kept == null) { // it may have had port 0 before, and now its actual port
                kept = first(left, portal -> portal.local().equals(spec.address())
                        && portal.spec().transport().equals(spec.transport()));
            }
            if (kept == null) {
                after.add(new BoundPortal(spec, credentials(spec)));
                continue;
            }
            left.remove(kept);
            after.add(kept);
            if (!kept.isListening()) { // it was lost, and listens again now
                kept.use(credentials(spec));
            } else if (isRenewing || !kept.spec().tls().equals(spec.tls())) {
                BoundPortal renewed = kept;
                TransportProvider.Credentials read = credentials(spec);
                renewals.add(() -> renewed.use(read));
            }
        }
        listen(after, left);
        return new Change(List.copyOf(wanted), here, List.copyOf(after), List.copyOf(left),
                renewals);
    }

    private static TransportProvider.Credentials credentials(PortalSpec spec) throws IOException {
        try {
            return Transports.credentials(spec.transport(), spec.tls());
        } catch (IOException e) {
            throw new IOException(spec + ": " + e.getMessage(), e);
        }
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

    /**
     * Listens on a portal; first closes a leaving portal with a conflicting port, such as one on the wildcard address.
     */
    private void listen(BoundPortal portal, List<BoundPortal> leaving, List<BoundPortal> closed)
            throws IOException {
        try {
            listen(portal);
        } catch (BindException e) {
            int port = portal.spec().address().getPort();
            BoundPortal inTheWay = first(leaving,
                    other -> other.isListening() && other.local().getPort() == port
                            && isOfRdma(other) == isOfRdma(portal)); // iscsi and iscsis share the ports of TCP
            if (inTheWay == null) {
                throw e;
            }
            inTheWay.close();
            closed.add(inTheWay);
            listen(portal, leaving, closed);
        }
    }

    private static boolean isOfRdma(BoundPortal portal) {
        return portal.spec().transport().equals(Transports.ISER);
    }

    private void listen(BoundPortal portal) throws IOException {
        try {
            portal.listen(transports, transport -> receiver.apply(portal, transport));
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

    /** A change to new portals, which listen but are not advertised yet. */
    public final class Change {
        private final List<PortalSpec> all;
        private final List<PortalSpec> specs;
        private final List<BoundPortal> after;
        private final List<BoundPortal> leaving;
        private final List<Runnable> renewals;

        private Change(List<PortalSpec> all, List<PortalSpec> specs, List<BoundPortal> after,
                List<BoundPortal> leaving, List<Runnable> renewals) {
            this.all = all;
            this.specs = specs;
            this.after = after;
            this.leaving = leaving;
            this.renewals = renewals;
        }

        /**
         * Makes the change, except that new portals do not take logins yet.
         *
         * @return portals whose connections must end, because the portal was removed, moved to another group, or
         *        redirects initiators
         */
        public List<BoundPortal> begin() {
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
            renewals.forEach(Runnable::run);
            groups = groups(all);
            elsewhere = all.stream().filter(PortalSpec::elsewhere).toList();
            return without;
        }

        /** Accepts logins on new portals and closes removed portals. */
        public void finish() {
            bound = after;
            leaving.forEach(BoundPortal::close);
        }

        /** Restores the portals from before the change. */
        public void cancel() {
            after.stream().filter(portal -> !bound.contains(portal)).forEach(BoundPortal::close);
            leaving.stream().filter(portal -> !portal.isListening())
                    .forEach(Portals.this::listenAgain);
        }
    }
}
