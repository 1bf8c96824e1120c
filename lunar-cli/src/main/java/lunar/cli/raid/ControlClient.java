package lunar.cli.raid;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import lunar.block.DeviceUri;
import lunar.raid.run.VolumeSpec;
import tools.jackson.databind.JsonNode;

/** A volume that another process runs (or this one), reached by its socket. For one thread. */
public final class ControlClient implements VolumeControl {
    private static final int MAX_ANSWER_BYTES = 1 << 20;
    /** A device may be opened meanwhile, or a volume stopped. */
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private final Lines lines;

    private ControlClient(SocketChannel channel) { lines = new Lines(channel, MAX_ANSWER_BYTES); }

    /**
     * The volume of a spec, if some process of this user runs it.
     *
     * @param uuid which one, where that is known; else it is known by its name and a member
     */
    public static Optional<VolumeControl> find(VolumeSpec spec, Optional<UUID> uuid)
            throws IOException {
        ControlPlace place = ControlPlace.ofUser();
        for (Path socket : place.sockets()) {
            if (uuid.isPresent() && !socket.equals(place.socket(uuid.get()))) {
                continue;
            }
            Optional<ControlClient> client = connect(socket);
            if (client.isPresent()
                    && (uuid.isPresent() || isMeant(client.get().status(), spec))) {
                return Optional.of(client.get());
            }
            client.ifPresent(ControlClient::close);
        }
        return Optional.empty();
    }

    /** Empty where nobody listens: the process was killed. */
    private static Optional<ControlClient> connect(Path socket) throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.connect(UnixDomainSocketAddress.of(socket));
            return Optional.of(new ControlClient(channel));
        } catch (IOException _) {
            channel.close();
            return Optional.empty();
        }
    }

    private static boolean isMeant(JsonNode status, VolumeSpec spec) {
        if (!status.path("volume").asString("").equals(spec.title())) {
            return false;
        }
        Set<String> uris = new HashSet<>();
        List.of("slots", "spares").forEach(list -> status.path(list)
                .forEach(one -> uris.add(one.path("uri").asString(""))));
        return spec.members().stream().map(DeviceUri::withoutSecret).anyMatch(uris::contains);
    }

    private JsonNode ask(String command, Map<String, Object> more) throws IOException {
        var request = new LinkedHashMap<String, Object>();
        request.put("command", command);
        request.putAll(more);
        lines.write(request);
        JsonNode answer = lines.read(PATIENCE).orElseThrow(
                () -> new IOException("the process that runs the volume has ended"));
        if (!answer.path("ok").asBoolean(false)) {
            throw new IOException(answer.path("error").asString("no answer"));
        }
        return answer;
    }

    @Override
    public JsonNode status() throws IOException { return ask("status", Map.of()).path("status"); }

    @Override
    public void fail(String slot) throws IOException { var _ = ask("fail", Map.of("slot", slot)); }

    @Override
    public int replace(String slot, String uri, boolean force) throws IOException {
        return ask("replace", Map.of("slot", slot, "uri", uri, "force", force)).path("slot")
                .asInt(-1);
    }

    @Override
    public int add(String name, boolean force) throws IOException {
        return ask("add", Map.of("uri", name, "force", force)).path("slot").asInt(-1);
    }

    @Override
    public void remove(String name) throws IOException {
        var _ = ask("remove", Map.of("uri", name));
    }

    @Override
    public int grow(String uri, boolean force) throws IOException {
        return ask("grow", Map.of("uri", uri, "force", force)).path("slot").asInt(-1);
    }

    @Override
    public void scrub(boolean repair) throws IOException {
        var _ = ask("scrub", Map.of("repair", repair));
    }

    @Override
    public void stop() throws IOException { var _ = ask("stop", Map.of()); }

    @Override
    public boolean isElsewhere() { return true; }

    @Override
    public void close() { lines.close(); }
}
