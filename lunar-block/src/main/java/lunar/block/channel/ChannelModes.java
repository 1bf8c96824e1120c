package lunar.block.channel;

import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.file.OpenOption;
import java.nio.file.StandardOpenOption;
import lunar.block.BlockDevice;
import lunar.block.NotSupportedException;
import lunar.block.StorageException;
import lunar.block.WriteProtectedException;

/**
 * The modes that a channel was opened with.
 *
 * @param read whether it reads
 * @param write whether it writes
 * @param fua whether each write is on stable storage when it ends
 */
record ChannelModes(boolean read, boolean write, boolean fua) {
    /** Without options a channel reads, and writes where the device takes writes. */
    static ChannelModes of(BlockDevice device, OpenOption... options) throws StorageException {
        if (options.length == 0) {
            return new ChannelModes(true, !device.readOnly(), false);
        }
        boolean read = false;
        boolean write = false;
        boolean fua = false;
        for (OpenOption option : options) {
            switch (option) {
                case StandardOpenOption.READ -> read = true;
                case StandardOpenOption.WRITE -> write = true;
                case StandardOpenOption.DSYNC, StandardOpenOption.SYNC -> fua = true;
                default -> throw new UnsupportedOperationException(
                        "a block device cannot be opened with " + option
                                + "; there are READ, WRITE, DSYNC and SYNC");
            }
        }
        if (write && device.readOnly()) {
            throw new WriteProtectedException(device + " is read-only: open it with READ alone");
        }
        return new ChannelModes(read || !write, write, fua);
    }

    void requireRead() {
        if (!read) {
            throw new NonReadableChannelException();
        }
    }

    void requireWrite() {
        if (!write) {
            throw new NonWritableChannelException();
        }
    }

    /** A device keeps its size: what would make it smaller is refused, what would not changes nothing. */
    void requireNotSmaller(long sizeBytes, BlockDevice device) throws NotSupportedException {
        if (sizeBytes < 0) {
            throw new IllegalArgumentException("negative size: " + sizeBytes);
        }
        requireWrite();
        if (sizeBytes < device.sizeBytes()) {
            throw new NotSupportedException("a block device cannot be truncated: " + device
                    + " has " + device.sizeBytes() + " bytes");
        }
    }

    static void requirePosition(long position) {
        if (position < 0) {
            throw new IllegalArgumentException("negative position: " + position);
        }
    }
}
