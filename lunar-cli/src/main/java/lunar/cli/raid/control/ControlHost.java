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
 * Lets commands reach a volume that this process runs, and refuses one at once that another process of this user runs.
 * That is a short cut: which process has the volume its members say ({@code lunar.raid.service.Ownership}). So a place for
 * the socket that cannot be had does not stop a volume.
 */
public final class ControlHost implements VolumeHost {
    private static final System.Logger LOG = System.getLogger("lunar.cli");

    /** For the {@link java.util.ServiceLoader}. */
    public ControlHost() {}

    @Override
    public Claim claim(UUID volume, String title, boolean takesOver) throws StorageException {
        try {
            ControlPlace place = ControlPlace.ofUser();
            Optional<ControlPlace.Right> right = place.claim(volume);
            if (right.isEmpty() && !takesOver) {
                throw new BusyException(title + " runs already, in another process or here:"
                        + " 'lunar raid status " + title + "' tells where, 'lunar raid stop "
                        + title + "' ends it");
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
        private ControlPlace.@Nullable Right right;
        private @Nullable ControlServer server;

        /** @param socket null where commands do not reach it */
        Held(@Nullable Path socket, ControlPlace.@Nullable Right right) {
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
