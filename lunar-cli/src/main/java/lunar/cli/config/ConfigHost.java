package lunar.cli.config;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import lunar.cli.command.Errors;
import lunar.cli.command.Failure;
import lunar.raid.service.RunningVolume;
import lunar.raid.service.VolumeEvent;
import lunar.raid.service.VolumeHost;

/**
 * Keeps the members of a volume up to date in its config file after a spare was activated or a member replaced.
 * Superblocks determine which devices are members, so an outdated file after a crash still leads to the volume, and the
 * next start corrects it.
 */
public final class ConfigHost implements VolumeHost {
    /** For the {@link java.util.ServiceLoader}. */
    public ConfigHost() {}

    @Override
    public Claim claim(UUID volume, String title, boolean takesOver) { return new Keeper(); }

    private static final class Keeper implements Claim {
        private final ReentrantLock writing = new ReentrantLock();
        /** Spares that a person has taken away. Guarded by this, as the next. */
        private final Set<String> removed = new HashSet<>();
        private Optional<RunningVolume> volume = Optional.empty();

        @Override
        public void running(RunningVolume running) {
            if (running.spec().options().configFile().isEmpty()) {
                return;
            }
            synchronized (this) {
                volume = Optional.of(running);
            }
            running.addListener(this::heard);
            update();
        }

        /** On the volume's thread, which must not wait for a disk. */
        private void heard(VolumeEvent event) {
            switch (event) {
                case VolumeEvent.SpareRemoved(String uri) -> {
                    synchronized (this) {
                        removed.add(uri);
                    }
                }
                case VolumeEvent.SpareAdded(String uri) -> {
                    synchronized (this) {
                        removed.remove(uri);
                    }
                }
                case VolumeEvent.MemberReplaced _,VolumeEvent.MemberReturned _,VolumeEvent.MemberAdded _ -> {
                    // Names have changed.
                }
                default -> {
                    return;
                }
            }
            Thread.ofVirtual().name("lunar-config").start(this::update);
        }

        private void update() {
            RunningVolume running;
            Set<String> gone;
            synchronized (this) {
                if (volume.isEmpty()) {
                    return;
                }
                running = volume.get();
                gone = Set.copyOf(removed);
            }
            String file = running.spec().options().configFile().orElseThrow();
            writing.lock();
            try {
                new VolumeTableFile(Path.of(file)).update(running.spec().name(), running.status(),
                        gone);
            } catch (IOException | Failure e) {
                System.getLogger("lunar.cli").log(System.Logger.Level.WARNING,
                        "{0}: cannot update its members in {1}: {2}", running, file,
                        Errors.message(e));
            } finally {
                writing.unlock();
            }
        }

        /** Writes the last changes to the file. */
        @Override
        public void close() { update(); }
    }
}
