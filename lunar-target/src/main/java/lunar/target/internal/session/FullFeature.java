package lunar.target.internal.session;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.login.LoginResult;
import lunar.iscsi.pdu.AsyncEvent;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataOut;
import lunar.iscsi.pdu.InitiatorPdu;
import lunar.iscsi.pdu.LogoutRequest;
import lunar.iscsi.pdu.RejectReason;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.session.ConnectionEvent;
import lunar.iscsi.session.ConnectionState;
import lunar.iscsi.spi.Transport;
import lunar.scsi.Lun;
import lunar.target.ServerLimits;
import lunar.target.internal.task.ConnectionTasks;
import lunar.target.status.ConnectionStatus;
import org.jspecify.annotations.Nullable;

/**
 * The full feature phase of a connection (RFC 7143 section 4.3): passes SCSI commands and their data on to
 * {@link ConnectionTasks}, all other requests to {@link NonScsiRequests}, and keeps the connection alive. Confined to
 * the event loop's thread.
 */
final class FullFeature implements ConnectionPhase {
    /** Longest AHS: an extended CDB of maximum length and a bidirectional length (RFC 7143 section 11.2.2). */
    static final int MAX_AHS_BYTES = 260;

    /** Offset of ExpStatSN in every PDU of an initiator. */
    private static final int EXP_STAT_SN = 28;

    private final Connection connection;
    private final SessionServer server;
    private final Transport transport;
    private final Session session;
    private final ConnectionTasks tasks;
    private final NonScsiRequests others;
    private final KeepAlive keepAlive;
    private final BackPressure backPressure;
    private boolean stopped;

    /** @param login result of this connection's own login; {@link Session#login} is that of the leading connection */
    FullFeature(Connection connection, SessionServer server, Transport transport, Session session,
            LoginResult login, int firstStatSn) {
        this.connection = connection;
        this.server = server;
        this.transport = transport;
        this.session = session;
        ServerLimits limits = server.limits();
        keepAlive = new KeepAlive(transport.loop(), limits.idleMs(), this::ping, this::endSilent);
        tasks = new ConnectionTasks(session, session.tasks(), transport, login, limits,
                server.retransmission(), firstStatSn, keepAlive::heardMs);
        others = new NonScsiRequests(this, server, session, tasks.responses());
        backPressure = new BackPressure(transport, limits.maxQueuedBytes(),
                limits.maxAnswerBytes(), keepAlive::heard);
    }

    /** Whether PDUs that arrive are ignored. */
    boolean isStopped() { return stopped; }

    /** Returns the connection's number in its session. */
    int cid() { return tasks.cid(); }

    Transport transport() { return transport; }

    Connection connection() { return connection; }

    /** Returns the connection as operators see it. */
    ConnectionStatus status() {
        return new ConnectionStatus(cid(), connection.portal().spec().transport(),
                transport.remote(), transport.local());
    }

    /** Returns the tasks that have their allegiance to the connection. */
    ConnectionTasks tasks() {
        return tasks;
    }

    @Override
    public boolean isDiscovery() { return session.isDiscovery(); }

    // --- receiving ---

    @Override
    public MemorySegment dataDestination(Bhs bhs, MemorySegment ahs, int length)
            throws ProtocolException {
        if (stopped) {
            return MemorySegment.NULL;
        }
        return switch (bhs.opcode()) {
            case ScsiCommand.OPCODE -> tasks.commandDestination(bhs, ahs, length);
            case DataOut.OPCODE -> tasks.dataOutDestination(bhs, length);
            default -> MemorySegment.NULL;
        };
    }

