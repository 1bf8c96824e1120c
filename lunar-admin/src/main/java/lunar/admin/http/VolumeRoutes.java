package lunar.admin.http;

import io.helidon.http.Method;
import io.helidon.http.Status;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;
import lunar.admin.report.Administered;
import lunar.admin.report.VolumeReport;
import lunar.block.StorageException;
import lunar.raid.service.RunningVolume;
import lunar.raid.service.VolumeRequest;
import org.jspecify.annotations.Nullable;

/**
 * The routes of one served volume. A change is answered with the volume's state as soon as it is stable; the scans that
 * it begins run in the background. Each change is logged in {@code lunar.audit}. Thread-safe.
 */
final class VolumeRoutes {
    private static final String NAME = "name";
    private static final String VOLUME = "/v1/volumes/{" + NAME + "}";
    /** Names of volumes in an error. */
    private static final int MAX_LISTED = 10;

    private final Administered subject;
    private final Semaphore free;

    /** @param maxChanges changes at a time, for all volumes */
    VolumeRoutes(Administered subject, int maxChanges) {
        this.subject = subject;
        free = new Semaphore(maxChanges);
    }

    private interface Reply {
        void to(RunningVolume volume, ServerRequest request, ServerResponse response)
                throws IOException;
    }

    /** Returns the routes. */
    List<Route> routes() {
        var routes = new ArrayList<Route>();
        routes.add(route(Method.GET, VOLUME, (volume, _, response) -> report(volume, response)));
        for (RequestedChange.Kind kind : RequestedChange.Kind.values()) {
            routes.add(route(Method.POST,
                    VOLUME + "/" + kind.name().toLowerCase(Locale.ROOT),
                    (volume, request, response) -> change(volume, kind, request, response)));
        }
        routes.add(route(Method.DELETE, VOLUME + "/scrub",
                (volume, request, response) -> change(volume,
                        new RequestedChange(new VolumeRequest.CancelScrub(), Optional.empty()),
                        request, response)));
        return routes;
    }

    private Route route(Method method, String path, Reply reply) {
        return new Route(method, path, (request, response) -> {
            List<RunningVolume> all = VolumeReport.running(subject.server());
            List<RunningVolume> found = VolumeReport.named(all,
                    request.path().pathParameters().get(NAME));
            if (found.size() == 1) {
                reply.to(found.getFirst(), request, response);
            } else if (found.isEmpty()) {
                JsonResponses.error(response, Status.NOT_FOUND_404,
                        "no volume of this name is served; served are: " + titles(all));
            } else {
                JsonResponses.error(response, Status.CONFLICT_409, "several volumes have this"
                        + " name; use the UUID that /v1/volumes shows, or one of: "
                        + titles(found));
            }
        });
    }

    private static String titles(List<RunningVolume> volumes) {
        return volumes.isEmpty()
                ? "none"
                : volumes.stream().limit(MAX_LISTED).map(RunningVolume::toString)
                        .collect(Collectors.joining(", "))
                        + (volumes.size() > MAX_LISTED ? ", ..." : "");
    }

    private static void report(RunningVolume volume, ServerResponse response) {
        JsonResponses.json(response, VolumeReport.of(volume));
    }

    private void change(RunningVolume volume, RequestedChange.Kind kind, ServerRequest request,
            ServerResponse response) throws IOException {
        RequestedChange change;
        try {
            change = RequestedChange.of(kind, JsonBody.read(request));
        } catch (IllegalArgumentException e) {
            JsonResponses.error(response, Status.BAD_REQUEST_400, oneLine(e));
            return;
        }
        change(volume, change, request, response);
    }

    private void change(RunningVolume volume, RequestedChange change, ServerRequest request,
            ServerResponse response) {
        var audit = Audit.of(request);
        if (!free.tryAcquire()) {
            JsonResponses.error(response, Status.SERVICE_UNAVAILABLE_503,
                    "too many changes of volumes are in progress: try again when one has ended");
            return;
        }
        ServerOperation.answer(response, "change", () -> applied(volume, change, audit),
                VolumeRoutes::refusal);
    }

    private static ServerOperation.@Nullable Refusal refusal(Throwable cause) {
        return switch (cause) {
            case StorageException refusal -> response -> JsonResponses.error(response,
                    Status.CONFLICT_409, oneLine(refusal));
            case IllegalArgumentException wrong -> response -> JsonResponses.error(response,
                    Status.BAD_REQUEST_400, oneLine(wrong));
            default -> null;
        };
    }

    private Map<String, Object> applied(RunningVolume volume, RequestedChange change,
            Audit audit) throws StorageException {
        String outcome = "has failed";
        try {
            change.applyTo(volume);
            outcome = "done";
            return VolumeReport.of(volume);
        } catch (StorageException e) {
            outcome = "refused: " + oneLine(e);
            throw e;
        } catch (IllegalArgumentException e) { // its message may repeat what is not a URI at all
            outcome = "refused";
            throw e;
        } finally {
            free.release();
            audit.log(volume + ": " + change.request() + ": " + outcome);
        }
    }

    private static String oneLine(Throwable e) {
        return String.valueOf(e.getMessage()).strip().replaceAll("\\s*\\R\\s*", "; ");
    }
}
