package lunar.isns;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Predicate;

/** Name server in this process, on a port of the loopback interface. It keeps entities only. */
final class FakeNameServer implements AutoCloseable {
    /** Replaces the response to a request; receives the default response. */
    interface Behaviour extends BiFunction<Message.Request, byte[], byte[]> {}

    private final ServerSocket listener;
    private final Thread acceptor;
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private final BlockingQueue<Message> heard = new LinkedBlockingQueue<>();
    private final Set<String> entities = ConcurrentHashMap.newKeySet();
    private final AtomicInteger connections = new AtomicInteger();
    private volatile Behaviour behaviour = (_, usual) -> usual;

    /** On a free port below those that the system gives away: it is free again when this server has been closed. */
    FakeNameServer() throws IOException {
        this(0);
    }

    /** On a given port. */
    FakeNameServer(int port) throws IOException {
        listener = new ServerSocket();
        for (int tries = 0; !listener.isBound(); tries++) {
            int candidate = port != 0 ? port : ThreadLocalRandom.current().nextInt(20_000, 30_000);
            try {
                listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), candidate));
            } catch (BindException e) {
                if (port != 0 || tries > 100) {
                    throw e;
                }
            }
        }
        acceptor = Thread.ofVirtual().start(this::accept);
    }

    IsnsServer server() { return new IsnsServer("127.0.0.1", listener.getLocalPort()); }

    int connections() { return connections.get(); }

    Set<String> entities() { return entities; }

    void behave(Behaviour other) { behaviour = other; }

    /** Waits for the next message that is so; others are passed over. */
    Message await(String what, Predicate<Message> wanted) throws InterruptedException {
        while (true) {
            Message message = heard.poll(60, TimeUnit.SECONDS);
            assertThat(message).as(what).isNotNull();
            if (wanted.test(message)) {
                return message;
            }
        }
    }

    Message await(int function) throws InterruptedException {
        return await(Functions.name(function), message -> message.function() == function);
    }

    /** Sends a message to all connections. */
    void send(byte[] bytes) throws IOException {
        for (Socket socket : sockets) {
            socket.getOutputStream().write(bytes);
        }
    }

    void dropConnections() throws IOException {
        for (Socket socket : sockets) {
            sockets.remove(socket);
            socket.close();
        }
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket socket = listener.accept();
                sockets.add(socket); // before it counts: then it can be dropped
                connections.incrementAndGet();
                Thread.ofVirtual().start(() -> serve(socket));
            } catch (IOException e) {
                return; // closed
            }
        }
    }

    private void serve(Socket socket) {
        try (socket; var input = new DataInputStream(socket.getInputStream())) {
            var assembler = new MessageAssembler();
            byte[] header = new byte[PduHeader.BYTES];
            while (true) {
                input.readFully(header);
                PduHeader decoded = PduHeader.decode(ByteBuffer.wrap(header));
                byte[] payload = new byte[decoded.lengthBytes()];
                input.readFully(payload);
                for (Message message : assembler.add(decoded, payload).stream().toList()) {
                    if (message instanceof Message.Request request) {
                        socket.getOutputStream()
                                .write(behaviour.apply(request, encode(usual(request))));
                    }
                    heard.add(message);
                }
            }
        } catch (IOException e) {
            sockets.remove(socket); // the other side has gone
        }
    }

    static byte[] encode(Message message) {
        return MessageCodec.encode(message, PduHeader.FROM_SERVER);
    }

    private Message.Response usual(Message.Request request) {
        List<Attribute> named = request.attributes().stream()
                .filter(one -> one instanceof Attribute.Text(int tag, String _)
                        && tag == Tags.ENTITY_IDENTIFIER)
                .limit(1).toList();
        String entity = named.isEmpty() ? "" : ((Attribute.Text) named.getFirst()).value();
        return request.answer(Status.SUCCESSFUL, switch (request.function()) {
            case Functions.DEV_ATTR_REG -> {
                entities.add(entity);
                yield List.of(named.getFirst(), Attribute.DELIMITER, named.getFirst());
            }
            case Functions.DEV_DEREG -> {
                entities.remove(entity);
                yield List.of();
            }
            default -> {
                var answer = new ArrayList<Attribute>(
                        List.of(request.attributes().getFirst(), Attribute.DELIMITER));
                entities.forEach(
                        one -> answer.add(new Attribute.Text(Tags.ENTITY_IDENTIFIER, one)));
                yield answer;
            }
        });
    }

    @Override
    public void close() {
        try {
            listener.close();
            dropConnections();
            acceptor.join(); // the port is free only when nobody waits for connections to it
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