    @Override
    public void received(Bhs bhs, MemorySegment ahs, MemorySegment data) throws ProtocolException {
        tasks.flushes().batchBegun();
        keepAlive.heard();
        tasks.filled();
        if (stopped) {
            return;
        }
        if (bhs.opcode() != LogoutRequest.OPCODE) { // its ExpStatSN may be of another connection
            tasks.heard(bhs.int32(EXP_STAT_SN));
        }
        switch (bhs.opcode()) {
            case ScsiCommand.OPCODE -> tasks.command(bhs, ahs, data);
            case DataOut.OPCODE -> tasks.dataOut(bhs, (int) data.byteSize());
            default -> others.received(InitiatorPdu.decode(bhs, ahs), bhs, data);
        }
        backPressure.look();
    }

    @Override
    public void dataDigestError(Bhs bhs) throws ProtocolException {
        tasks.filled();
        if (stopped) {
            return;
        }
        tasks.responses().reject(bhs, RejectReason.DATA_DIGEST_ERROR);
        if (session.recoveryLevel() == 0) {
            // At ErrorRecoveryLevel 0 every digest error ends the session (RFC 7143 section 7.8, 7.11).
            throw new ProtocolException("data digest error (RFC 7143 section 7.8)");
        }
        if (bhs.opcode() == DataOut.OPCODE) {
            tasks.dataOutLost(bhs);
        } // any other PDU is dropped, and the initiator retransmits it
    }

    @Override
    public void batchEnd() {
        tasks.flushes().batchEnded();
        backPressure.look();
    }

    /** Runs something on the event loop's thread, at once if called there. */
    void inLoop(Runnable what) {
        if (transport.loop().inLoop()) {
            what.run();
        } else {
            transport.loop().execute(what);
        }
    }

    private void ping() { tasks.ping(); }

    private void endSilent() {
        connection.end("no response to a ping for " + server.limits().idleMs() + " ms",
                new ConnectionEvent.TransportLost());
    }

    // --- announcing the end ---

    /** Sends an Asynchronous Message (RFC 7143 section 11.9). */
    void announce(Lun lun, AsyncEvent event, int parameter1, int parameter2, int parameter3) {
        if (tasks.isOpen()) {
            tasks.responses().announce(lun, event, parameter1, parameter2, parameter3);
            tasks.flushes().schedule();
        }
    }

    @Override
    public void demandLogout(int withinSeconds) {
        announce(Lun.ZERO, AsyncEvent.LOGOUT_REQUEST, 0, 0, withinSeconds);
    }

    /** Announces to the initiator that the session is over, and ends the connection (AsyncEvent 3). */
    void drop(String why) {
        if (tasks.isOpen()) {
            var parameters = session.login().parameters();
            announce(Lun.ZERO, AsyncEvent.SESSION_DROP, 0, parameters.defaultTime2WaitSeconds(),
                    session.time2RetainSeconds());
            connection.end(why, new ConnectionEvent.SessionClosed());
        }
    }

    // --- ending ---

    /**
     * Ends the connection, with its tasks. On the event loop's thread.
     *
     * @param why the reason to log; null for an orderly end
     */
    void terminate(@Nullable String why, ConnectionEvent event) {
        if (tasks.isSuspended() && connection.state() == ConnectionState.FREE) {
            release();
        } else if (!tasks.isClosed()) {
            if (why == null) {
                connection.happened(event);
            } else {
                connection.end(why, event);
            }
        }
    }

    @Override
    public void stopCommands() {
        stopped = true;
        keepAlive.stop();
        tasks.stop();
    }

    @Override
    public long retainMs() { return session.retainMs(); }

    @Override
    public void suspend() {
        if (session.retainMs() == 0) {
            release();
        } else if (tasks.isOpen()) {
            stopCommands();
            backPressure.stop();
            tasks.suspend();
            session.suspend(this);
        }
    }

    @Override
    public void over() {
        if (!session.lost().isLoggedOut(this)) {
            release();
        }
    }

    /** Aborts the tasks that are left when the connection is over and its transport closed. */
    void release() {
        if (tasks.isClosed()) {
            return;
        }
        stopCommands();
        backPressure.stop();
        tasks.close();
        session.leave(this);
    }

    @Override
    public void closed(@Nullable IOException cause) {}

    @Override
    public String toString() { return session.toString(); }
}
