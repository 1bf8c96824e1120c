package lunar.tcp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
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
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import javax.net.ssl.SSLEngine;
import lunar.iscsi.framing.PduReceiver;
import lunar.iscsi.spi.EventLoop;
import lunar.iscsi.spi.LoopOptions;
import lunar.iscsi.spi.TlsFiles;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.spi.TransportProvider;
import org.jspecify.annotations.Nullable;

/** A group of selector loops, to which connections are assigned round-robin; either all plain, or all with TLS. */
final class TcpLoops implements TransportProvider.Loops {
    private static final System.Logger LOG = System.getLogger("lunar.tcp");
    private static final int BACKLOG = 1024;
    private static final long ACCEPT_PAUSE_MS = 100;

    private final List<SelectorSource> sources = new ArrayList<>();
    private final AtomicInteger turn = new AtomicInteger();
    private final Chunks chunks;
    /** Null for plain connections. */
    private final @Nullable TlsSetup tls;

    TcpLoops(String name, LoopOptions options) throws IOException {
        this(name, options, new Chunks(), null);
    }

    TcpLoops(String name, LoopOptions options, Chunks chunks, @Nullable TlsSetup tls)
            throws IOException {
        this.chunks = chunks;
        this.tls = tls;
        try {
            for (int i = 0; i < options.count(); i++) {
                sources.add(SelectorSource.start(name + "-" + i, options.polling()));
            }
        } catch (IOException | RuntimeException | Error e) {
            sources.forEach(source -> source.loop().stop());
            throw e;
        }
    }

    /** Starts loops whose connections all have TLS. */
    static TcpLoops withTls(String name, LoopOptions options) throws IOException {
        return new TcpLoops(name, options, new Chunks(), new TlsSetup(name));
    }

    private SelectorSource nextSource() {
        return sources.get(Math.floorMod(turn.getAndIncrement(), sources.size()));
    }

    @Override
    public Transport connect(InetSocketAddress portal, int timeoutMs,
            Function<Transport, PduReceiver> receiver) throws IOException {
        return connect(portal, timeoutMs, TlsFiles.NONE, receiver);
    }

