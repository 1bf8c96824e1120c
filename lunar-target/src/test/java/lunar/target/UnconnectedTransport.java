package lunar.target;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import lunar.iscsi.framing.Framing;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.spi.Transport;

/** Transport that connects to nothing, with a loop on the calling thread, for tests that need no network. */
abstract class UnconnectedTransport implements Transport, EventLoop {
    private static final InetSocketAddress SOMEWHERE = new InetSocketAddress(
            InetAddress.getLoopbackAddress(), 1);

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
    public void abort() { close(); }

    @Override
    public void execute(Runnable task) { task.run(); }

    @Override
    public boolean inLoop() { return true; }

    @Override
    public long nowMs() { return 0; }
}
