package lunar.initiator.internal.session;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiFunction;
import lunar.block.AbortedException;
import lunar.block.DeviceGoneException;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import lunar.initiator.Exchange;
import lunar.initiator.ScsiResult;
import lunar.initiator.Task;
import lunar.initiator.internal.retry.SenseMapping;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.pdu.TargetPdu;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.iscsi.pdu.TaskManagementRequest;
import lunar.iscsi.pdu.TaskManagementResponse;
import lunar.iscsi.pdu.TaskManagementResponseCode;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.text.TextKeys;
import lunar.scsi.Lun;
import org.jspecify.annotations.Nullable;

/** Starts exchanges as tasks. */
final class Exchanges {
    private final EventLoop loop;
    private final Tasks tasks;
    private final Allegiance allegiance;
    private final ResetWatch resets;
    private final PendingRequests pendingRequests;
    private final Control control;
    private final Connections connections;
    private final int abortMs;

    /** @param abortMs for the answer to a task management function */
    Exchanges(EventLoop loop, Tasks tasks, Allegiance allegiance, ResetWatch resets,
            PendingRequests pendingRequests, Control control, Connections connections,
            int abortMs) {
        this.loop = loop;
        this.tasks = tasks;
        this.allegiance = allegiance;
        this.resets = resets;
        this.abortMs = abortMs;
        this.pendingRequests = pendingRequests;
        this.control = control;
        this.connections = connections;
    }

    /** A task of any kind. */
    private abstract class Running<R> implements Task<R> {
        private final Exchange<R> exchange;
        final CompletableFuture<R> end = new CompletableFuture<>();

        Running(Exchange<R> exchange) { this.exchange = exchange; }

        @Override
        public Exchange<R> exchange() { return exchange; }

        @Override
        public R await() throws StorageException {
            if (!end.isDone()) {
                tasks.dispatcher().refuseOnLoop();
            }
            try {
                return end.join();
            } catch (CompletionException e) {
                throw e.getCause() instanceof StorageException failure
                        ? failure
                        : new DeviceGoneException(exchange + ": " + e.getMessage(), e.getCause());
            }
        }

        @Override
        public CompletableFuture<R> future() { return end.copy(); }
    }

    // --- SCSI commands ---

    private final class Commanded extends Running<ScsiResult> {
        private final Command command;

        Commanded(Exchange.Scsi asked) {
            super(asked);
            command = tasks.take();
            command.prepare(asked.lun().value(), asked.dataIn(), asked.dataOut(), this::ended);
            command.owner = this;
            command.cdb.fill((byte) 0);
            MemorySegment.copy(asked.cdb().segment(), 0, command.cdb, 0, asked.cdb().length());
            command.cdbLength = asked.cdb().length();
            if (asked.timeoutMs() > 0) {
                command.patienceMs = asked.timeoutMs();
            }
        }

        private void ended(Command done) {
            StorageException failure = done.failure;
            if (failure == null && done.response != ScsiResponse.COMPLETED) {
                failure = SenseMapping.targetFailure(done.response, tasks.describe(done));
            }
            ScsiResult result = done.result();
            tasks.give(done);
            if (failure == null) {
                end.complete(result);
            } else {
                end.completeExceptionally(failure);
            }
        }

        @Override
        public State state() {
            return end.isDone() ? State.DONE : switch (tasks.state(command, this)) {
                case IDLE -> State.DONE;
                case WAITING, RESTING -> State.WAITING;
                case ACTIVE -> State.SENT;
                case ABORTING, LOST, RELEASING -> State.ENDING;
            };
        }

        @Override
        public CompletableFuture<Boolean> cancel() {
            var settled = new CompletableFuture<Boolean>();
            if (tasks.cancel(command, this)) {
                run(() -> abort(settled), settled);
            } else {
                stopped(settled);
            }
            return settled;
        }

        /** Aborts the command; on the event loop's thread, where it also ends and so is not reused before. */
        private void abort(CompletableFuture<Boolean> settled) {
            if (!end.isDone()) {
                control.abort(command, new AbortedException(tasks.describe(command)
                        + ": cancelled"));
            }
            stopped(settled);
        }

        private void stopped(CompletableFuture<Boolean> settled) {
            var _ = end.whenComplete(
                    (_, failure) -> settled.complete(failure instanceof AbortedException));
        }
    }

    // --- other questions ---

    private final class Asked<R> extends Running<R> {
        private @Nullable PendingRequest pending;

        Asked(Exchange<R> exchange) { super(exchange); }

        @Override
        public State state() { return end.isDone() ? State.DONE : State.SENT; }

        /** Stops waiting for the answer: no PDU cancels the request at the target. */
        @Override
        public CompletableFuture<Boolean> cancel() {
            var settled = new CompletableFuture<Boolean>();
            run(() -> {
                PendingRequest asked = pending;
                if (asked != null && !end.isDone()) {
                    pendingRequests.forget(asked);
                }
                settled.complete(end.completeExceptionally(
                        new AbortedException(exchange() + " is cancelled")));
            }, settled);
            return settled;
        }

        void fail(IOException why) {
            end.completeExceptionally(
                    new DeviceGoneException(exchange() + ": " + why.getMessage(), why));
        }

        /** Sends the request over the first connection. */
        void ask(BiFunction<Asked<R>, Connection, @Nullable PendingRequest> how) {
            run(() -> {
                if (tasks.connections().isEmpty()) {
                    fail(new IOException("the session has no connection"));
                } else {
                    pending = how.apply(this, tasks.connections().getFirst());
                }
            }, end);
        }
    }

    private void run(Runnable what, CompletableFuture<?> end) {
        try {
            loop.execute(what);
        } catch (RejectedExecutionException e) {
            end.completeExceptionally(new DeviceGoneException("the initiator is closed", e));
        }
    }

