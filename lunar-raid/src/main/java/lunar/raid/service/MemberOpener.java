package lunar.raid.service;

import lunar.block.BlockDevice;
import lunar.block.StorageException;

/** Opens members by their URIs. */
@FunctionalInterface
public interface MemberOpener {
    /**
     * Opens a device; may block for as long as a login takes.
     *
     * @throws IllegalArgumentException when the URI is wrong; the message is one line for the operator
     */
    BlockDevice open(String uri) throws StorageException;
}
