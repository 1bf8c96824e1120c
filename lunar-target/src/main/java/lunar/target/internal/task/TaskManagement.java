package lunar.target.internal.task;

import static lunar.iscsi.pdu.TaskManagementResponseCode.AUTHORIZATION_FAILED;
import static lunar.iscsi.pdu.TaskManagementResponseCode.FUNCTION_COMPLETE;
import static lunar.iscsi.pdu.TaskManagementResponseCode.FUNCTION_NOT_SUPPORTED;
import static lunar.iscsi.pdu.TaskManagementResponseCode.FUNCTION_REJECTED;
import static lunar.iscsi.pdu.TaskManagementResponseCode.FUNCTION_SUCCEEDED;
import static lunar.iscsi.pdu.TaskManagementResponseCode.LUN_DOES_NOT_EXIST;
import static lunar.iscsi.pdu.TaskManagementResponseCode.TASK_DOES_NOT_EXIST;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.function.Supplier;
import lunar.iscsi.SerialNumbers;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.iscsi.pdu.TaskManagementRequest;
import lunar.iscsi.pdu.TaskManagementResponseCode;
import lunar.iscsi.spi.EventLoop;
import lunar.scsi.AdditionalSense;
import lunar.scsi.SenseKey;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.LunMap;
import lunar.scsi.target.Nexus;
import lunar.scsi.target.PendingAttention;
import lunar.target.ServerLimits;

/**
 * Performs task management (RFC 7143 section 11.5, RFC 7144, SAM-5 chapter 7). An aborted task that a device executes
 * cannot be recalled: the response waits until the device has completed it, or until the blocks that it may still
 * change are fenced, so that no effect of it is visible after "function complete". If neither happens in time, because
 * a command does work other than device requests, the response is "function rejected". That means that nothing was
 * performed: the commands are answered nevertheless, with ABORTED COMMAND, because their real outcome is not known.
 *
 * <p>Contrary to section 4.2.3.3, the data of tasks aborted with outstanding R2Ts is not waited for: common initiators
 * stop sending at once, and data that does arrive is discarded.
 */
public final class TaskManagement {
    /**
     * Response to a task management function.
     *
     * @param information additional response information, of a query
     */
    public record Answer(TaskManagementResponseCode code, int information) {
        private static final int MORE_THAN_ONE = 0x20;
        private static final int ONE = 0x10;

        static Answer of(TaskManagementResponseCode code) { return new Answer(code, 0); }

        /** Reports a pending unit attention: sense key, codes, and UADE DEPTH (SAM-5 section 7.10). */
        static Answer of(PendingAttention attention) {
            int depth = attention.more() ? MORE_THAN_ONE : ONE;
            return new Answer(FUNCTION_SUCCEEDED,
                    (depth | SenseKey.UNIT_ATTENTION.code()) << 16
                            | attention.oldest().asc() << 8 | attention.oldest().ascq());
        }
    }

    private final TaskSession session;
    private final SessionTasks tasks;
    private final ServerLimits limits;
    private int pendingCount;

    public TaskManagement(TaskSession session, SessionTasks tasks, ServerLimits limits) {
        this.session = session;
        this.tasks = tasks;
        this.limits = limits;
    }

    /** Whether the limit of requests in progress is reached. */
    public boolean isBusy() {
        return pendingCount >= limits.commandsPerSession();
    }

    /** Counts a function, or a logout that waits for tasks to end, as in progress. */
    public void begun() {
        pendingCount++;
    }

    /** Uncounts a function or logout that has been answered. */
    public void answered() {
        pendingCount--;
    }

    /** Performs a function. To be called on the event loop's thread; the future completes on any thread. */
    public CompletableFuture<Answer> perform(TaskManagementFunction function,
            TaskManagementRequest request) {
        if (session.isDiscovery()) {
            return now(FUNCTION_REJECTED);
        }
        if (needsLevel(function) && !session.hasLevel(TaskSession.RFC_7144)) {
            return now(FUNCTION_NOT_SUPPORTED);
        }
        if (endsTasksOfOthers(function, request)) {
            return now(AUTHORIZATION_FAILED);
        }
        return begin(function, request);
    }

