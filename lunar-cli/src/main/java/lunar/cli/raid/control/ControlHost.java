package lunar.cli.raid.control;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.UUID;
import lunar.block.BusyException;
import lunar.block.StorageException;
import lunar.raid.service.RunningVolume;
import lunar.raid.service.VolumeHost;
import org.jspecify.annotations.Nullable;

/**
 * Makes a volume that this process runs accessible to commands, and rejects a volume early that another process of this
 * user runs. The authoritative owner is recorded on the members ({@code lunar.raid.service.Ownership}), so a failure to
 * create the socket does not prevent a volume from starting.
 */
public final class ControlHost implements VolumeHost {
    private static final System.Logger LOG = System.getLogger("lunar.cli");

    /** For the {@link java.util.ServiceLoader}. */
    public ControlHost() {}

    @Override
    public Claim claim(UUID volume, String title, boolean takesOver) throws StorageException {
        try {
            ControlDirectory place = ControlDirectory.ofUser();
            Optional<ControlDirectory.Right> right = place.claim(volume);
            if (right.isEmpty() && !takesOver) {
                throw new BusyException(title
                        + " is already running, in another process or in this one:"
                        + " 'lunar raid status " + title + "' shows where, 'lunar raid stop "
                        + title + "' stops it");
            }
            return right.isPresent()
                    ? new Held(place.socket(volume), right.get())
                    : new Held(place.socketBeside(volume), null);
        } catch (StorageException e) {
            throw e;
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "{0} cannot be reached by commands: {1}", title,
                    e.getMessage());
            return new Held(null, null);
        }
    }

    private static final class Held implements Claim {
        private final @Nullable Path socket;
        private ControlDirectory.@Nullable Right right;
        private @Nullable ControlServer server;

        /** @param socket null where commands do not reach it */
        Held(@Nullable Path socket, ControlDirectory.@Nullable Right right) {
            this.socket = socket;
            this.right = right;
        }

        @Override
        public String contact() { return socket == null ? "" : socket.toString(); }

        @Override
        public synchronized void running(RunningVolume volume) {
            if (socket == null) {
                return;
            }
            try {
                server = ControlServer.start(socket, volume);
            } catch (IOException e) { // it serves its hosts all the same
                LOG.log(System.Logger.Level.WARNING, "{0} cannot be reached by commands: {1}",
                        volume, e.getMessage());
            }
        }

        @Override
        public void lost() { close(); }

        @Override
        public synchronized void close() {
            if (server != null) {
                server.close();
                server = null;
            }
            if (right != null) {
                right.close();
                right = null;
            }
        }
    }
}
