package lunar.initiator.internal.session;

import java.util.ArrayList;
import java.util.List;
import lunar.block.AbortedException;
import lunar.block.DeviceGoneException;
import lunar.iscsi.SerialNumbers;
import lunar.scsi.Lun;
import org.jspecify.annotations.Nullable;

/**
 * Moves, retries or ends commands at the target that will get no response, because their connection was lost or the
 * target has dropped or terminated them (RFC 7143 sections 4.2.5.2 and 7.2). Confined to the event loop's thread.
 */
final class Allegiance {
    private final Tasks tasks;

    Allegiance(Tasks tasks) { this.tasks = tasks; }

    /**
     * Moves the commands of a lost connection to another, after the target has ended the lost one: commands that it has
     * not received are retransmitted with their CmdSN, which fills the gap (RFC 7143 section 7.2.1).
     *
     * @param reassigns whether the target has kept the tasks that it had received; otherwise they end
     * @return number retransmitted, number ended, and the commands to be reassigned
     */
    Moved move(Connection lost, Connection to, boolean reassigns) {
        int retried = 0;
        var reassigned = new ArrayList<Command>();
        var gone = new ArrayList<Command>();
        var ended = new ArrayList<Command>();
        tasks.lock();
        try {
            for (Command command : tasks.slots().all()) {
                if (command == null || !lost.equals(command.connection)) {
                    continue;
                }
                if (!tasks.numbering().isAcknowledged(command.cmdSn)) {
                    tasks.send(command, to);
                    retried++;
                } else if (reassigns) {
                    command.connection = to;
                    command.state = Command.State.ACTIVE;
                    command.heard = false;
                    command.dataInReceiver.resume();
                    command.dataOutPlan.reassigned(to.maxSendBytes());
                    command.unsentBursts.clear();
                    to.inFlight++;
                    reassigned.add(command);
                } else {
                    gone.add(command);
                }
            }
            for (Command command : gone) {
                fail(command, "its connection was lost");
                if (tasks.finish(command)) {
                    ended.add(command);
                }
            }
        } finally {
            tasks.unlock();
        }
        tasks.flush(to);
        ended.forEach(tasks::complete);
        return new Moved(retried, gone.size(), reassigned);
    }

    /** Outcome of moving the tasks of a lost connection. */
    record Moved(int retried, int ended, List<Command> toReassign) {}

    /** Whether a moved task is still at the target and has received nothing since. */
    boolean isSilent(Connection by, int itt) {
        tasks.lock();
        try {
            Command command = tasks.find(by, itt);
            return command != null && !command.heard;
        } finally {
            tasks.unlock();
        }
    }

    /** Fails a task that could not be moved, if it is still there. */
    void lose(Connection by, int itt, String why) {
        boolean end = false;
        Command command;
        tasks.lock();
        try {
            command = tasks.find(by, itt);
            if (command != null) {
                fail(command, why);
                end = tasks.finish(command);
            }
        } finally {
            tasks.unlock();
        }
        if (command != null && end) {
            tasks.complete(command);
        }
    }

    private void fail(Command command, String why) {
        command.failure = new DeviceGoneException(tasks.describe(command) + ": " + why);
        command.lost = true;
    }

    /** Sends a command again, under its CmdSN, since the target has dropped it (RFC 7143 section 7.8). */
    boolean retry(Connection by, int itt) {
        tasks.lock();
        try {
            Command command = tasks.find(by, itt);
            if (command == null || command.snacks++ >= Command.MAX_SNACKS) {
                return command == null;
            }
            by.inFlight--;
            tasks.send(command, by);
        } finally {
            tasks.unlock();
        }
        tasks.flush(by);
        return true;
    }

    /**
     * Ends all commands at the target for a unit, because the target has terminated them.
     *
     * @param lun null for all units
     * @param beforeCmdSn CmdSN of the first command that is not affected
     * @param asked whether this session has requested it; otherwise devices may retry the commands
     */
    void terminate(@Nullable Lun lun, int beforeCmdSn, boolean asked, String why) {
        var ended = new ArrayList<Command>();
        tasks.lock();
        try {
            for (Command command : tasks.slots().all()) {
                if (command != null && (lun == null || command.lun == lun.value())
                        && SerialNumbers.lessThan(command.cmdSn, beforeCmdSn)) {
                    command.failure = new AbortedException(tasks.describe(command) + ": " + why,
                            null);
                    command.terminated = !asked;
                    if (tasks.finish(command)) {
                        ended.add(command);
                    }
                }
            }
        } finally {
            tasks.unlock();
        }
        ended.forEach(tasks::complete);
    }
}
