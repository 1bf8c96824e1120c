package lunar.target;

import static lunar.iscsi.TaskManagementResponseCode.FUNCTION_COMPLETE;
import static lunar.iscsi.TaskManagementResponseCode.FUNCTION_NOT_SUPPORTED;
import static lunar.iscsi.TaskManagementResponseCode.FUNCTION_REJECTED;
import static lunar.iscsi.TaskManagementResponseCode.LUN_DOES_NOT_EXIST;
import static lunar.iscsi.TaskManagementResponseCode.REASSIGNMENT_NOT_SUPPORTED;
import static lunar.iscsi.TaskManagementResponseCode.TASK_DOES_NOT_EXIST;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import lunar.iscsi.TaskManagementFunction;
import lunar.iscsi.TaskManagementRequest;
import lunar.iscsi.TaskManagementResponseCode;
import lunar.scsi.AdditionalSense;
import lunar.target.device.LogicalUnit;
import lunar.target.device.Nexus;

/**
 * Task management (RFC 7143 section 11.5, SAM-5 chapter 7). An aborted task that a device is executing cannot be
 * called back: the answer waits until the device has ended it, so that no write lands after "function complete",
 * and says "function rejected" if that takes too long.
 */
final class TaskManagement {
    private final FullFeature connection;
    private final Session session;
    private final ServerLimits limits;

    TaskManagement(FullFeature connection, Session session, ServerLimits limits) {
        this.connection = connection;
        this.session = session;
        this.limits = limits;
    }

    CompletableFuture<TaskManagementResponseCode> perform(TaskManagementFunction function,
            TaskManagementRequest request) {
        TargetNode target = session.target();
        if (target == null) {
            return CompletableFuture.completedFuture(FUNCTION_REJECTED);
        }
        LogicalUnit unit = target.device().unit(request.lun());
        boolean needsUnit = switch (function) {
            case ABORT_TASK_SET, CLEAR_TASK_SET, LOGICAL_UNIT_RESET -> true;
            default -> false;
        };
        if (needsUnit && unit == null) {
            return CompletableFuture.completedFuture(LUN_DOES_NOT_EXIST);
        }
        return switch (function) {
            case ABORT_TASK -> abortTask(request);
            case ABORT_TASK_SET ->
                bounded(List.of(session.nexus().abort(Objects.requireNonNull(unit))));
            case CLEAR_TASK_SET ->
                bounded(everywhere(target, List.of(Objects.requireNonNull(unit)),
                        AdditionalSense.COMMANDS_CLEARED_BY_ANOTHER_INITIATOR, true));
            case LOGICAL_UNIT_RESET ->
                reset(target, List.of(Objects.requireNonNull(unit)));
            case TARGET_WARM_RESET, TARGET_COLD_RESET -> reset(target, target.device().units());
            case TASK_REASSIGN -> CompletableFuture.completedFuture(REASSIGNMENT_NOT_SUPPORTED);
            case CLEAR_ACA, QUERY_TASK, QUERY_TASK_SET, I_T_NEXUS_RESET, QUERY_ASYNCHRONOUS_EVENT ->
                CompletableFuture.completedFuture(FUNCTION_NOT_SUPPORTED);
        };
    }

    private CompletableFuture<TaskManagementResponseCode> abortTask(TaskManagementRequest request) {
        Task task = connection.task(request.referencedTaskTag());
        if (task == null || !task.lun.equals(request.lun())) {
            return CompletableFuture.completedFuture(TASK_DOES_NOT_EXIST);
        }
        return bounded(List.of(connection.abort(one -> one.equals(task))));
    }

    /** Every nexus hears of a reset, the one that asked for it too (SAM-5 section 7.7). */
    private CompletableFuture<TaskManagementResponseCode> reset(TargetNode target,
            Collection<LogicalUnit> units) {
        var aborts = everywhere(target, units, AdditionalSense.BUS_DEVICE_RESET_OCCURRED, false);
        for (LogicalUnit unit : units) {
            session.nexus().establish(unit, AdditionalSense.BUS_DEVICE_RESET_OCCURRED);
            unit.reset();
        }
        return bounded(aborts);
    }

    /** Aborts the tasks of units in every session; the other sessions hear of it by a unit attention. */
    private List<CompletableFuture<Integer>> everywhere(TargetNode target,
            Collection<LogicalUnit> units, AdditionalSense attention, boolean onlyWhereAborted) {
        var all = new ArrayList<CompletableFuture<Integer>>();
        for (LogicalUnit unit : units) {
            for (Nexus other : target.device().nexuses()) {
                boolean tell = !other.equals(session.nexus());
                if (tell && !onlyWhereAborted) {
                    other.establish(unit, attention); // before what it sends next
                }
                all.add(other.abort(unit).thenApply(count -> {
                    if (tell && onlyWhereAborted && count > 0) {
                        other.establish(unit, attention);
                    }
                    return count;
                }));
            }
        }
        return all;
    }

    private CompletableFuture<TaskManagementResponseCode> bounded(
            List<CompletableFuture<Integer>> all) {
        return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
                .thenApply(_ -> FUNCTION_COMPLETE)
                .completeOnTimeout(FUNCTION_REJECTED, limits.abortTimeoutMs(),
                        TimeUnit.MILLISECONDS);
    }
}
