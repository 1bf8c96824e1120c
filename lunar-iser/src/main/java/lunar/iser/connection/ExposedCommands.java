package lunar.iser.connection;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.spi.Transport.Release;
import lunar.iser.memory.Bounces;
import lunar.iser.memory.DeviceMemory;
import lunar.iser.memory.RegisteredPools;
import lunar.rdma.Access;
import lunar.rdma.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * Exposes the buffers of an initiator's commands to the target, from the command to its response. Thread-safe.
 *
 * <p>A buffer in a registered pool is exposed directly. A short one, or one on the heap, is copied to or from a bounce
 * buffer of the connection. Any other one is registered for its command alone, and the target's access ends with the
 * command.
 */
final class ExposedCommands {
    /** Buffers up to this length are copied, which costs less than a registration. */
    private static final int MAX_COPIED_BYTES = 16 << 10;

    private static final Set<Access> FOR_DATA_IN = Set.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE);
    private static final Set<Access> FOR_DATA_OUT = Set.of(Access.REMOTE_READ);

    private final DeviceMemory memory;
    private final Bounces bounces;
    private final TagMap<ExposedCommand> byTag = new TagMap<>();
    private boolean isOver;

    ExposedCommands(DeviceMemory memory) {
        this.memory = memory;
        bounces = memory.newBounces();
    }

    /**
     * Exposes the buffers of a command.
     *
     * @param skippedBytes number of data-out bytes from the start that the target does not fetch
     * @param release called at the end of the command
     */
    ExposedCommand expose(int itt, MemorySegment dataIn, MemorySegment dataOut, long skippedBytes,
            Release release) throws RdmaException {
        ExposedCommand.Exposure in = dataIn.byteSize() == 0 ? null : forDataIn(dataIn);
        ExposedCommand made = null;
        try {
            ExposedCommand.Exposure out = dataOut.byteSize() <= skippedBytes
                    ? null
                    : forDataOut(dataOut, skippedBytes);
            made = new ExposedCommand(dataIn, dataOut.byteSize() > 0, in, out, release);
        } finally {
            if (made == null && in != null) {
                in.end(bounces, true);
            }
        }
        synchronized (this) {
            if (byTag.put(itt, made) != null) {
                throw new IllegalStateException("two commands with the initiator task tag " + itt);
            }
        }
        return made;
    }

    private ExposedCommand.Exposure forDataIn(MemorySegment buffer) throws RdmaException {
        RegisteredPools.Pool pool = memory.pools().find(buffer);
        if (pool != null) {
            return ExposedCommand.Exposure.pooled(pool.exposed(), pool.offset(buffer));
        }
        return isCopied(buffer)
                ? ExposedCommand.Exposure.bounced(bounces.take(buffer.byteSize()))
                : ExposedCommand.Exposure.registered(memory.register(buffer, FOR_DATA_IN));
    }

    private ExposedCommand.Exposure forDataOut(MemorySegment buffer, long skippedBytes)
            throws RdmaException {
        RegisteredPools.Pool pool = memory.pools().find(buffer);
        if (pool != null) {
            return ExposedCommand.Exposure.pooled(pool.exposed(), pool.offset(buffer));
        }
        if (!isCopied(buffer)) {
            return ExposedCommand.Exposure.registered(memory.register(buffer, FOR_DATA_OUT));
        }
        Bounces.Bounce bounce = bounces.take(buffer.byteSize());
        MemorySegment.copy(buffer, skippedBytes, bounce.memory(), skippedBytes,
                buffer.byteSize() - skippedBytes);
        return ExposedCommand.Exposure.bounced(bounce);
    }

    private static boolean isCopied(MemorySegment buffer) {
        return !buffer.isNative() || buffer.byteSize() <= MAX_COPIED_BYTES;
    }

    /**
     * Ends the command of a response: makes its data-in available in the command's buffer, and releases its buffers.
     *
     * @throws IOException if the buffers have been released already, at the end of the connection
     */
    void answered(Bhs response) throws IOException {
        ExposedCommand command;
        synchronized (this) {
            if (isOver) {
                throw new IOException("the connection has ended"); // the data-in are gone
            }
            command = byTag.remove(response.itt());
        }
        if (command != null) {
            command.takeDataIn(
                    placedBytes(response, command.dataInBytes(), command.isBidirectional()));
            command.end(bounces, true);
        }
    }

    /** Returns the number of bytes that the target has placed, by its response: all but the residual. */
    private static int placedBytes(Bhs response, long expectedBytes, boolean isBoth) {
        int flag = isBoth ? ScsiResponse.BIDIRECTIONAL_UNDERFLOW : ScsiResponse.UNDERFLOW;
        int count = isBoth
                ? ScsiResponse.BIDIRECTIONAL_READ_RESIDUAL_COUNT
                : ScsiResponse.RESIDUAL_COUNT;
        long missing = (response.flags() & flag) == 0
                ? 0
                : Integer.toUnsignedLong(response.int32(count));
        return (int) Math.max(0, expectedBytes - missing);
    }

    /** Removes a command that ends without a response; returns null if it has ended already. */
    synchronized @Nullable ExposedCommand remove(int itt) {
        return byTag.remove(itt);
    }

    /** Ends a command that has been {@linkplain #remove removed}. */
    void end(ExposedCommand command) {
        command.end(bounces, false);
    }

    /** Ends all commands, after the endpoint has been closed. */
    void endAll() {
        List<ExposedCommand> left;
        synchronized (this) {
            isOver = true;
            left = byTag.clear();
        }
        left.forEach(each -> each.end(bounces, true));
        bounces.close();
    }
}
