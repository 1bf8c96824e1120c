package lunar.iser.connection;

import lunar.iscsi.spi.EventLoop;

/** The loop that polls the completion queues of a connection's endpoint. */
public interface Home {
    EventLoop loop();

    /** Has {@link IserTransport#turnEnd} called when the completions that are there have been handled. */
    void touched(IserTransport connection);

    /** The connection has ended. */
    void remove(IserTransport connection);
}
