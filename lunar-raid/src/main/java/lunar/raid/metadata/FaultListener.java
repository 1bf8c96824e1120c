package lunar.raid.metadata;

import lunar.block.StorageException;

/** Told which members fail requests for metadata, so that the volume fails them. */
@FunctionalInterface
public interface FaultListener {
    /**
     * Called when the member of a slot did not take metadata, or does not answer. Changes wait for it until the volume
     * has failed it. Must neither block nor throw; any thread.
     */
    void failed(int slot, StorageException why);
}
