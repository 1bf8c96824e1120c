package lunar.target;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.iscsi.login.OperationalParameters;
import lunar.iscsi.pdu.Bhs;

/**
 * Transport without a network, with a loop that the test drives: everything runs on the calling thread, immediately.
 */
final class ManualTransport extends UnconnectedTransport {
    private static final int COPY_LIMIT = 8192;

    /** Timers that were set and not cancelled. */
    final List<Runnable> timers = new ArrayList<>();

    /** Opcodes of the PDUs that were sent. */
    final List<Integer> sentOpcodes = new ArrayList<>();

    /** Owners of data that are still to be read: of long ones, since short ones are copied at once. */
    final List<Release> unsent = new ArrayList<>();
    boolean closed;

    /** Whether the calling thread is that of another loop: what is to be done on this one waits in {@link #queued}. */
    boolean elsewhere;
    final List<Runnable> queued = new ArrayList<>();

    /** Tags of commands whose buffers are not accessed any more. */
    final List<Integer> withdrawn = new ArrayList<>();

    /** How many PDUs had been sent when the login agreed on its parameters; -1 before. */
    int sentBeforeAgreement = -1;

    @Override
    public void agreed(OperationalParameters parameters, int commands) {
        sentBeforeAgreement = sentOpcodes.size();
    }

    /** Whether it is taken to move the data of commands itself. */
    boolean places;

    /** Longest data segment that was sent. */
    long longestData;

    @Override
    public boolean placesData() { return places; }

    @Override
    public void withdraw(int itt) { withdrawn.add(itt); }

    @Override
    public void send(MemorySegment header, MemorySegment data, Release release) {
        sentOpcodes.add(new Bhs().wrap(header).opcode());
        longestData = Math.max(longestData, data.byteSize());
        if (data.byteSize() > COPY_LIMIT) {
            unsent.add(release);
        } else {
            release.release();
        }
    }

    @Override
    public void flush() {}

    @Override
    public void close() { closed = true; }

    @Override
    public Timer schedule(Runnable task, long delayMs) {
        timers.add(task);
        return () -> timers.remove(task);
    }

    @Override
    public boolean inLoop() { return !elsewhere; }

    @Override
    public void execute(Runnable task) {
        if (elsewhere) {
            queued.add(task);
        } else {
            task.run();
        }
    }
}
