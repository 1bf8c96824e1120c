package lunar.raid.run;

import java.util.UUID;
import lunar.block.StorageException;

/**
 * Whoever wants to know of the volumes that this process runs; found by {@link java.util.ServiceLoader}. A program sees
 * to it in this way that no other process runs the same volume, and lets people reach it.
 */
public interface VolumeHost {
    /**
     * A volume is about to be run; nothing has been written to its members yet.
     *
     * @param title what people call it
     * @throws StorageException when it must not be, with one line that says what to do
     */
    Claim claim(UUID volume, String title) throws StorageException;

    /** A volume that this process may run, until this is closed. */
    interface Claim extends AutoCloseable {
        /** It runs. */
        void running(RunningVolume volume);

        /** It runs no more. */
        @Override
        void close();
    }
}
