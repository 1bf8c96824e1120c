package lunar.cli.raid.control;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import lunar.block.DeviceUri;
import lunar.raid.service.VolumeOwner;
import lunar.raid.service.VolumeSpec;
import tools.jackson.databind.JsonNode;

/** Client of a volume that another process (or this one) runs, by its control socket. Not thread-safe. */
public final class ControlClient implements VolumeControl {
    private static final int MAX_ANSWER_BYTES = 1 << 20;
    /** A device may be opened meanwhile, or a volume stopped. */
    private static final Duration PATIENCE = Duration.ofMinutes(3);
    /** Time for the first answer: a process that was stopped accepts connections, and answers nothing. */
    private static final Duration FIRST_ANSWER = Duration.ofSeconds(30);

    private final JsonLines lines;

    private ControlClient(SocketChannel channel) {
        lines = new JsonLines(channel, MAX_ANSWER_BYTES);
    }

    /**
     * Returns the volume of a spec, if a process of this user runs it with its socket in a usual place.
     *
     * @param uuid which one, where that is known; else it is known by its name and a member
     */
    public static Optional<VolumeControl> find(VolumeSpec spec, Optional<UUID> uuid)
            throws IOException {
        for (ControlDirectory place : ControlDirectory.all()) {
            for (Path socket : place.sockets()) {
                if (uuid.isPresent() && !ControlDirectory.isOf(socket, uuid.get())) {
                    continue;
                }
                Optional<VolumeControl> client = connect(socket,
                        status -> uuid.isPresent() || isMeant(status, spec));
                if (client.isPresent()) {
                    return client;
                }
            }
        }
        return Optional.empty();
    }

    /** The volume by the socket that its owner names on the members; empty if this user does not reach it. */
    public static Optional<VolumeControl> find(VolumeOwner owner) throws IOException {
        String contact = owner.record().contact();
        if (!owner.isHere() || contact.isEmpty()) {
            return Optional.empty();
        }
        try {
            return isOwnersAlone(Path.of(contact), owner.record().process().uid())
                    ? connect(Path.of(contact), status -> isOf(status, owner))
                    : Optional.empty();
        } catch (InvalidPathException _) {
            return Optional.empty();
        }
    }

    private static boolean isOf(JsonNode status, VolumeOwner owner) {
        return status.path("pid").asLong(0) == owner.record().process().pid()
                && status.path("uuid").asString("").equals(owner.record().volume().toString());
    }

    /** Whether only the owner or root can have created a socket there. */
    private static boolean isOwnersAlone(Path socket, int uid) throws IOException {
        Path directory = socket.getParent();
        return directory != null && Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)
                && Files.getAttribute(directory, "unix:uid", LinkOption.NOFOLLOW_LINKS).equals(uid)
                && Files.getPosixFilePermissions(directory, LinkOption.NOFOLLOW_LINKS)
                        .equals(PosixFilePermissions.fromString("rwx------"));
    }

    /** Connects to a volume; empty if no process listens (it was killed) or answers, or where the volume differs. */
    private static Optional<VolumeControl> connect(Path socket, Predicate<JsonNode> isMeant)
            throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        var client = new ControlClient(channel);
        boolean done = false;
        try {
            channel.connect(UnixDomainSocketAddress.of(socket));
            done = isMeant.test(client.ask("status", Map.of(), FIRST_ANSWER).path("status"));
        } catch (IOException e) {
            System.getLogger("lunar.cli").log(System.Logger.Level.DEBUG, "{0}: {1}", socket,
                    e.getMessage());
        } finally {
            if (!done) {
                client.close();
            }
        }
        return done ? Optional.of(client) : Optional.empty();
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
        return ask(command, more, PATIENCE);
    }

    private JsonNode ask(String command, Map<String, Object> more, Duration patience)
            throws IOException {
        var request = new LinkedHashMap<String, Object>();
        request.put("command", command);
        request.putAll(more);
        lines.write(request);
        JsonNode answer = read(patience);
        if (!answer.path("ok").asBoolean(false)) {
            throw new IOException(answer.path("error").asString("no answer"));
        }
        return answer;
    }

    private JsonNode read(Duration patience) throws IOException {
        try {
            return lines.read(patience).orElseThrow(
                    () -> new IOException("the process that runs the volume has ended"));
        } catch (SocketTimeoutException e) {
            throw new IOException("the process that runs the volume does not answer within "
                    + patience.toSeconds() + " s", e);
        }
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
