package lunar.isns;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a name server. One thread sends requests sequentially; a reader thread receives messages, and answers
 * requests of the name server (ESI and SCN). Any error closes the connection, including a response timeout, which also
 * ends hanging reads and writes. {@link #close} may be called by any thread.
 */
final class IsnsConnection implements AutoCloseable {
    /** Most unsolicited messages of a name server between two requests of ours. */
    static final int MAX_UNASKED = 1_000;

    private record Pending(Message.Request request, CompletableFuture<Message.Response> answer) {}

    private final IsnsServer server;
    private final IsnsTiming timing;
    private final Runnable lost;
    private final Socket socket = new Socket();
    private final ReentrantLock writing = new ReentrantLock();
    private final AtomicReference<@Nullable Pending> pending = new AtomicReference<>();
    private final AtomicReference<@Nullable IOException> failure = new AtomicReference<>();
    private final AtomicInteger unasked = new AtomicInteger();
    private int transaction;

    /**
     * Creates an unconnected connection.
     *
     * @param lost runs once, on any thread, when the connection has ended by itself
     */
    IsnsConnection(IsnsServer server, IsnsTiming timing, Runnable lost) {
        this.server = server;
        this.timing = timing;
        this.lost = lost;
    }

    /** Connects and begins to read. */
    void open() throws IOException {
        socket.setTcpNoDelay(true);
        socket.connect(server.address(), Math.toIntExact(timing.connect().toMillis()));
        if (socket.getLocalSocketAddress().equals(socket.getRemoteSocketAddress())) {
            throw new IOException("nothing listens at this address"); // TCP connects a port to itself, too
        }
        InputStream input = socket.getInputStream();
        Thread.ofVirtual().name("lunar-isns-reader").start(() -> read(input));
    }

    /** Our address of it. */
    InetAddress localAddress() { return socket.getLocalAddress(); }

    /** Throws if the connection has ended. */
    void requireOpen() throws IOException {
        IOException why = failure.get();
        if (why != null) {
            throw new IOException(why.getMessage(), why);
        }
    }

    /**
     * Creates a request and waits for its answer.
     *
     * @throws IsnsException.Refused where the status is another than 0
     */
    Message.Response exchange(Message.Request request) throws IOException {
        requireOpen();
        transaction = transaction % 0xffff + 1;
        Message.Request sent = request.withTransaction(transaction);
        var answer = new CompletableFuture<Message.Response>();
        pending.set(new Pending(sent, answer));
        unasked.set(0);
        CompletableFuture<Message.Response> inTime = answer
                .orTimeout(timing.answer().toMillis(), TimeUnit.MILLISECONDS)
                .whenComplete((_, problem) -> {
                    if (problem instanceof TimeoutException) {
                        fail(new IsnsException("no response to "
                                + Functions.name(request.function()) + " within "
                                + timing.answer().toMillis() + " ms"));
                    }
                });
        try {
            write(sent);
            Message.Response response = inTime.join();
            if (response.status() != Status.SUCCESSFUL) {
                throw new IsnsException.Refused(request.function(), response.status());
            }
            return response;
        } catch (CompletionException e) {
            requireOpen();
            throw new IOException("the connection ended", e);
        } catch (IOException e) {
            requireOpen(); // the first failure is more informative
            throw e;
        } finally {
            pending.set(null);
        }
    }

    private void write(Message message) throws IOException {
        byte[] bytes = MessageCodec.encode(message, PduHeader.FROM_CLIENT);
        writing.lock();
        try {
            socket.getOutputStream().write(bytes);
        } finally {
            writing.unlock();
        }
    }

    private void read(InputStream input) {
        try (var data = new DataInputStream(new BufferedInputStream(input))) {
            var assembler = new MessageAssembler();
            byte[] header = new byte[PduHeader.BYTES];
            while (true) {
                data.readFully(header);
                PduHeader decoded = PduHeader.decode(ByteBuffer.wrap(header));
                byte[] payload = new byte[decoded.lengthBytes()];
                data.readFully(payload);
                var message = assembler.add(decoded, payload);
                if (message.isPresent()) {
                    take(message.get());
                }
            }
        } catch (EOFException e) {
            fail(new IOException("the iSNS server has closed the connection", e));
        } catch (IOException e) {
            fail(e);
        } catch (RuntimeException e) { // a bug of ours: the registration continues with another connection
            fail(new IOException("reading from the iSNS server failed: " + e, e));
        }
    }

    private void take(Message message) throws IOException {
        switch (message) {
            case Message.Response response -> {
                Pending waiting = pending.get();
                if (waiting != null && response.transaction() == waiting.request.transaction()) {
                    int expected = waiting.request.function() | Functions.RESPONSE;
                    if (response.function() != expected) {
                        throw new IsnsException(Functions.name(response.function())
                                + " answers " + Functions.name(waiting.request.function()));
                    }
                    waiting.answer.complete(response);
                } else {
                    countUnasked();
                }
            }
            case Message.Request request -> {
                countUnasked();
                answer(request);
            }
        }
    }

    private void countUnasked() throws IsnsException {
        if (unasked.incrementAndGet() > MAX_UNASKED) {
            throw new IsnsException("the iSNS server sent more than " + MAX_UNASKED
                    + " unsolicited messages");
        }
    }

    private void answer(Message.Request request) throws IOException {
        switch (request.function()) {
            // With the attributes of the request (section 5.7.5.13).
            case Functions.ESI -> write(request.answer(Status.SUCCESSFUL, request.attributes()));
            // With the name of the node that was told (section 5.7.5.8).
            case Functions.SCN -> write(request.answer(Status.SUCCESSFUL, request.attributes()
                    .stream().filter(one -> one.tag() == Tags.NODE_NAME).limit(1).toList()));
            case Functions.HEARTBEAT -> {
                // has no answer (section 5.6.5.14)
            }
            default -> write(request.answer(Status.MESSAGE_NOT_SUPPORTED, List.of()));
        }
    }

    private void fail(IOException why) {
        if (end(why)) {
            lost.run();
        }
    }

    private boolean end(IOException why) {
        if (!failure.compareAndSet(null, why)) {
            return false;
        }
        closeSocket();
        Pending waiting = pending.get();
        if (waiting != null) {
            waiting.answer.completeExceptionally(why);
        }
        return true;
    }

    private void closeSocket() {
        try {
            socket.close();
        } catch (IOException e) {
            System.getLogger("lunar.isns").log(System.Logger.Level.DEBUG,
                    "cannot close the connection to " + server, e);
        }
    }

    @Override
    public void close() { end(new IOException("the connection is closed")); }
}
