package lunar.target;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import lunar.iscsi.Bhs;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.spi.Framing;
import lunar.iscsi.spi.Transport;

/** A transport without a network, and its loop, which a test drives: everything runs on the calling thread, at once. */
final class ManualTransport implements Transport, EventLoop {
    private static final int COPY_LIMIT = 8192;
    private static final InetSocketAddress SOMEWHERE = new InetSocketAddress(
            InetAddress.getLoopbackAddress(), 1);

    /** Timers that were set and not cancelled. */
    final List<Runnable> timers = new ArrayList<>();

    /** Opcodes of the PDUs that were sent. */
    final List<Integer> sentOpcodes = new ArrayList<>();

    /** Owners of data that are still to be read: of long ones, since short ones are copied at once. */
    final List<Release> unsent = new ArrayList<>();
    boolean closed;

    @Override
    public void send(MemorySegment header, MemorySegment data, Release release) {
        sentOpcodes.add(new Bhs().wrap(header).opcode());
        if (data.byteSize() > COPY_LIMIT) {
            unsent.add(release);
        } else {
            release.release();
        }
    }

    @Override
    public void flush() {}

    @Override
    public long queuedBytes() { return 0; }

    @Override
    public void framing(Framing framing) {}

    @Override
    public EventLoop loop() { return this; }

    @Override
    public void moveTo(EventLoop other, Runnable then) { then.run(); }

    @Override
    public InetSocketAddress remote() { return SOMEWHERE; }

    @Override
    public InetSocketAddress local() { return SOMEWHERE; }

    @Override
    public void reading(boolean on) {}

    @Override
    public void close() { closed = true; }

    @Override
    public void execute(Runnable task) { task.run(); }

    @Override
    public Timer schedule(Runnable task, long delayMs) {
        timers.add(task);
        return () -> timers.remove(task);
    }

    @Override
    public boolean inLoop() { return true; }

    @Override
    public long nowMs() { return 0; }
}
