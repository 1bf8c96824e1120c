package lunar.iser.connection;

import java.lang.foreign.MemorySegment;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.login.OperationalParameters;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iser.wire.IserHeader;
import org.jspecify.annotations.Nullable;

/** The advertised buffers of an initiator's commands, at the target. Thread-safe. */
final class RemoteCommands {
    /** Beyond all command windows; a peer with more has sent commands outside its window. */
    private static final int MAX_COMMANDS = 8192;

    private final TagMap<RemoteCommand> byTag = new TagMap<>();
    private boolean isBehindUnsolicited = true;
    private int firstBurstBytes = OperationalParameters.DEFAULT.firstBurstLength();

    /** Sets what the login has agreed on. */
    synchronized void agreed(OperationalParameters parameters) {
        firstBurstBytes = parameters.firstBurstLength();
        isBehindUnsolicited = parameters.iser()
                .map(OperationalParameters.Iser::taggedBufferForSolicitedDataOnly).orElse(true);
    }

    /**
     * Takes the buffers that a command advertises.
     *
     * @throws ProtocolException if the tag is that of a command that has not ended, whose buffers would be lost
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
                        + " commands of one connection that were not answered");
            }
        }
    }

    /** Data-out that come with the command or behind it without an R2T. */
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
            throw new ProtocolException("no STag was advertised for task "
                    + Integer.toHexString(itt) + "h (RFC 7145 section 7.3.1)");
        }
        return found;
    }

    /** Forgets the buffers of a command that ends; returns them. */
    synchronized @Nullable RemoteCommand remove(int itt) {
        return byTag.remove(itt);
    }
}
