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
     * @param takesOver whether it is to be run although another process, which may hang, has it
     * @throws StorageException when it must not be, with one line that says what to do
     */
    Claim claim(UUID volume, String title, boolean takesOver) throws StorageException;

    /** A volume that this process may run, until this is closed. */
    interface Claim extends AutoCloseable {
        /** Path of the socket by which commands of this host will reach the volume; empty where there is none. */
        default String contact() {
            return "";
        }

        /** It runs. */
        void running(RunningVolume volume);

        /** Another process has taken it over, and is the one to be reached. Must not block. */
        default void lost() {}

        /** It runs no more. */
        @Override
        void close();
    }
}
