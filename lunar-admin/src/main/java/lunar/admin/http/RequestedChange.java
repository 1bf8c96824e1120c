package lunar.admin.http;

import java.util.Optional;
import java.util.Set;
import lunar.block.DeviceUri;
import lunar.block.StorageException;
import lunar.raid.service.RunningVolume;
import lunar.raid.service.StoredUri;
import lunar.raid.service.VolumeRequest;

/**
 * A change of a volume that a request of the API describes: the last part of its path, and its body. Paths of files are
 * absolute, because the current directory of the server says nothing to its clients.
 *
 * @param request the change
 * @param file the URI of a file that is created before, if it does not exist
 */
record RequestedChange(VolumeRequest request, Optional<String> file) {
    private static final String SLOT = "slot";
    private static final String URI = "uri";
    private static final String FORCE = "force";

    /** The kinds of changes, each a POST. Their names in lower case are parts of paths. */
    enum Kind {
        FAIL, ADD, REMOVE, REPLACE, GROW, REBUILD, SCRUB
    }

    private static RequestedChange of(VolumeRequest request) {
        return new RequestedChange(request, Optional.empty());
    }

    /**
     * Returns the change that a body describes.
     *
     * @throws IllegalArgumentException if it describes none; the message is one line for a person
     */
    static RequestedChange of(Kind kind, JsonBody body) {
        return switch (kind) {
            case FAIL -> {
                body.requireKnown(Set.of(SLOT));
                yield of(new VolumeRequest.Fail(name(body.textOrNumber(SLOT))));
            }
            case ADD -> {
                body.requireKnown(Set.of(SLOT, URI, FORCE));
                yield added(body);
            }
            case REMOVE -> {
                body.requireKnown(Set.of(URI));
                yield of(new VolumeRequest.Remove(name(body.text(URI))));
            }
            case REPLACE -> {
                body.requireKnown(Set.of(SLOT, URI, FORCE));
                String uri = body.text(URI);
                yield new RequestedChange(new VolumeRequest.Replace(
                        name(body.textOrNumber(SLOT)), name(uri), body.flag(FORCE)),
                        Optional.of(uri));
            }
            case GROW -> {
                body.requireKnown(Set.of(URI, FORCE));
                String uri = body.text(URI);
                yield new RequestedChange(new VolumeRequest.Grow(name(uri), body.flag(FORCE)),
                        Optional.of(uri));
            }
            case REBUILD -> {
                body.requireKnown(Set.of());
                yield of(new VolumeRequest.Rebuild());
            }
            case SCRUB -> {
                body.requireKnown(Set.of("repair", "bytesPerSecond"));
                yield of(new VolumeRequest.Scrub(body.flag("repair"),
                        body.number("bytesPerSecond")));
            }
        };
    }

    private static RequestedChange added(JsonBody body) {
        if (body.has(SLOT) == body.has(URI)) {
            throw new IllegalArgumentException("the body needs either 'slot', the number of a slot"
                    + " whose member is to come back, or 'uri', a device");
        }
        String device = body.has(SLOT) ? body.textOrNumber(SLOT) : body.text(URI);
        return new RequestedChange(new VolumeRequest.Add(name(device), body.flag(FORCE)),
                Optional.of(device));
    }

    /** Returns the name of a device as volumes store it. */
    private static String name(String text) {
        if (text.length() > VolumeRequest.MAX_NAME_LENGTH) {
            return text; // the request refuses it
        }
        if (StoredUri.isRelative(text)) {
            throw new IllegalArgumentException(DeviceUri.withoutSecret(text) + " has a relative"
                    + " path: the admin API takes absolute paths of the server's host");
        }
        return StoredUri.of(text);
    }

    /** Makes the change. Blocks, see {@link VolumeRequest#applyTo}. */
    void applyTo(RunningVolume volume) throws StorageException {
        if (file.isPresent()) {
            StoredUri.createFile(file.get());
        }
        var _ = request.applyTo(volume);
    }
}
