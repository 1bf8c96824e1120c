package lunar.target.internal.task;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.login.OperationalParameters;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.CommandHeader;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.TaskAttribute;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.transfer.BurstRules;
import lunar.scsi.Lun;
import lunar.scsi.target.AbsentDeviceServer;
import lunar.scsi.target.Nexus;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;

class TaskTableTest {
    private static final int STEPS = 20_000;

    @Test
    void shouldMatchAMap() throws ProtocolException {
        long seed = Seed.next();
        var random = new Random(seed);
        for (int shift : new int[]{0, 16, 24}) { // hosts count in low bits, in high ones, or scatter their tags
            var table = new TaskTable();
            Map<Integer, Task> model = new HashMap<>();
            for (int i = 0; i < STEPS; i++) {
                Task task = task(random.nextInt(200) << shift ^ random.nextInt(2) << 31);
                if (model.containsKey(task.itt())) {
                    table.remove(task); // another one of this tag: nothing happens
                    assertThat(table.find(task.itt())).as("seed %d", seed)
                            .isSameAs(model.get(task.itt()));
                    table.remove(model.remove(task.itt()));
                } else if (random.nextInt(3) > 0) {
                    table.add(task);
                    model.put(task.itt(), task);
                }
                assertThat(table.find(task.itt())).as("seed %d", seed)
                        .isSameAs(model.get(task.itt()));
                assertThat(table.isEmpty()).isEqualTo(model.isEmpty());
            }
            assertThat(table.all()).as("seed %d", seed)
                    .containsExactlyInAnyOrderElementsOf(model.values());
            model.forEach((itt, task) -> assertThat(table.find(itt)).isSameAs(task));
        }
    }

    private static Task task(int itt) throws ProtocolException {
        var bhs = new Bhs().wrap(MemorySegment.ofArray(new byte[Bhs.LENGTH]));
        new ScsiCommand(false, true, false, false, TaskAttribute.SIMPLE, 0, Lun.ZERO, itt, 0, 1, 0,
                MemorySegment.ofArray(new byte[6]), 0).encode(bhs);
        var command = new CommandHeader();
        command.read(bhs, MemorySegment.NULL);
        var server = new AbsentDeviceServer();
        var task = new Task(new NoSession(), null, BurstRules.of(OperationalParameters.DEFAULT),
                server);
        task.begin(command, Lun.ZERO, server, true, 0);
        return task;
    }

    /** The session of a task that only has a tag. */
    private static final class NoSession implements TaskContext {
        @Override
        public Nexus nexus() { throw new AssertionError(); }

        @Override
        public EventLoop loop() { return null; }

        @Override
        public CommandMemory memory() { return null; }

        @Override
        public int recoveryLevel() { return 0; }

        @Override
        public boolean reportsAborts() { return false; }

        @Override
        public void completed(Task task) { throw new AssertionError(); }

        @Override
        public void letGo(Task task) { throw new AssertionError(); }
    }
}