    @SuppressWarnings("unchecked") // each kind has its own type of result
    <R> Task<R> start(Exchange<R> exchange) {
        return (Task<R>) switch (exchange) {
            case Exchange.Scsi scsi -> start(scsi);
            case Exchange.Ping ping -> start(ping);
            case Exchange.Manage manage -> start(manage);
            case Exchange.Text text -> start(text);
            case Exchange.Logout logout -> {
                var asked = new Asked<Void>(logout);
                var _ = connections.over().thenRun(() -> asked.end.complete(null));
                run(connections::logOut, asked.end);
                yield asked;
            }
        };
    }

    private Task<ScsiResult> start(Exchange.Scsi scsi) {
        var task = new Commanded(scsi);
        if (isUsable(scsi.dataIn()) && isUsable(scsi.dataOut())) {
            tasks.submit(task.command);
        } else {
            task.command.failure = new InvalidRequestException(
                    scsi + ": a buffer's arena is closed, or confined to a thread");
            tasks.complete(task.command);
        }
        return task;
    }

    private static boolean isUsable(MemorySegment buffer) {
        return buffer.byteSize() == 0 || BounceBuffers.isShared(buffer);
    }

    private Task<Long> start(Exchange.Ping ping) {
        var task = new Asked<Long>(ping);
        task.ask((asked, by) -> {
            long begunNanos = System.nanoTime();
            return control.ping(by,
                    () -> asked.end.complete(System.nanoTime() - begunNanos), asked::fail);
        });
        return task;
    }

    private Task<TextKeys> start(Exchange.Text text) {
        var task = new Asked<TextKeys>(text);
        task.ask((asked, by) -> control.text(by, text.keys(), asked.end::complete, asked::fail));
        return task;
    }

    private Task<TaskManagementResponseCode> start(Exchange.Manage manage) {
        var task = new Asked<TaskManagementResponseCode>(manage);
        task.ask((asked, first) -> {
            Command referenced = manage.task().map(each -> ((Commanded) each).command).orElse(null);
            if (referenced != null && manage.task().get().state() == Task.State.DONE) {
                asked.end.complete(TaskManagementResponseCode.TASK_DOES_NOT_EXIST);
                return null;
            }
            // The function goes over the connection of its task (RFC 7143 section 11.5.1).
            Connection own = referenced == null ? null : referenced.connection;
            Connection by = own == null ? first : own;
            int taskTag = referenced == null ? Bhs.NO_TAG : referenced.itt;
            int refCmdSn = referenced == null ? 0 : referenced.cmdSn;
            int cmdSn = tasks.numbering().current();
            var pending = new PendingRequest(by, manage.function().text(),
                    loop.nowMs() + abortMs) {
                @Override
                boolean answered(TargetPdu pdu, MemorySegment data) {
                    var code = pdu instanceof TaskManagementResponse answer
                            ? TaskManagementResponseCode.of(answer.response())
                                    .orElse(TaskManagementResponseCode.FUNCTION_REJECTED)
                            : TaskManagementResponseCode.FUNCTION_REJECTED;
                    if (code == TaskManagementResponseCode.FUNCTION_COMPLETE) {
                        clear(manage, referenced, taskTag, by, cmdSn);
                    } else {
                        notDone(manage);
                    }
                    asked.end.complete(code);
                    return true;
                }

                @Override
                boolean endsTasksOf(Lun lun) {
                    return switch (manage.function()) {
                        case ABORT_TASK_SET, CLEAR_TASK_SET, LOGICAL_UNIT_RESET -> manage.lun()
                                .equals(lun);
                        case TARGET_WARM_RESET, TARGET_COLD_RESET, I_T_NEXUS_RESET -> true;
                        default -> false;
                    };
                }

                @Override
                int beforeCmdSn() { return cmdSn; }

                @Override
                void failed(IOException why) { asked.fail(why); }
            };
            switch (manage.function()) {
                case LOGICAL_UNIT_RESET -> resets.asked(manage.lun());
                case TARGET_WARM_RESET -> resets.askedForAll();
                default -> { // a cold reset is a power on (SAM-5 section 7.9)
                }
            }
            pendingRequests.ask(pending, itt -> new TaskManagementRequest(true,
                    manage.function().code(), manage.lun(), itt, taskTag, cmdSn, by.expStatSn(),
                    refCmdSn, 0), MemorySegment.NULL);
            return pending;
        });
        return task;
    }

    private void notDone(Exchange.Manage manage) {
        switch (manage.function()) {
            case LOGICAL_UNIT_RESET -> resets.refused(manage.lun());
            case TARGET_WARM_RESET -> resets.refusedForAll();
            default -> { // no reset was noted for the others
            }
        }
    }

    /** Ends tasks that the target has ended, and therefore does not answer (RFC 7143 section 4.2.3.3). */
    private void clear(Exchange.Manage manage, @Nullable Command referenced, int taskTag,
            Connection by, int cmdSn) {
        TaskManagementFunction function = manage.function();
        switch (function) {
            case ABORT_TASK -> {
                if (referenced != null) {
                    tasks.fail(by, taskTag, new AbortedException(function.text()));
                }
            }
            case ABORT_TASK_SET, CLEAR_TASK_SET, LOGICAL_UNIT_RESET ->
                allegiance.terminate(manage.lun(), cmdSn, true, function.text());
            case TARGET_WARM_RESET, TARGET_COLD_RESET, I_T_NEXUS_RESET ->
                allegiance.terminate(null, cmdSn, true, function.text());
            case CLEAR_ACA, TASK_REASSIGN, QUERY_TASK, QUERY_TASK_SET,
                    QUERY_ASYNCHRONOUS_EVENT ->
                {
                }
        }
    }
}
