package lunar.initiator.internal.session;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import lunar.initiator.Timeouts;
import lunar.iscsi.pdu.TargetPdu;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.iscsi.pdu.TaskManagementRequest;
import lunar.iscsi.pdu.TaskManagementResponse;
import lunar.iscsi.pdu.TaskManagementResponseCode;
import lunar.iscsi.spi.EventLoop;
import lunar.scsi.Lun;

/**
 * Reassigns kept tasks to another connection (RFC 7143 sections 7.2.2 and 11.5.1). Confined to the event loop's thread.
 */
final class Reassignment {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");
    private static final int MAX_TRIES = 10;
    private static final long PAUSE_MS = 100;
    /** Grace period for a task whose reassignment was rejected to show that it continues. */
    private static final long GRACE_MS = 2_000;

    private final EventLoop loop;
    private final Tasks tasks;
    private final Allegiance allegiance;
    private final PendingRequests pendingRequests;
    private final Timeouts timeouts;
    private final String target;
    private final Consumer<IOException> end;

    /** @param end ends the session, where the outcome of a task is not known */
    Reassignment(EventLoop loop, Tasks tasks, Allegiance allegiance,
            PendingRequests pendingRequests, Timeouts timeouts,
            String target, Consumer<IOException> end) {
        this.loop = loop;
        this.tasks = tasks;
        this.allegiance = allegiance;
        this.pendingRequests = pendingRequests;
        this.timeouts = timeouts;
        this.target = target;
        this.end = end;
    }

    /** Reassigns a command to this connection, by which the target then continues it; one that it has not kept ends. */
    void reassign(Command command, Connection to) {
        // ExpDataSN, from which on the target continues (section 11.5.6; for a write it counts R2Ts).
        int expDataSn = command.reads()
                ? command.dataInReceiver.expDataSn()
                : command.dataOutPlan.expR2tSn();
        reassign(command.itt, command.lun, expDataSn, tasks.describe(command), to, 1);
    }

    private void reassign(int taskTag, long lun, int expDataSn, String what, Connection to,
            int tries) {
        pendingRequests.ask(new PendingRequest(to, "reassignment of " + what,
                loop.nowMs() + timeouts.abortMs()) {
            @Override
            boolean answered(TargetPdu pdu, MemorySegment data) {
                int code = pdu instanceof TaskManagementResponse answer
                        ? answer.response()
                        : TaskManagementResponseCode.FUNCTION_REJECTED.code();
                if (code == TaskManagementResponseCode.TASK_STILL_ALLEGIANT.code()
                        && tries < MAX_TRIES) {
                    loop.schedule(
                            () -> reassign(taskTag, lun, expDataSn, what, to, tries + 1),
                            PAUSE_MS);
                } else if (code == TaskManagementResponseCode.TASK_DOES_NOT_EXIST.code()) {
                    LOG.log(System.Logger.Level.INFO, "{0}: {1} is not reassigned: {2}", target,
                            what, TaskManagementResponseCode.describe(code));
                    allegiance.lose(to, taskTag,
                            "its connection was lost, and " + target + " has not kept it");
                } else if (code != TaskManagementResponseCode.FUNCTION_COMPLETE.code()) {
                    doubt(TaskManagementResponseCode.describe(code));
                }
                return true;
            }

            @Override
            void failed(IOException why) {
                if (to.isOpen()) {
                    to.end(why);
                } // otherwise the task is lost again with the connection
            }

            // To send a command again that the target may still execute would let it change blocks later, so that
            // nothing less than another session will do. LIO of Linux 6 refuses with these codes, and continues.
            private void doubt(String why) {
                loop.schedule(() -> {
                    if (to.isOpen() && allegiance.isSilent(to, taskTag)) {
                        end.accept(new IOException(
                                target + " does not reassign " + what + ": " + why));
                    }
                }, GRACE_MS);
            }
        }, itt -> new TaskManagementRequest(true, TaskManagementFunction.TASK_REASSIGN.code(),
                new Lun(lun), itt, taskTag, tasks.numbering().current(), to.expStatSn(), 0,
                expDataSn), MemorySegment.NULL);
    }
}
