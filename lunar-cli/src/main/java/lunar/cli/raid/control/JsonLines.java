package lunar.cli.raid.control;

import java.io.EOFException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** JsonReads and writes lines of JSON on a socket, with limits on length and time. Not thread-safe. */
final class JsonLines implements AutoCloseable {
    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    private final SocketChannel channel;
    private final ByteBuffer in;

    /** @param maxBytes of a line that is read */
    JsonLines(SocketChannel channel, int maxBytes) {
        this.channel = channel;
        in = ByteBuffer.allocate(maxBytes).limit(0);
    }

    /**
     * Returns the next line; empty if the other end has closed.
     *
     * @param most timeout, after which the connection is closed
     * @throws SocketTimeoutException if that has happened
     */
    Optional<JsonNode> read(Duration most) throws IOException {
        var deadline = new CompletableFuture<Void>();
        var _ = deadline.orTimeout(most.toMillis(), TimeUnit.MILLISECONDS).exceptionally(_ -> {
            closeQuietly();
            return null;
        });
        try {
            Optional<JsonNode> line = read();
            if (deadline.complete(null)) {
                return line;
            }
            throw late(most, null);
        } catch (ClosedChannelException e) {
            throw deadline.complete(null) ? e : late(most, e);
        } finally {
            deadline.complete(null);
        }
    }

    private static IOException late(Duration most, @Nullable Exception cause) {
        var late = new SocketTimeoutException("nothing received within " + most.toSeconds() + " s");
        late.initCause(cause);
        return late;
    }

    private Optional<JsonNode> read() throws IOException {
        while (true) {
            for (int at = in.position(); at < in.limit(); at++) {
                if (in.get(at) == '\n') {
                    byte[] line = new byte[at - in.position()];
                    in.get(line).get();
                    return Optional.of(parse(new String(line, StandardCharsets.UTF_8)));
                }
            }
            in.compact();
            if (!in.hasRemaining()) {
                throw new IOException("line longer than " + in.capacity() + " bytes");
            }
            int count = channel.read(in);
            in.flip();
            if (count < 0) {
                if (in.hasRemaining()) {
                    throw new EOFException("half a line");
                }
                return Optional.empty();
            }
        }
    }

    private static JsonNode parse(String line) throws IOException {
        try {
            return MAPPER.readTree(line);
        } catch (JacksonException e) {
            throw new IOException("no JSON: " + e.getOriginalMessage(), e);
        }
    }

    /** A value of maps, lists, strings, numbers and booleans as a tree. */
    static JsonNode tree(Object value) {
        return MAPPER.valueToTree(value);
    }

    void write(Object value) throws IOException {
        ByteBuffer out = ByteBuffer
                .wrap((MAPPER.writeValueAsString(value) + "\n").getBytes(StandardCharsets.UTF_8));
        while (out.hasRemaining()) {
            channel.write(out);
        }
    }

    private void closeQuietly() {
        try {
            channel.close();
        } catch (IOException e) {
            System.getLogger("lunar.cli").log(System.Logger.Level.DEBUG, "control socket failed",
                    e);
        }
    }

    @Override
    public void close() { closeQuietly(); }
}
