package lunar.block.channel;

import java.nio.channels.ClosedChannelException;
import java.nio.file.OpenOption;
import lunar.block.BlockDevice;
import lunar.block.NotSupportedException;
import lunar.block.StorageException;

/** The open state of a channel: the bytes of a device, and the modes of access to them. Thread-safe. */
final class OpenChannel {
    private final ByteAccess access;
    private final ChannelModes modes;
    private volatile boolean open = true;

    private OpenChannel(ByteAccess access, ChannelModes modes) {
        this.access = access;
        this.modes = modes;
    }

    /** @param options as of {@link ChannelModes#of} */
    static OpenChannel over(BlockDevice device, OpenOption... options) throws StorageException {
        return new OpenChannel(new ByteAccess(device), ChannelModes.of(device, options));
    }

    /** Another one over the same bytes, opened and closed by itself. */
    OpenChannel another() {
        return new OpenChannel(access, modes);
    }

    ByteAccess access() { return access; }

    ChannelModes modes() { return modes; }

    BlockDevice device() { return access.device(); }

    boolean isOpen() { return open; }

    void close() { open = false; }

    void requireOpen() throws ClosedChannelException {
        if (!open) {
            throw new ClosedChannelException();
        }
    }

    /** Bytes of the device, which may grow while the channel is open. */
    long size() throws ClosedChannelException {
        requireOpen();
        return device().sizeBytes();
    }

    /** Makes all stable that has ended. */
    void force() throws ClosedChannelException, StorageException {
        requireOpen();
        device().flush();
    }

    /** A device keeps its size. */
    void requireNotSmaller(long size) throws ClosedChannelException, NotSupportedException {
        requireOpen();
        modes.requireNotSmaller(size, device());
    }

    /** @param kind what it is, such as {@code channel} */
    String describe(String kind) {
        return kind + " over " + device() + (open ? "" : " (closed)");
    }
}
