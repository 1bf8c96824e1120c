package lunar.iser.connection;

import java.lang.foreign.MemorySegment;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.login.OperationalParameters;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iser.wire.IserHeader;
import org.jspecify.annotations.Nullable;

/** Tracks the buffers that an initiator's commands advertise, at the target. Thread-safe. */
final class RemoteCommands {
    /** More than any command window; a peer that exceeds this has sent commands outside its window. */
    private static final int MAX_COMMANDS = 8192;

    private final TagMap<RemoteCommand> byTag = new TagMap<>();
    /** Whether Write Base Offsets are those of the first byte after unsolicited data (RFC 7145 section 6.9). */
    private boolean isBehindUnsolicited = true;
    private int firstBurstBytes = OperationalParameters.DEFAULT.firstBurstLength();

    /** Applies the parameters that the login has negotiated. */
    synchronized void agreed(OperationalParameters parameters) {
        firstBurstBytes = parameters.firstBurstLength();
        isBehindUnsolicited = parameters.iser()
                .map(OperationalParameters.Iser::taggedBufferForSolicitedDataOnly).orElse(true);
    }

    /**
     * Adds the buffers that a command advertises, if any.
     *
     * @throws ProtocolException if an outstanding command has the same tag, or there are too many commands
     */
    void add(MemorySegment message, Bhs bhs, int immediateBytes) throws ProtocolException {
        if (!IserHeader.hasWrite(message) && !IserHeader.hasRead(message)) {
            return;
        }
        synchronized (this) {
            var command = new RemoteCommand(message,
                    isBehindUnsolicited ? unsolicitedBytes(bhs, immediateBytes) : 0);
            if (byTag.put(bhs.itt(), command) != null) {
                throw new ProtocolException("two commands with the task tag "
                        + Integer.toHexString(bhs.itt()) + "h (RFC 7143 section 11.2.1.8)");
            }
            if (byTag.size() > MAX_COMMANDS) {
                throw new ProtocolException("more than " + MAX_COMMANDS
                        + " commands outstanding on one connection");
            }
        }
    }

    /** Returns the number of data-out bytes that are sent without an R2T, as immediate or unsolicited data. */
    private int unsolicitedBytes(Bhs bhs, int immediateBytes) {
        return bhs.isFinal()
                ? immediateBytes
                : (int) Math.min(firstBurstBytes, Integer
                        .toUnsignedLong(bhs.int32(ScsiCommand.EXPECTED_DATA_TRANSFER_LENGTH)));
    }

    /** Returns the buffers of a command. */
    synchronized RemoteCommand get(int itt) throws ProtocolException {
        RemoteCommand found = byTag.get(itt);
        if (found == null) {
            throw new ProtocolException("no STag advertised for task "
                    + Integer.toHexString(itt) + "h (RFC 7145 section 7.3.1)");
        }
        return found;
    }

    /** Removes the buffers of a command that ends, and returns them; null if it has none. */
    synchronized @Nullable RemoteCommand remove(int itt) {
        return byTag.remove(itt);
    }
}
