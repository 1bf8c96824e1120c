package lunar.cli.raid.control;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Semaphore;
import lunar.admin.report.VolumeReport;
import lunar.raid.service.RunningVolume;
import lunar.raid.service.VolumeRequest;
import tools.jackson.databind.JsonNode;

/**
 * Handles commands for a volume that this process runs. A request is a line of JSON such as {@code
 * {"command":"replace","slot":"2","uri":"file:new.img"}}; so is its answer, {@code {"ok":true,"status":{...}}} or
 * {@code {"ok":false,"error":"..."}}. One thread per connection.
 */
final class ControlServer implements AutoCloseable {
    /** Bytes of a request. */
    static final int MAX_REQUEST_BYTES = 64 << 10;
    private static final int MAX_CONNECTIONS = 16;
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final System.Logger LOG = System.getLogger("lunar.cli");

    private final Path path;
    private final RunningVolume volume;
    private final ServerSocketChannel listener;
    private final Semaphore free = new Semaphore(MAX_CONNECTIONS);
    private volatile boolean closed;

    private ControlServer(Path path, RunningVolume volume, ServerSocketChannel listener) {
        this.path = path;
        this.volume = volume;
        this.listener = listener;
    }

    /** Starts to listen. The caller has the sole right to run the volume: an existing socket is a dead one. */
    static ControlServer start(Path path, RunningVolume volume) throws IOException {
        Files.deleteIfExists(path);
        ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        boolean done = false;
        try {
            listener.bind(UnixDomainSocketAddress.of(path));
            done = true;
        } finally {
            if (!done) {
                listener.close();
            }
        }
        var server = new ControlServer(path, volume, listener);
        Thread.ofPlatform().daemon().name("lunar-control").start(server::accept);
        return server;
    }

    private void accept() {
        while (!closed) {
            try {
                free.acquire();
                SocketChannel channel = listener.accept();
                Thread.ofVirtual().name("lunar-control-connection").start(() -> serve(channel));
            } catch (ClosedChannelException | InterruptedException _) {
                return;
            } catch (IOException e) {
                free.release();
                LOG.log(System.Logger.Level.WARNING, "{0}: {1}", path, e.getMessage());
            }
        }
    }

    private void serve(SocketChannel channel) {
        try (var lines = new JsonLines(channel, MAX_REQUEST_BYTES)) {
            Optional<JsonNode> request = lines.read(PATIENCE);
            while (request.isPresent()) {
                lines.write(answer(request.get()));
                request = closed ? Optional.empty() : lines.read(PATIENCE);
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "{0}: {1}", path, e.getMessage());
        } finally {
            free.release();
        }
    }

    private Map<String, Object> answer(JsonNode request) {
        var answer = new LinkedHashMap<String, Object>();
        try {
            Map<String, Object> more = obey(request);
            answer.put("ok", true);
            answer.putAll(more);
        } catch (IOException | IllegalArgumentException e) {
            answer.put("ok", false);
            answer.put("error", String.valueOf(e.getMessage()));
        }
        return answer;
    }

    private Map<String, Object> obey(JsonNode request) throws IOException {
        String slot = request.path("slot").asString("");
        String uri = request.path("uri").asString("");
        boolean force = request.path("force").asBoolean(false);
        return switch (request.path("command").asString("")) {
            case "status" -> Map.of("status", VolumeReport.of(volume));
            case "fail" -> done(new VolumeRequest.Fail(slot));
            case "replace" -> slotOf(new VolumeRequest.Replace(slot, uri, force));
            case "add" -> slotOf(new VolumeRequest.Add(uri, force));
            case "remove" -> done(new VolumeRequest.Remove(uri));
            case "grow" -> slotOf(new VolumeRequest.Grow(uri, force));
            case "scrub" -> done(new VolumeRequest.Scrub(request.path("repair").asBoolean(false),
                    OptionalLong.empty()));
            case "stop" -> {
                volume.close();
                yield Map.of();
            }
            default -> throw new IOException("process " + ProcessHandle.current().pid()
                    + ", which runs " + volume + ", does not know the command "
                    + request.path("command") + ": is it an older program?");
        };
    }

    private Map<String, Object> done(VolumeRequest request) throws IOException {
        var _ = request.applyTo(volume);
        return Map.of();
    }

    private Map<String, Object> slotOf(VolumeRequest request) throws IOException {
        return Map.of("slot", request.applyTo(volume).orElse(-1));
    }

    /** Stops accepting connections; those being answered still are. */
    @Override
    public void close() {
        closed = true;
        try {
            listener.close();
            Files.deleteIfExists(path);
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "{0}: {1}", path, e.getMessage());
        }
    }
}
