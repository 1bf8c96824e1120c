package lunar.tcp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import lunar.iscsi.spi.PduReceiver;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.spi.TransportProvider;

/** A group of selector loops; connections are dealt out to them in turn. */
final class TcpLoops implements TransportProvider.Loops {
    private static final System.Logger LOG = System.getLogger("lunar.tcp");
    private static final int BACKLOG = 1024;
    private static final long ACCEPT_PAUSE_MS = 100;

    private final List<SelectorLoop> loops = new ArrayList<>();
    private final AtomicInteger turn = new AtomicInteger();
    private final Chunks chunks = new Chunks();

    TcpLoops(String name, int loopCount) throws IOException {
        for (int i = 0; i < loopCount; i++) {
            loops.add(new SelectorLoop(name + "-" + i));
        }
    }

    private SelectorLoop nextLoop() {
        return loops.get(Math.floorMod(turn.getAndIncrement(), loops.size()));
    }

    @Override
    public Transport connect(InetSocketAddress portal, int timeoutMs,
            Function<Transport, PduReceiver> receiver) throws IOException {
        SocketChannel channel = SocketChannel.open();
        try {
            channel.socket().connect(portal, timeoutMs);
            var transport = new CompletableFuture<Transport>();
            SelectorLoop loop = nextLoop();
            loop.execute(() -> {
                try {
                    transport.complete(attach(channel, loop, receiver));
                } catch (IOException | RuntimeException e) {
                    transport.completeExceptionally(e);
                }
            });
            return transport.get(timeoutMs, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            channel.close();
            throw new IOException("interrupted while connecting to " + portal, e);
        } catch (ExecutionException | TimeoutException e) {
            channel.close();
            throw new IOException("cannot connect to " + portal,
                    e.getCause() == null ? e : e.getCause());
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    private Transport attach(SocketChannel channel, SelectorLoop loop,
            Function<Transport, PduReceiver> receiver) throws IOException {
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        var transport = new TcpTransport(channel, loop, chunks);
        transport.start(receiver.apply(transport));
        return transport;
    }

    @Override
    public TransportProvider.Listener listen(InetSocketAddress portal,
            Function<Transport, PduReceiver> receiver) throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open();
        try {
            server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            server.bind(portal, BACKLOG);
            server.configureBlocking(false);
            SelectorLoop loop = loops.getFirst();
            var registered = new CompletableFuture<SelectionKey>();
            loop.execute(() -> {
                try {
                    SelectionKey key = server.register(loop.selector(), SelectionKey.OP_ACCEPT);
                    key.attach((SelectorLoop.Ready) () -> accept(server, key, loop, receiver));
                    registered.complete(key);
                } catch (IOException e) {
                    registered.completeExceptionally(e);
                }
            });
            registered.join();
            var local = (InetSocketAddress) server.getLocalAddress();
            return new Listening(server, loop, local);
        } catch (IOException e) {
            server.close();
            throw e;
        }
    }

    private void accept(ServerSocketChannel server, SelectionKey acceptKey, SelectorLoop acceptLoop,
            Function<Transport, PduReceiver> receiver) {
        try {
            SocketChannel channel;
            while ((channel = server.accept()) != null) {
                SocketChannel accepted = channel;
                SelectorLoop loop = nextLoop();
                loop.execute(() -> {
                    try {
                        Transport _ = attach(accepted, loop, receiver);
                    } catch (IOException | RuntimeException e) {
                        LOG.log(System.Logger.Level.WARNING, "a new connection failed: {0}",
                                e.toString());
                        SelectorLoop.closeQuietly(accepted);
                    }
                });
            }
        } catch (IOException e) {
            // Out of file descriptors, most likely: the backlog stays readable, so pause instead of spinning.
            LOG.log(System.Logger.Level.WARNING, "cannot accept a connection: {0}", e.toString());
            if (acceptKey.isValid()) {
                acceptKey.interestOps(0);
                acceptLoop.schedule(() -> {
                    if (acceptKey.isValid()) {
                        acceptKey.interestOps(SelectionKey.OP_ACCEPT);
                    }
                }, ACCEPT_PAUSE_MS);
            }
        }
    }

    @Override
    public void close() {
        loops.forEach(SelectorLoop::stop);
        loops.forEach(SelectorLoop::awaitEnd);
    }

    private record Listening(ServerSocketChannel server, SelectorLoop loop,
            InetSocketAddress local) implements TransportProvider.Listener {
        @Override
        public void close() {
            SelectorLoop.closeQuietly(server);
            loop.execute(() -> {}); // the selector lets go of a closed channel at its next turn
        }
    }
}