    /** Whether a reset by an initiator that is read-only, or cannot access all units, would end tasks of others. */
    private boolean endsTasksOfOthers(TaskManagementFunction function,
            TaskManagementRequest request) {
        LunMap luns = session.nexus().luns();
        return switch (function) {
            case LOGICAL_UNIT_RESET -> {
                LogicalUnit unit = luns.unit(request.lun());
                yield unit != null && luns.isReadOnly(unit);
            }
            case TARGET_WARM_RESET -> luns.units().stream().anyMatch(luns::isReadOnly);
            case TARGET_COLD_RESET -> // ends all sessions, regardless of their LUNs
                luns.units().stream().anyMatch(luns::isReadOnly)
                        || !luns.units().containsAll(session.device().units());
            default -> false; // the other functions affect only their own session
        };
    }

    private CompletableFuture<Answer> begin(TaskManagementFunction function,
            TaskManagementRequest request) {
        return switch (function) {
            case ABORT_TASK -> abortTask(request);
            case QUERY_TASK -> queryTask(request);
            case ABORT_TASK_SET, CLEAR_TASK_SET, LOGICAL_UNIT_RESET, QUERY_TASK_SET,
                    QUERY_ASYNCHRONOUS_EVENT -> {
                LogicalUnit unit = session.nexus().luns().unit(request.lun());
                yield unit == null
                        ? now(LUN_DOES_NOT_EXIST)
                        : afterCommandsBefore(request, () -> onUnit(function, request, unit));
            }
            case TARGET_WARM_RESET, TARGET_COLD_RESET -> {
                // A reset of several units does not have to wait for missing commands (section 4.2.3.4).
                tasks.missing().plugBefore(request.cmdSn());
                yield reset(request, session.nexus().luns().units());
            }
            case I_T_NEXUS_RESET -> afterCommandsBefore(request, () -> resetNexus(request));
            case TASK_REASSIGN -> throw new IllegalStateException("not handled by this class");
            case CLEAR_ACA -> now(FUNCTION_NOT_SUPPORTED); // without NORMACA there is no ACA (SAM-5 section 7.4)
        };
    }

    private static boolean needsLevel(TaskManagementFunction function) {
        return switch (function) {
            case QUERY_TASK, QUERY_TASK_SET, I_T_NEXUS_RESET, QUERY_ASYNCHRONOUS_EVENT -> true;
            default -> false;
        };
    }

    private CompletableFuture<Answer> afterCommandsBefore(TaskManagementRequest request,
            Supplier<CompletableFuture<Answer>> what) {
        CompletableFuture<Void> turn = tasks.missing().awaitBefore(request.cmdSn());
        return turn.isDone() ? what.get() : turn.thenCompose(_ -> what.get()); // on the event loop's thread either way
    }

    private CompletableFuture<Answer> onUnit(TaskManagementFunction function,
            TaskManagementRequest request, LogicalUnit unit) {
        return switch (function) {
            case ABORT_TASK_SET, CLEAR_TASK_SET -> // each nexus has a task set of its own (TST 001b, SAM-5 section 7.5)
                abort(before(request, task -> task.server().equals(unit.server())));
            case LOGICAL_UNIT_RESET -> reset(request, List.of(unit));
            case QUERY_TASK_SET -> now(
                    tasks.all().stream().anyMatch(task -> task.server().equals(unit.server()))
                            ? FUNCTION_SUCCEEDED
                            : FUNCTION_COMPLETE);
            case QUERY_ASYNCHRONOUS_EVENT -> session.nexus().pendingAttention(unit)
                    .map(attention -> CompletableFuture.completedFuture(Answer.of(attention)))
                    .orElseGet(() -> now(FUNCTION_COMPLETE));
            default -> throw new IllegalStateException(function.text());
        };
    }

