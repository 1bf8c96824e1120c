package lunar.rdma.probe;

import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import lunar.rdma.ConnectionHandler;
import lunar.rdma.ConnectionRequest;
import lunar.rdma.EventChannel;
import lunar.rdma.Listener;
import lunar.rdma.ProtectionDomain;
import lunar.rdma.RdmaException;
import org.jspecify.annotations.Nullable;

/** Answers {@link Probe}s: serves one connection at a time, on a thread of its own. */
public final class Responder implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("lunar.rdma");

    private final ProtectionDomain domain;
    private final EventChannel channel;
    private final Listener listener;
    private final ArrayDeque<ConnectionRequest> requests = new ArrayDeque<>();
    private final Thread thread;
    private volatile boolean isClosed;
    private @Nullable RdmaException failure;

    /**
     * @param domain open device, which the caller closes after the responder
     * @param address address to listen on; port 0 picks a free port
     */
    public Responder(ProtectionDomain domain, InetSocketAddress address) throws RdmaException {
        this.domain = domain;
        channel = domain.openChannel();
        boolean listening = false;
        try {
            listener = channel.listen(address, new Requests());
            listening = true;
        } finally {
            if (!listening) {
                channel.close();
            }
        }
        thread = Thread.ofPlatform().name("lunar-rdma-responder").daemon().start(this::run);
    }

    private final class Requests implements ConnectionHandler {
        @Override
        public void requested(ConnectionRequest request) { requests.add(request); }

        @Override
        public void failed(RdmaException cause) { failure = cause; }
    }

    /** Returns the local address, with the actual port. */
    public InetSocketAddress address() {
        return listener.address();
    }

    private void run() {
        try {
            while (!isClosed && failure == null) {
                ConnectionRequest request = requests.poll();
                if (request == null) {
                    channel.await(0);
                } else {
                    serve(request);
                }
            }
        } catch (RdmaException e) {
            failure = e;
        } finally {
            channel.close();
        }
        if (failure != null) {
            LOG.log(System.Logger.Level.ERROR, "RDMA responder stopped: {0}", failure.getMessage());
        }
    }

    /** Serves a connection until it ends. */
    private void serve(ConnectionRequest request) throws RdmaException {
        ProbeTask task = ProbeTask.decode(request.privateData());
        if (task == null) {
            request.reject(new byte[0]);
            return;
        }
        try (ProbeEnd end = ProbeEnd.accept(domain, request, task)) {
            for (long answered = 0; !isClosed && end.isConnected();) {
                end.poll();
                long due = task.isEcho() ? end.received() : end.received() / ProbeEnd.BATCH;
                for (; answered < due; answered++) {
                    end.send(task.isEcho() ? task.messageBytes() : 1);
                }
            }
        } catch (RdmaException e) {
            LOG.log(System.Logger.Level.DEBUG, "connection of {0} failed: {1}", request.peer(),
                    e.getMessage());
        }
    }

    /** Ends the current connection and stops listening. Waits until this is done, even if interrupted. */
    @Override
    public void close() {
        isClosed = true;
        channel.wakeup();
        boolean isInterrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
