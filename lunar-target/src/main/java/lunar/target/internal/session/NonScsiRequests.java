package lunar.target.internal.session;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.login.LoginLimits;
import lunar.iscsi.login.TargetText;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataOut;
import lunar.iscsi.pdu.InitiatorPdu;
import lunar.iscsi.pdu.LoginRequest;
import lunar.iscsi.pdu.LogoutRequest;
import lunar.iscsi.pdu.LogoutResponseCode;
import lunar.iscsi.pdu.NopOut;
import lunar.iscsi.pdu.RejectReason;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.SnackRequest;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.iscsi.pdu.TaskManagementRequest;
import lunar.iscsi.pdu.TaskManagementResponseCode;
import lunar.iscsi.pdu.TextRequest;
import lunar.iscsi.session.ConnectionEvent;
import lunar.iscsi.session.ConnectionState;
import lunar.iscsi.text.TextTurn;
import lunar.target.internal.task.ResponseSender;
import lunar.target.internal.task.Snacks;
import lunar.target.internal.task.Task;
import lunar.target.internal.task.TaskManagement;
import org.jspecify.annotations.Nullable;

/** Handles a connection's requests other than SCSI commands: pings, text, logout, task management, SNACK. */
final class NonScsiRequests {
    /** TTT of text responses that are not final; one tag suffices for one negotiation at a time. */
    private static final int TEXT_TAG = 1;

    private final FullFeature connection;
    private final SessionServer server;
    private final Session session;
    private final ResponseSender responses;
    private final TaskManagement management;
    private final Snacks snacks;
    private @Nullable TargetText text;
    private int textItt;

    NonScsiRequests(FullFeature connection, SessionServer server, Session session,
            ResponseSender responses) {
        this.connection = connection;
        this.server = server;
        this.session = session;
        this.responses = responses;
        management = new TaskManagement(session, session.tasks(), server.limits());
        snacks = new Snacks(responses, session.recoveryLevel() > 0);
    }

    /** Performs a request, or holds it until earlier requests on other connections have arrived. */
    void received(InitiatorPdu pdu, Bhs bhs, MemorySegment data) throws ProtocolException {
        if (pdu instanceof SnackRequest || isPong(bhs)) {
            perform(pdu, bhs, data);
            return;
        }
        switch (session.window().accept(bhs.int32(InitiatorPdu.CMD_SN), bhs.immediate())) {
            case DELIVER -> {
                if (!bhs.immediate()) {
                    session.window().finished();
                }
                perform(pdu, bhs, data);
                if (!bhs.immediate()) {
                    session.tasks().releaseHeld();
                }
            }
            case HOLD -> hold(pdu, bhs, data);
            case IGNORE -> {
                // Required by section 4.2.2.1.
            }
        }
    }

    /** Holds a request until its turn; without memory for its data it is then rejected. */
    private void hold(InitiatorPdu pdu, Bhs bhs, MemorySegment data) {
        Bhs header = new Bhs()
                .wrap(MemorySegment.ofArray(bhs.bytes().toArray(ValueLayout.JAVA_BYTE)));
        int cmdSn = bhs.int32(InitiatorPdu.CMD_SN);
        int bytes = (int) data.byteSize();
        if (session.tasks().mayHold(bytes)) {
            MemorySegment kept = MemorySegment.ofArray(data.toArray(ValueLayout.JAVA_BYTE));
            session.tasks().hold(connection.tasks(), cmdSn, bytes,
                    () -> inTurn(() -> perform(pdu, header, kept)));
        } else {
            session.tasks().hold(connection.tasks(), cmdSn, 0, () -> inTurn(
                    () -> responses.reject(header, RejectReason.LONG_OPERATION_REJECT)));
        }
    }

    /** Whether this answers a ping of the target; its CmdSN is not consumed (section 11.18). */
    private static boolean isPong(Bhs bhs) {
        return bhs.opcode() == NopOut.OPCODE && bhs.itt() == Bhs.NO_TAG;
    }

    @FunctionalInterface
    private interface HeldWork {
        void perform() throws ProtocolException;
    }

    private void inTurn(HeldWork held) {
        if (connection.isStopped()) {
            return;
        }
        try {
            held.perform();
            connection.tasks().flushes().schedule();
        } catch (ProtocolException e) {
            connection.connection().end("a held request: " + e.getMessage(),
                    new ConnectionEvent.Dropped());
        }
    }