    @Override
    public Transport connect(InetSocketAddress portal, int timeoutMs, TlsFiles files,
            Function<Transport, PduReceiver> receiver) throws IOException {
        if (timeoutMs < 1) {
            throw new IllegalArgumentException("invalid timeout: " + timeoutMs + " ms");
        }
        requireOtherThread();
        long startNs = System.nanoTime();
        SSLEngine engine = tls == null ? null : TlsEngines.ofClient(files).client(portal);
        SocketChannel channel = SocketChannel.open();
        var transport = new CompletableFuture<Transport>();
        boolean isAttaching = false; // then the loop closes the channel
        try {
            channel.socket().connect(portal, timeoutMs);
            SelectorSource source = nextSource();
            source.loop().execute(() -> {
                try {
                    Pacing.off(channel);
                    complete(transport, attach(channel, source, receiver, true, engine));
                } catch (IOException | RuntimeException | Error e) {
                    SelectorSource.closeQuietly(channel);
                    transport.completeExceptionally(e);
                }
            });
            isAttaching = true;
            long leftMs = timeoutMs - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
            return transport.get(Math.max(1, leftMs), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failed(portal, transport, e);
        } catch (TimeoutException e) {
            throw failed(portal, transport, engine == null
                    ? e
                    : new SocketTimeoutException("TLS handshake not complete after " + timeoutMs
                            + " ms; check that the portal uses TLS, or raise connect-timeout"));
        } catch (ExecutionException e) {
            throw failed(portal, transport, e.getCause() == null ? e : e.getCause());
        } catch (IOException | RuntimeException e) {
            throw failed(portal, transport, e);
        } finally {
            if (!isAttaching) {
                SelectorSource.closeQuietly(channel);
            }
        }
    }

    /** Completes a connection when it can be used; ends it if its caller has stopped waiting. On the loop's thread. */
    private static void complete(CompletableFuture<Transport> transport, TcpTransport made) {
        var _ = made.established().whenComplete((_, failure) -> {
            if (failure != null) {
                transport.completeExceptionally(failure);
            } else if (!transport.complete(made)) {
                made.end(new IOException("the caller of connect has stopped waiting"));
            }
        });
        var _ = transport.whenComplete((_, failure) -> {
            if (failure != null) {
                made.abort(); // also during the handshake
            }
        });
    }

    /** Refuses a call on a loop's own thread, where waiting for the loop would never end. */
    private void requireOtherThread() {
        if (sources.stream().anyMatch(source -> source.loop().inLoop())) {
            throw new IllegalStateException("blocking call on the thread of an event loop");
        }
    }

    /** Abandons a connection in any stage of its creation. Returns the exception to throw. */
    private static IOException failed(InetSocketAddress portal,
            CompletableFuture<Transport> transport, Throwable cause) {
        if (!transport.cancel(false) && !transport.isCompletedExceptionally()) {
            transport.join().abort(); // made while we gave up
        }
        return cause instanceof IOException own
                ? own
                : new IOException("cannot connect to " + portal, cause);
    }

    private TcpTransport attach(SocketChannel channel, SelectorSource source,
            Function<Transport, PduReceiver> receiver, boolean opener, @Nullable SSLEngine engine)
            throws IOException {
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        TlsLayer layer = tls == null || engine == null ? null : tls.layer(channel, engine);
        TcpTransport transport;
        try {
            transport = new TcpTransport(channel, source, chunks, opener, layer);
        } catch (IOException | RuntimeException e) {
            if (layer != null) {
                layer.end(new IOException("connection closed", e));
            }
            throw e;
        }
        transport.start(receiver);
        return transport;
    }

    /** For tests: output buffers that connections hold. */
    int chunksInUse() {
        return chunks.inUse();
    }

    /** For tests: buffers that TLS layers hold. */
    int tlsBuffersInUse() {
        return tls == null ? 0 : tls.buffersInUse();
    }

    @Override
    public TransportProvider.Listener listen(InetSocketAddress portal,
            Function<Transport, PduReceiver> receiver) throws IOException {
        return listen(portal, TransportProvider.Credentials.NONE, receiver);
    }

    @Override
    public TransportProvider.Listener listen(InetSocketAddress portal,
            TransportProvider.Credentials credentials, Function<Transport, PduReceiver> receiver)
            throws IOException {
        requireOtherThread();
        var engines = new AtomicReference<@Nullable TlsEngines>(engines(credentials));
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
                            channel -> accepted(channel, receiver, engines.get(), isPacingOff)));
                    registered.complete(key);
                } catch (IOException | RuntimeException e) {
                    registered.completeExceptionally(e);
                }
            });
            SelectionKey _ = registered.join();
            var local = (InetSocketAddress) server.getLocalAddress();
            return new Listening(server, source, local, engines);
        } catch (IOException e) {
            server.close();
            throw e;
        } catch (RuntimeException e) {
            server.close();
            throw new IOException("cannot listen on " + portal, e);
        }
    }

    private @Nullable TlsEngines engines(TransportProvider.Credentials credentials) {
        if (tls == null) {
            return null;
        }
        if (credentials instanceof TlsEngines own) {
            return own;
        }
        throw new IllegalArgumentException("a portal with TLS needs its credentials");
    }

    private static void accept(ServerSocketChannel server, SelectionKey acceptKey,
            EventLoop acceptLoop, Consumer<SocketChannel> accepted) {
        try {
            SocketChannel channel;
            while ((channel = server.accept()) != null) {
                accepted.accept(channel);
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
            @Nullable TlsEngines engines, boolean isPacingOff) {
        SelectorSource source = nextSource();
        try {
            source.loop().execute(() -> {
                try {
                    if (!isPacingOff) {
                        Pacing.off(channel);
                    }
                    Transport _ = attach(channel, source, receiver, false,
                            engines == null ? null : engines.server());
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
        if (tls != null) {
            tls.close();
        }
    }

    private record Listening(ServerSocketChannel server, SelectorSource source,
            InetSocketAddress local, AtomicReference<@Nullable TlsEngines> engines)
            implements TransportProvider.Listener {
        @Override
        public void use(TransportProvider.Credentials credentials) {
            if (credentials instanceof TlsEngines own && engines.get() != null) {
                engines.set(own);
            }
        }

        @Override
        public void close() {
            SelectorSource.closeQuietly(server);
            source.letGo(); // until then the kernel continues to accept
        }
    }
}
