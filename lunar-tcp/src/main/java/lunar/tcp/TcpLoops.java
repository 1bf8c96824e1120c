package lunar.tcp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import lunar.iscsi.framing.PduReceiver;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.spi.LoopOptions;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.spi.TransportProvider;

/** A group of selector loops, to which connections are assigned round-robin. */
final class TcpLoops implements TransportProvider.Loops {
    private static final System.Logger LOG = System.getLogger("lunar.tcp");
    private static final int BACKLOG = 1024;
    private static final long ACCEPT_PAUSE_MS = 100;

    private final List<SelectorSource> sources = new ArrayList<>();
    private final AtomicInteger turn = new AtomicInteger();
    private final Chunks chunks;

    TcpLoops(String name, LoopOptions options) throws IOException {
        this(name, options, new Chunks());
    }

    TcpLoops(String name, LoopOptions options, Chunks chunks) throws IOException {
        this.chunks = chunks;
        try {
            for (int i = 0; i < options.count(); i++) {
                sources.add(SelectorSource.start(name + "-" + i, options.polling()));
            }
        } catch (IOException | RuntimeException | Error e) {
            sources.forEach(source -> source.loop().stop());
            throw e;
        }
    }

    private SelectorSource nextSource() {
        return sources.get(Math.floorMod(turn.getAndIncrement(), sources.size()));
    }

    @Override
    public Transport connect(InetSocketAddress portal, int timeoutMs,
            Function<Transport, PduReceiver> receiver) throws IOException {
        if (timeoutMs < 1) {
            throw new IllegalArgumentException("invalid timeout: " + timeoutMs + " ms");
        }
        requireOtherThread();
        long startNs = System.nanoTime();
        SocketChannel channel = SocketChannel.open();
        var transport = new CompletableFuture<Transport>();
        try {
            channel.socket().connect(portal, timeoutMs);
            SelectorSource source = nextSource();
            source.loop().execute(() -> {
                try {
                    Pacing.off(channel);
                    TcpTransport made = attach(channel, source, receiver, true);
                    if (!transport.complete(made)) {
                        made.end(new IOException("the caller of connect has stopped waiting"));
                    }
                } catch (IOException | RuntimeException | Error e) {
                    transport.completeExceptionally(e);
                }
            });
            long leftMs = timeoutMs - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
            return transport.get(Math.max(1, leftMs), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failed(portal, transport, channel, e);
        } catch (ExecutionException e) {
            throw failed(portal, transport, channel, e.getCause() == null ? e : e.getCause());
        } catch (IOException | TimeoutException | RuntimeException e) {
            throw failed(portal, transport, channel, e);
        }
    }

    /** Refuses a call on a loop's own thread, where waiting for the loop would never end. */
    private void requireOtherThread() {
        if (sources.stream().anyMatch(source -> source.loop().inLoop())) {
            throw new IllegalStateException("blocking call on the thread of an event loop");
        }
    }

    /** Abandons a connection in any stage of its creation. Returns the exception to throw. */
    private static IOException failed(InetSocketAddress portal,
            CompletableFuture<Transport> transport,
            SocketChannel channel, Throwable cause) {
        if (!transport.cancel(false) && !transport.isCompletedExceptionally()) {
            transport.join().abort(); // made while we gave up
        } else {
            SelectorSource.closeQuietly(channel);
        }
        return cause instanceof IOException own
                ? own
                : new IOException("cannot connect to " + portal, cause);
    }

    private TcpTransport attach(SocketChannel channel, SelectorSource source,
            Function<Transport, PduReceiver> receiver, boolean opener) throws IOException {
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        var transport = new TcpTransport(channel, source, chunks, opener);
        transport.start(receiver);
        return transport;
    }

    /** For tests: output buffers that connections hold. */
    int chunksInUse() {
        return chunks.inUse();
    }

    @Override
    public TransportProvider.Listener listen(InetSocketAddress portal,
            Function<Transport, PduReceiver> receiver) throws IOException {
        requireOtherThread();
        ServerSocketChannel server = ServerSocketChannel.open();
        try {
            server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            server.bind(portal, BACKLOG);
            server.configureBlocking(false);
            boolean isPacingOff = Pacing.off(server);
            SelectorSource source = sources.getFirst();
            var registered = new CompletableFuture<SelectionKey>();
            source.loop().execute(() -> {
                try {
                    SelectionKey key = server.register(source.selector(), SelectionKey.OP_ACCEPT);
                    key.attach((SelectorSource.Ready) () -> accept(server, key, source.loop(),
                            receiver, isPacingOff));
                    registered.complete(key);
                } catch (IOException | RuntimeException e) {
                    registered.completeExceptionally(e);
                }
            });
            SelectionKey _ = registered.join();
            var local = (InetSocketAddress) server.getLocalAddress();
            return new Listening(server, source, local);
        } catch (IOException e) {
            server.close();
            throw e;
        } catch (RuntimeException e) {
            server.close();
            throw new IOException("cannot listen on " + portal, e);
        }
    }

    private void accept(ServerSocketChannel server, SelectionKey acceptKey, EventLoop acceptLoop,
            Function<Transport, PduReceiver> receiver, boolean isPacingOff) {
        try {
            SocketChannel channel;
            while ((channel = server.accept()) != null) {
                accepted(channel, receiver, isPacingOff);
            }
        } catch (ClosedChannelException e) {
            // The listener was closed meanwhile, which is no failure.
            LOG.log(System.Logger.Level.DEBUG, "accept: {0}", e.toString());
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

    private void accepted(SocketChannel channel, Function<Transport, PduReceiver> receiver,
            boolean isPacingOff) {
        SelectorSource source = nextSource();
        try {
            source.loop().execute(() -> {
                try {
                    if (!isPacingOff) {
                        Pacing.off(channel);
                    }
                    Transport _ = attach(channel, source, receiver, false);
                } catch (IOException e) {
                    LOG.log(System.Logger.Level.WARNING, "a new connection failed: {0}", e);
                    SelectorSource.closeQuietly(channel);
                } catch (RuntimeException | Error e) {
                    LOG.log(System.Logger.Level.ERROR,
                            "cannot create the receiver of a new connection", e);
                    SelectorSource.closeQuietly(channel);
                }
            });
        } catch (RejectedExecutionException e) {
            SelectorSource.closeQuietly(channel);
        }
    }

    @Override
    public void close() {
        sources.forEach(source -> source.loop().stop());
        // A loop that waits for another, which may wait for it, would wait forever.
        if (sources.stream().noneMatch(source -> source.loop().inLoop())) {
            sources.forEach(source -> source.loop().awaitEnd());
        }
    }

    private record Listening(ServerSocketChannel server, SelectorSource source,
            InetSocketAddress local) implements TransportProvider.Listener {
        @Override
        public void close() {
            SelectorSource.closeQuietly(server);
            source.letGo(); // until then the kernel continues to accept
        }
    }
}
