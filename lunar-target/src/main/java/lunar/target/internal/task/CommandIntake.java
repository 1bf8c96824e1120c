package lunar.target.internal.task;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.CommandHeader;
import lunar.iscsi.pdu.RejectReason;
import lunar.iscsi.pdu.TaskAttribute;
import lunar.iscsi.session.CommandWindow;
import lunar.iscsi.transfer.BurstRules;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.target.DeviceServer;
import lunar.scsi.target.LunMap;
import lunar.target.ServerLimits;
import org.jspecify.annotations.Nullable;

/**
 * Receives the SCSI Commands of one connection: checks CmdSN, finds the device server, and creates the task, or reuses
 * a finished one. Confined to the event loop's thread.
 */
final class CommandIntake {
    /** Rejection of the ACA attribute; there is never an ACA condition (SAM-5 sections 5.9 and 8.6). */
    private static final Sense ACA_REFUSED = Sense.of(SenseKey.ILLEGAL_REQUEST,
            new AdditionalSense(0x49, 0x00)); // invalid message error

    /** Number of LUNs that are cached as objects. */
    private static final int LUNS = 64;
    private static final int LUN_NUMBER_SHIFT = 48; // the first of four levels

    private final TaskConnection connection;
    private final TaskSession session;
    private final ServerLimits limits;
    private final BurstRules rules;
    private final ResponseSender responses;
    private final CommandWindow window;
    private final SessionTasks tasks;
    private final CommandHeader command = new CommandHeader();
    private final @Nullable Lun[] luns = new Lun[LUNS];
    private final Deque<Task> idle = new ArrayDeque<>();

    CommandIntake(TaskConnection connection, TaskSession session, SessionTasks tasks,
            ServerLimits limits, BurstRules rules, ResponseSender responses) {
        this.connection = connection;
        this.session = session;
        this.limits = limits;
        this.rules = rules;
        this.responses = responses;
        window = session.window();
        this.tasks = tasks;
    }

    /** Returns the task of a command that has arrived, or null to drop the command. */
    @Nullable
    Task take(Bhs bhs, MemorySegment ahs) throws ProtocolException {
        Task task = admit(bhs, ahs);
        if (task == null) {
            connection.dropped(command.itt());
        }
        return task;
    }

    private @Nullable Task admit(Bhs bhs, MemorySegment ahs) throws ProtocolException {
        if (session.isDiscovery()) {
            throw new ProtocolException(
                    "SCSI command in a discovery session (RFC 7143 section 4.3)");
        }
        command.read(bhs, ahs);
        CommandWindow.Verdict verdict = window.accept(command.cmdSn(), command.immediate());
        if (verdict == CommandWindow.Verdict.IGNORE) {
            return null;
        }
        if (tasks.find(command.itt()) != null) {
            if (verdict == CommandWindow.Verdict.HOLD) {
                window.forget(command.cmdSn());
            } else {
                if (!command.immediate()) {
                    window.finished();
                }
            }
            responses.reject(bhs, RejectReason.TASK_IN_PROGRESS);
            return null;
        }
        if (command.immediate() && !tasks.admitImmediate()) {
            responses.reject(bhs, RejectReason.TOO_MANY_IMMEDIATE);
            return null;
        }
        return take(verdict == CommandWindow.Verdict.DELIVER);
    }

    private Task take(boolean delivered) {
        Lun lun = lun(command.lun());
        LunMap seen = session.nexus().luns(); // which another thread may replace
        DeviceServer server = session.device().server(seen, lun);
        Task kept = idle.poll();
        Task task = kept == null ? new Task(tasks, connection, rules, server) : kept;
        task.begin(command, lun, server, delivered, connection.heardMs());
        tasks.add(task);
        tasks.taskSets().join(task, seen.unit(lun), command.attribute(),
                session.hasLevel(TaskSession.RFC_7144) ? command.priority() : 0);
        if (command.attribute() == TaskAttribute.ACA) {
            task.refuse(ACA_REFUSED);
        } else if (command.write() && Integer.compareUnsigned(command.expectedDataTransferBytes(),
                limits.maxTransferBytes()) > 0) {
            task.refuse(Sense.of(SenseKey.ILLEGAL_REQUEST, AdditionalSense.INVALID_FIELD_IN_CDB));
        } else {
            server.prepare(task);
        }
        return task;
    }

    private Lun lun(long value) {
        int at = (int) (value >>> LUN_NUMBER_SHIFT) & (LUNS - 1);
        Lun known = luns[at];
        if (known == null || known.value() != value) {
            known = new Lun(value);
            luns[at] = known;
        }
        return known;
    }

    /** Keeps a finished task, which nothing refers to any longer, for reuse. */
    void reuse(Task task) {
        if (idle.size() < limits.commandsPerSession()) {
            idle.push(task);
        }
    }
}
