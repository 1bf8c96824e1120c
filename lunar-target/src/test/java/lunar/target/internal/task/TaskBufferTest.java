package lunar.target.internal.task;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import lunar.iscsi.login.OperationalParameters;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.CommandHeader;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.TaskAttribute;
import lunar.iscsi.session.CommandWindow;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.transfer.BurstRules;
import lunar.scsi.Lun;
import lunar.scsi.target.AbsentDeviceServer;
import lunar.scsi.target.Buffers;
import lunar.scsi.target.Nexus;
import lunar.target.ServerLimits;
import org.junit.jupiter.api.Test;

/** A task's memory is given back when neither the transport nor the device uses it any more. */
class TaskBufferTest {
    private final Buffers buffers = new Buffers(1 << 20, 1 << 24, 1 << 20);
    private final CommandQuota quota = new CommandQuota(new CommandWindow(1, 1),
            ServerLimits.DEFAULT, 1);
    private final CommandMemory memory = new CommandMemory(buffers, quota);

    @Test
    void shouldKeepItsBufferWhileDataInAreSentAfterTheLastDataOutWereFetched() throws Exception {
        var bhs = new Bhs().wrap(MemorySegment.ofArray(new byte[Bhs.LENGTH]));
        new ScsiCommand(false, true, true, false, TaskAttribute.SIMPLE, 0, Lun.ZERO, 1, 4096, 1, 0,
                MemorySegment.ofArray(new byte[6]), 0).encode(bhs);
        var command = new CommandHeader();
        command.read(bhs, MemorySegment.NULL);
        var server = new AbsentDeviceServer();
        var task = new Task(new Context(), null, BurstRules.of(OperationalParameters.DEFAULT),
                server);
        task.begin(command, Lun.ZERO, server, false, 0);
        task.data().lendFor(new UnitUsage(quota, null));
        task.data().beginFilling();
        assertThat(task.roomForDataIn(4096)).isNotNull();
        task.hold();
        task.ended();
        task.filled();
        assertThat(buffers.usedBytes()).as("Data-In are being sent").isPositive();
        task.release();
        assertThat(buffers.usedBytes()).isZero();
    }

    /** A session whose loop is the calling thread. */
    private final class Context implements TaskContext, EventLoop {
        @Override
        public Nexus nexus() { throw new AssertionError(); }

        @Override
        public EventLoop loop() { return this; }

        @Override
        public CommandMemory memory() { return memory; }

        @Override
        public int recoveryLevel() { return 0; }

        @Override
        public boolean reportsAborts() { return false; }

        @Override
        public void completed(Task task) { throw new AssertionError(); }

        @Override
        public void letGo(Task task) {}

        @Override
        public void execute(Runnable task) { task.run(); }

        @Override
        public Timer schedule(Runnable task, long delayMs) { throw new AssertionError(); }

        @Override
        public boolean inLoop() { return true; }

        @Override
        public long nowMs() { return 0; }
    }
}