    private CompletableFuture<Answer> abortTask(TaskManagementRequest request) {
        Task task = tasks.find(request.referencedTaskTag());
        if (task != null && task.lun().equals(request.lun())) {
            return abort(List.of(task));
        }
        return now(
                task == null && isStillToCome(request) ? FUNCTION_COMPLETE : TASK_DOES_NOT_EXIST);
    }

    private CompletableFuture<Answer> queryTask(TaskManagementRequest request) {
        Task task = tasks.find(request.referencedTaskTag());
        if (task != null && task.lun().equals(request.lun())) {
            return now(FUNCTION_SUCCEEDED);
        }
        return now(
                task == null && isStillToCome(request) ? FUNCTION_COMPLETE : TASK_DOES_NOT_EXIST);
    }

    /** Whether the command may still come; it then counts as received, and is ignored when it comes (11.6.1). */
    private boolean isStillToCome(TaskManagementRequest request) {
        return tasks.missing().plug(request.refCmdSn(), request.cmdSn());
    }

    /** Resets units: ends their tasks in every session, with a unit attention for every nexus (SAM-5 section 6.3.3). */
    private CompletableFuture<Answer> reset(TaskManagementRequest request,
            Collection<LogicalUnit> units) {
        var all = new ArrayList<CompletableFuture<Integer>>();
        List<Task> own = before(request, task -> units.stream()
                .anyMatch(unit -> task.server().equals(unit.server())));
        for (LogicalUnit unit : units) {
            all.add(unit.reset().thenApply(_ -> 0));
            for (Nexus nexus : unit.nexuses()) {
                if (nexus.equals(session.nexus())) {
                    all.add(tasks.abort(own::contains, _ -> {}));
                    all.add(unit.cancel(nexus).thenApply(_ -> 0));
                    nexus.establish(unit, AdditionalSense.BUS_DEVICE_RESET_OCCURRED);
                } else {
                    all.add(nexus.abort(unit, AdditionalSense.BUS_DEVICE_RESET_OCCURRED));
                }
            }
        }
        return bounded(all, own);
    }

    /** Acts as if the nexus had been lost (SAM-5 section 7.6). */
    private CompletableFuture<Answer> resetNexus(TaskManagementRequest request) {
        var all = new ArrayList<CompletableFuture<Integer>>();
        List<Task> own = before(request, _ -> true);
        all.add(tasks.abort(own::contains, _ -> {}));
        for (LogicalUnit unit : session.nexus().luns().units()) {
            all.add(unit.nexusLost(session.nexus()).thenApply(_ -> 0));
            session.nexus().establish(unit, AdditionalSense.NEXUS_LOSS_OCCURRED);
        }
        return bounded(all, own);
    }

    /** Returns tasks of this session that were sent before the request. */
    private List<Task> before(TaskManagementRequest request, Predicate<Task> which) {
        return tasks.all().stream().filter(task -> which.test(task)
                && (task.isImmediate()
                        ? SerialNumbers.lessOrEqual(task.cmdSn(), request.cmdSn())
                        : SerialNumbers.lessThan(task.cmdSn(), request.cmdSn())))
                .toList();
    }

    private CompletableFuture<Answer> abort(List<Task> own) {
        return bounded(List.of(tasks.abort(own::contains, _ -> {})), own);
    }

    /**
     * Completes when all have ended, or after the longest time that an initiator may have to wait.
     *
     * @param own tasks of this session that the function aborts
     */
    private CompletableFuture<Answer> bounded(List<CompletableFuture<Integer>> all,
            List<Task> own) {
        var answer = new CompletableFuture<Answer>();
        EventLoop.Timer timer = session.loop().schedule(() -> { // where the tasks of the session end
            if (!answer.isDone()) {
                tasks.owe(own);
                answer.complete(Answer.of(FUNCTION_REJECTED));
            }
        }, limits.answerTimeoutMs());
        var _ = CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
                .thenRun(() -> {
                    timer.cancel();
                    answer.complete(Answer.of(FUNCTION_COMPLETE));
                });
        return answer;
    }

    private static CompletableFuture<Answer> now(TaskManagementResponseCode code) {
        return CompletableFuture.completedFuture(Answer.of(code));
    }
}
