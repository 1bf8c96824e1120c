package lunar.target;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import lunar.scsi.Bytes;
import lunar.scsi.Cdb;
import lunar.scsi.command.CommandDescriptor;
import lunar.scsi.target.Access;
import lunar.scsi.target.CommandSet;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.PeripheralDevice;
import lunar.scsi.target.ScsiTask;
import lunar.scsi.target.StateStore;
import lunar.scsi.target.UnitContext;
import lunar.scsi.target.UnitSpec;
import lunar.testkit.echo.EchoSpec;

/**
 * An echo device with a vendor-specific command that works, on the executor or as brief work, and counts how often it
 * has.
 */
record WorkingSpec(EchoSpec echo, Executor executor, boolean brief, AtomicInteger worked,
        CountDownLatch hold)
        implements
        UnitSpec {
    @Override
    public Object key() { return echo.key(); }

    @Override
    public StateStore state() { return echo.state(); }

    @Override
    public PeripheralDevice open(LogicalUnit unit, CommandSet commands, UnitContext context)
            throws IOException {
        commands.withDecoder(WorkCdb.OPCODE, _ -> new WorkCdb(),
                new CommandDescriptor("WORK", WorkCdb.OPCODE, OptionalInt.empty(),
                        Bytes.of(new WorkCdb().bytes()), Optional.empty()))
                .on(WorkCdb.class, Access.READ, (task, _) -> work(task));
        return echo.open(unit, commands, context);
    }

    private void work(ScsiTask task) {
        Callable<Consumer<ScsiTask>> work = () -> {
            worked.incrementAndGet();
            hold.await();
            return ScsiTask::good;
        };
        if (brief) {
            task.workBriefly(executor, work);
        } else {
            task.work(executor, work);
        }
    }

    /** A vendor-specific command that works. */
    record WorkCdb() implements Cdb {
        static final int OPCODE = 0xc2;

        @Override
        public int opcode() { return OPCODE; }

        @Override
        public int length() { return 10; }

        @Override
        public Direction direction() { return Direction.NONE; }

        @Override
        public void encode(MemorySegment target) {
            target.asSlice(0, length()).fill((byte) 0);
            target.set(ValueLayout.JAVA_BYTE, 0, (byte) OPCODE);
        }
    }
}
