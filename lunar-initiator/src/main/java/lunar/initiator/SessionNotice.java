package lunar.initiator;

import java.io.IOException;
import java.util.Optional;
import lunar.iscsi.text.TargetAddress;
import lunar.scsi.Lun;
import lunar.scsi.Sense;

/** An event of a session, for a {@link SessionListener}. */
public sealed interface SessionNotice {
    /** A connection was lost. The session continues over others, or over a replacement, or ends. */
    record ConnectionLost(int cid, IOException why) implements SessionNotice {}

    /** A connection has joined the session. */
    record ConnectionJoined(int cid, TargetAddress portal) implements SessionNotice {}

    /**
     * The tasks of a lost connection continue over another (RFC 7143 sections 7.2.1 and 7.2.2).
     *
     * @param retried commands that the target had not received, sent again under their CmdSN
     * @param reassigned tasks that the target had, moved by TASK REASSIGN
     * @param ended tasks that could not be moved
     */
    record TasksMoved(int cid, int retried, int reassigned, int ended) implements SessionNotice {}

    /** A PDU was lost within a connection, and is requested again (SNACK, RFC 7143 section 11.16). */
    record AskedAgain(int cid, String what) implements SessionNotice {}

    /** The target's LUNs have changed; {@link Session#luns} returns the new ones. */
    record LunsChanged() implements SessionNotice {}

    /**
     * The target has sent an Asynchronous Message (RFC 7143 section 11.9).
     *
     * @param event AsyncEvent
     * @param sense sense data of a SCSI event
     */
    record MessageCame(int event, Lun lun, Optional<Sense> sense) implements SessionNotice {}

    /**
     * The session has ended.
     *
     * @param why why it was lost; empty if it was closed in order
     */
    record Ended(Optional<IOException> why) implements SessionNotice {}
}
