package lunar.iser.connection;

import lunar.iscsi.spi.EventLoop;

/** The event loop that polls the completion queues of a connection's endpoint. Methods are for its thread. */
public interface Home {
    EventLoop loop();

    /** Has {@link IserTransport#turnEnd} called once the available completions have been handled. */
    void touched(IserTransport connection);

    /** Removes a connection that has ended. */
    void remove(IserTransport connection);
}
