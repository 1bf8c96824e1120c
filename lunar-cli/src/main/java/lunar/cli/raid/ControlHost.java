package lunar.cli.raid;

import java.io.IOException;
import java.util.UUID;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.raid.run.RunningVolume;
import lunar.raid.run.VolumeHost;
import org.jspecify.annotations.Nullable;

/** Sees to it that no other process of this user runs a volume that this one runs, and lets its commands reach it. */
public final class ControlHost implements VolumeHost {
    /** For the {@link java.util.ServiceLoader}. */
    public ControlHost() {}

    @Override
    public Claim claim(UUID volume, String title) throws StorageException {
        ControlPlace place;
        try {
            place = ControlPlace.ofUser();
        } catch (IOException e) {
            throw new DeviceGoneException(String.valueOf(e.getMessage()), e);
        }
        return new Held(place, place.claim(volume, title));
    }

    private static final class Held implements Claim {
        private final ControlPlace place;
        private final ControlPlace.Right right;
        private @Nullable ControlServer server;

        Held(ControlPlace place, ControlPlace.Right right) {
            this.place = place;
            this.right = right;
        }

        @Override
        public synchronized void running(RunningVolume volume) {
            try {
                server = ControlServer.start(place.socket(volume.uuid()), volume);
            } catch (IOException e) { // it serves its hosts all the same
                System.getLogger("lunar.cli").log(System.Logger.Level.WARNING,
                        "{0} cannot be reached by commands: {1}", volume, e.getMessage());
            }
        }

        @Override
        public synchronized void close() {
            if (server != null) {
                server.close();
            }
            right.close();
        }
    }
}
