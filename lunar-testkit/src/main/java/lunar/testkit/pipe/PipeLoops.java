package lunar.testkit.pipe;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import lunar.iscsi.framing.PduReceiver;
import lunar.iscsi.spi.LoopOptions;
import lunar.iscsi.spi.Transport;
import lunar.iscsi.spi.TransportProvider;

/** A group of event loops for pipes, and the listeners of this process. */
final class PipeLoops implements TransportProvider.Loops {
    /** A portal, of one kind of pipes. */
    private record Place(String scheme, int port) {}

    private static final Map<Place, Listening> LISTENERS = new ConcurrentHashMap<>();
    private static final int FIRST_PORT = 20_000;
    private static final int PORTS = 40_000;
    private static final AtomicInteger NEXT_PORT = new AtomicInteger();

    private final String scheme;
    private final boolean places;
    private final List<PipeSource> sources = new ArrayList<>();
    private final AtomicInteger turn = new AtomicInteger();
    private final Set<Listening> listening = ConcurrentHashMap.newKeySet();

    PipeLoops(String scheme, String name, LoopOptions options, boolean places) {
        this.scheme = scheme;
        this.places = places;
        for (int i = 0; i < options.count(); i++) {
            sources.add(PipeSource.start(name + "-" + scheme + "-" + i, options.polling()));
        }
    }

    private PipeSource nextSource() {
        return sources.get(Math.floorMod(turn.getAndIncrement(), sources.size()));
    }

    @Override
    public Transport connect(InetSocketAddress portal, int timeoutMs,
            Function<Transport, PduReceiver> receiver) throws IOException {
        Listening at = LISTENERS.get(new Place(scheme, portal.getPort()));
        if (at == null) {
            throw new ConnectException("Connection refused");
        }
        var own = new InetSocketAddress(portal.getAddress(), freePort());
        var near = new PipeTransport(nextSource(), own, portal, places, true);
        var far = new PipeTransport(at.owner().nextSource(), portal, own, places, false);
        near.pairWith(far);
        far.pairWith(near);
        far.begin(at.receiver(), new CompletableFuture<>());
        var begun = new CompletableFuture<Void>();
        near.begin(receiver, begun);
        try {
            begun.get(timeoutMs, TimeUnit.MILLISECONDS);
            return near;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            near.abort();
            throw new IOException("interrupted", e);
        } catch (ExecutionException | TimeoutException e) {
            near.abort();
            throw new IOException("cannot connect to " + portal, e);
        }
    }

    @Override
    public TransportProvider.Listener listen(InetSocketAddress portal,
            Function<Transport, PduReceiver> receiver) throws IOException {
        int port = portal.getPort() == 0 ? freePort() : portal.getPort();
        var made = new Listening(this, new InetSocketAddress(portal.getAddress(), port), receiver);
        if (LISTENERS.putIfAbsent(new Place(scheme, port), made) != null) {
            throw new BindException("port " + port + " is in use");
        }
        listening.add(made);
        return made;
    }

    private static int freePort() {
        return FIRST_PORT + Math.floorMod(NEXT_PORT.getAndIncrement(), PORTS);
    }

    @Override
    public void close() {
        listening.forEach(Listening::close);
        sources.forEach(source -> source.loop().stop());
        sources.forEach(source -> source.loop().awaitEnd());
    }

    /** A portal that is listened on. */
    private record Listening(PipeLoops owner, InetSocketAddress local,
            Function<Transport, PduReceiver> receiver) implements TransportProvider.Listener {
        @Override
        public void close() {
            LISTENERS.remove(new Place(owner.scheme, local.getPort()), this);
            owner.listening.remove(this);
        }
    }
}