    private void perform(InitiatorPdu pdu, Bhs bhs, MemorySegment data) throws ProtocolException {
        switch (pdu) {
            case NopOut nop -> nop(nop, data);
            case TextRequest request -> text(request, bhs, data);
            case LogoutRequest logout -> logout(logout, bhs);
            case TaskManagementRequest request -> manage(request, bhs);
            case SnackRequest snack ->
                snacks.answer(snack, connection.tasks().own(snack.itt()), bhs);
            case LoginRequest _ -> throw new ProtocolException(
                    "Login Request in full feature phase (RFC 7143 section 6.3)");
            case ScsiCommand _,DataOut _ -> throw new IllegalStateException(pdu.toString());
        }
    }

    private void nop(NopOut nop, MemorySegment data) {
        if (nop.isPing()) {
            long length = Math.min(data.byteSize(), responses.maxSendBytes());
            // The transport's data is valid during this call only, but the response may have to wait for its turn.
            responses.nopIn(nop.lun(), nop.itt(), MemorySegment.ofArray(
                    data.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE)));
        }
    }

    private void text(TextRequest request, Bhs bhs, MemorySegment data) throws ProtocolException {
        TargetText going = text;
        if (going == null || textItt != request.itt() || request.ttt() == Bhs.NO_TAG) {
            if (request.ttt() != Bhs.NO_TAG) {
                responses.reject(bhs, RejectReason.INVALID_PDU_FIELD);
                return;
            }
            going = new TargetText(session.login(), asked -> server.discover(asked, session.login(),
                    connection.connection().portal(), connection.transport().local()),
                    server.ends(session), LoginLimits.DEFAULT);
            text = going;
            textItt = request.itt();
        }
        TextTurn answer = going.receive(new TextTurn(request.isFinal(), request.continues(), data));
        responses.text(answer.isFinal(), answer.more(), request.lun(), request.itt(),
                answer.isFinal() ? Bhs.NO_TAG : TEXT_TAG, answer.text());
        if (answer.isFinal()) {
            going.maxSendDataSegmentLength().ifPresent(responses::maxSendBytes);
            text = null;
        }
    }

    private void logout(LogoutRequest request, Bhs bhs) {
        if (!request.immediate()) {
            server.warnings().warn(connection.connection().origin(),
                    session + ": accepted a Logout Request without the I bit");
        }
        switch (request.reason()) {
            case CLOSE_SESSION -> {
                session.takeNoMore();
                var all = new ArrayList<>(session.connections());
                all.addAll(session.lost().all());
                close(request, all, _ -> true);
            }
            case CLOSE_CONNECTION -> {
                FullFeature named = named(request);
                if (!connection.equals(named) && management.isBusy()) { // the initiator can repeat this
                    busy(request, bhs);
                } else if (named == null) {
                    notFound(request);
                } else {
                    close(request, List.of(named), task -> task.connection().equals(named.tasks()));
                }
            }
            case REMOVE_FOR_RECOVERY -> recover(request, bhs);
        }
    }

    /** Returns the connection that a Logout names, open or lost; or null. */
    private @Nullable FullFeature named(LogoutRequest request) {
        FullFeature open = session.connection(request.cid());
        return open == null ? session.lost().waiting(request.cid()) : open;
    }

    /** Closes a connection for recovery, if it is still open; its tasks wait for a new allegiance (section 11.14.1). */
    private void recover(LogoutRequest request, Bhs bhs) {
        FullFeature named = named(request);
        if (session.recoveryLevel() < 2) {
            loggedOut(request, LogoutResponseCode.RECOVERY_NOT_SUPPORTED);
        } else if (named == null) {
            if (management.isBusy()) {
                busy(request, bhs);
            } else {
                notFound(request);
            }
        } else if (named.equals(connection)) {
            connection.connection().happened(new ConnectionEvent.LogoutBegun());
            connection.suspend();
            session.lost().logOut(connection, request.expStatSn());
            loggedOut(request, LogoutResponseCode.SUCCESS);
            connection.connection().happened(new ConnectionEvent.LogoutSucceeded());
        } else {
            if (named.tasks().isOpen()) {
                named.connection().end("removed for recovery through another connection",
                        new ConnectionEvent.Dropped());
            }
            session.lost().logOut(named, request.expStatSn());
            loggedOut(request, LogoutResponseCode.SUCCESS);
        }
    }

    private void busy(LogoutRequest request, Bhs bhs) {
        if (request.immediate()) {
            responses.reject(bhs, RejectReason.TOO_MANY_IMMEDIATE);
        } else {
            loggedOut(request, LogoutResponseCode.CLEANUP_FAILED);
        }
    }

    /**
     * Answers a Logout of a connection that has ended. Its commands may still be running, and the initiator reissues
     * them after the response, which therefore waits for the last of them.
     */
    private void notFound(LogoutRequest request) {
        management.begun();
        var _ = session.awaitAborted(request.cid())
                .thenApply(_ -> LogoutResponseCode.CID_NOT_FOUND)
                .completeOnTimeout(LogoutResponseCode.CLEANUP_FAILED,
                        server.limits().answerTimeoutMs(), TimeUnit.MILLISECONDS)
                .thenAccept(outcome -> connection.inLoop(() -> {
                    management.answered();
                    loggedOut(request, outcome);
                    connection.tasks().flushes().schedule();
                }));
    }

    /**
     * Closes connections. The response states that all their activity has ended (RFC 7143 section 11.15): their tasks
     * end first and, with the last connection, also background copies.
     */
    private void close(LogoutRequest request, List<FullFeature> which, Predicate<Task> tasks) {
        if (which.contains(connection)) {
            connection.connection().happened(new ConnectionEvent.LogoutBegun());
        }
        which.forEach(FullFeature::stopCommands);
        management.begun();
        boolean last = which.containsAll(session.connections())
                && which.containsAll(session.lost().all());
        var _ = session.abort(tasks, _ -> {})
                .thenCompose(_ -> last
                        ? session.loseNexus()
                        : CompletableFuture.completedFuture(null))
                .thenApply(_ -> LogoutResponseCode.SUCCESS)
                .completeOnTimeout(LogoutResponseCode.CLEANUP_FAILED,
                        server.limits().answerTimeoutMs(), TimeUnit.MILLISECONDS)
                .thenAccept(outcome -> connection.inLoop(() -> {
                    management.answered();
                    loggedOut(request, outcome);
                    connection.tasks().flushes().schedule();
                    for (FullFeature closed : which) {
                        if (!closed.equals(connection)) {
                            closed.terminate(null, new ConnectionEvent.SessionClosed());
                        }
                    }
                    if (connection.connection().state() == ConnectionState.IN_LOGOUT) {
                        connection.connection().happened(outcome == LogoutResponseCode.SUCCESS
                                ? new ConnectionEvent.LogoutSucceeded()
                                : new ConnectionEvent.LogoutFailed());
                    }
                }));
    }

    private void loggedOut(LogoutRequest request, LogoutResponseCode response) {
        var parameters = session.login().parameters();
        responses.loggedOut(request.itt(), response.code(), parameters.defaultTime2WaitSeconds(),
                session.time2RetainSeconds());
    }

    /** Reassigns a task; the response precedes all PDUs of the task on this connection (section 7.2.2). */
    private void reassign(TaskManagementRequest request) {
        TaskManagementResponseCode code = session.lost().judge(request);
        responses.managed(request.itt(), code.code(), 0);
        if (code == TaskManagementResponseCode.FUNCTION_COMPLETE) {
            Task task = Objects.requireNonNull(session.lost().find(request.referencedTaskTag()));
            FullFeature from = Objects.requireNonNull(session.lost().loggedOut(task));
            connection.tasks().adopt(task, from.tasks(), request.expDataSn());
        }
    }

    private void manage(TaskManagementRequest request, Bhs bhs) {
        if (management.isBusy()) {
            if (request.immediate()) {
                responses.reject(bhs, RejectReason.TOO_MANY_IMMEDIATE);
            } else {
                responses.managed(request.itt(),
                        TaskManagementResponseCode.FUNCTION_REJECTED.code(),
                        0);
            }
            return;
        }
        Optional<TaskManagementFunction> function = request.knownFunction();
        if (function.isEmpty()) {
            responses.managed(request.itt(),
                    TaskManagementResponseCode.FUNCTION_NOT_SUPPORTED.code(), 0);
            return;
        }
        if (function.get() == TaskManagementFunction.TASK_REASSIGN) {
            reassign(request);
            return;
        }
        management.begun();
        var _ = management.perform(function.get(), request)
                .thenAccept(answer -> connection.inLoop(() -> fenced(function.get(), () -> {
                    management.answered();
                    responses.managed(request.itt(), answer.code().code(), answer.information());
                    connection.tasks().flushes().schedule();
                    if (function.get() == TaskManagementFunction.TARGET_COLD_RESET
                            && answer.code() == TaskManagementResponseCode.FUNCTION_COMPLETE) {
                        Objects.requireNonNull(session.target()).drop("target cold reset");
                    }
                })));
    }

    /**
     * Sends the response of a function that may end tasks of several connections after all their responses (section
     * 4.2.3.3).
     */
    private void fenced(TaskManagementFunction function, Runnable answer) {
        switch (function) {
            case ABORT_TASK_SET, CLEAR_TASK_SET, LOGICAL_UNIT_RESET, TARGET_WARM_RESET,
                    TARGET_COLD_RESET, I_T_NEXUS_RESET ->
                session.tasks().fence().raise(connection.tasks(), answer);
            default -> session.tasks().fence().pass(connection.tasks(), answer);
        }
    }
}
