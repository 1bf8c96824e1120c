package lunar.server;

import java.util.Optional;
import lunar.isns.IsnsRegistrar;
import lunar.isns.IsnsServer;
import lunar.isns.IsnsTiming;
import lunar.target.TargetServer;
import org.jspecify.annotations.Nullable;

/** Manages the registration of a server's targets at an iSNS server, if one is configured. Thread-safe. */
final class IsnsAnnouncement implements AutoCloseable {
    private final TargetServer server;
    private Optional<IsnsServer> at = Optional.empty();
    private @Nullable IsnsRegistrar registrar;

    IsnsAnnouncement(TargetServer server) { this.server = server; }

    /** Registers the targets at a server. Where that is another than before, they are deregistered from the old one. */
    synchronized void become(Optional<IsnsServer> wanted) {
        if (wanted.equals(at)) {
            return;
        }
        IsnsRegistrar before = registrar;
        if (before != null) {
            before.close();
        }
        at = wanted;
        registrar = wanted.map(place -> IsnsEntry.announce(server, place, IsnsTiming.DEFAULT))
                .orElse(null);
    }

    /** Deregisters the targets; to be called before their server is closed. */
    @Override
    public void close() { become(Optional.empty()); }
}
