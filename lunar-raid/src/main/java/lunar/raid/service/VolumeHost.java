package lunar.raid.service;

import java.util.UUID;
import lunar.block.StorageException;

/**
 * Told of the volumes that this process runs; found by {@link java.util.ServiceLoader}. A program uses it to keep other
 * processes from running the same volume, and to make it reachable for operators.
 */
public interface VolumeHost {
    /**
     * Called before a volume is run; nothing has been written to its members yet.
     *
     * @param title its name for the operator
     * @param takesOver whether it is to be run even if another process, which may hang, has it
     * @throws StorageException if it must not be run; the message is one line that says what to do
     */
    Claim claim(UUID volume, String title, boolean takesOver) throws StorageException;

    /** A volume that this process may run, until this is closed. */
    interface Claim extends AutoCloseable {
        /** Returns the path of the socket for commands of this host to the volume; empty if there is none. */
        default String contact() {
            return "";
        }

        /** Called when the volume runs. */
        void running(RunningVolume volume);

        /** Called when another process has taken the volume over, and is to be contacted instead. Must not block. */
        default void lost() {}

        /** Called when the volume runs no more. */
        @Override
        void close();
    }
}
