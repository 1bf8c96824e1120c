package lunar.admin.http;

import io.helidon.http.Method;
import io.helidon.http.Status;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import lunar.admin.report.Administered;
import lunar.server.NotServedException;
import lunar.server.StorageServer;

/** The routes that drain a running server, or one of its targets. */
final class DrainRoutes {
    private static final String WAIT = "waitSeconds";
    private static final int DEFAULT_WAIT_SECONDS = 10;
    private static final int MAX_WAIT_SECONDS = 120;
    /** Time beyond that for the commands of sessions to end. */
    private static final Duration EXTRA = Duration.ofSeconds(10);

    private final Administered subject;

    DrainRoutes(Administered subject) { this.subject = subject; }

    List<Route> routes() {
        String all = "/v1/drain";
        String target = "/v1/targets/{iqn}/drain";
        return List.of(new Route(Method.POST, all, this::begin),
                new Route(Method.DELETE, all, this::end),
                new Route(Method.POST, target, this::begin),
                new Route(Method.DELETE, target, this::end));
    }

    /** Returns the target of the path; empty if the request is for the whole server. */
    private static Optional<String> target(ServerRequest request) {
        return request.path().pathParameters().first("iqn").asOptional();
    }

    private void begin(ServerRequest request, ServerResponse answer) throws IOException {
        Optional<String> target = target(request);
        StorageServer server = subject.server();
        Duration within;
        List<CompletableFuture<Void>> ends;
        try {
            JsonBody body = JsonBody.read(request);
            body.requireKnown(Set.of(WAIT));
            within = Duration.ofSeconds(
                    body.number(WAIT, 1, MAX_WAIT_SECONDS).orElse(DEFAULT_WAIT_SECONDS));
            ends = target.isPresent()
                    ? server.drain(target.get(), within)
                    : server.drain(within);
        } catch (IllegalArgumentException e) {
            ServerOperation.wrong(answer, e);
            return;
        } catch (NotServedException e) {
            ServerOperation.unknown(answer, String.valueOf(e.getMessage()));
            return;
        }
        Audit.of(request).log("drain of " + name(target) + " started: " + ends.size()
                + " sessions have " + within.toSeconds() + " s to log out");
        try {
            await(ends, within.plus(EXTRA));
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            JsonResponses.error(answer, Status.SERVICE_UNAVAILABLE_503,
                    "the admin API is stopping; the drain continues");
            return;
        }
        Map<String, Object> tree = tree(target, true);
        tree.put("sessions", ends.size());
        tree.put("ended", ends.stream().filter(CompletableFuture::isDone).count());
        JsonResponses.json(answer, tree);
    }

    private static void await(List<CompletableFuture<Void>> ends, Duration most)
            throws InterruptedException {
        try {
            var _ = CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new))
                    .get(most.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException _) {
            // commands of a session still run
        } catch (ExecutionException e) {
            throw new IllegalStateException("a session did not end", e);
        }
    }

    private void end(ServerRequest request, ServerResponse answer) {
        Optional<String> target = target(request);
        StorageServer server = subject.server();
        if (target.isPresent() && server.isDraining()) {
            JsonResponses.error(answer, Status.CONFLICT_409,
                    "the whole server is drained; end that with 'lunar drain --end'");
            return;
        }
        try {
            if (target.isPresent()) {
                server.endDrain(target.get());
            } else {
                server.endDrain();
            }
        } catch (NotServedException e) {
            ServerOperation.unknown(answer, String.valueOf(e.getMessage()));
            return;
        }
        Audit.of(request).log("drain of " + name(target) + " ended");
        JsonResponses.json(answer, tree(target, false));
    }

    private static String name(Optional<String> target) { return target.orElse("the server"); }

    private static Map<String, Object> tree(Optional<String> target, boolean isDraining) {
        var tree = new LinkedHashMap<String, Object>();
        tree.put("target", target.orElse(null));
        tree.put("draining", isDraining);
        return tree;
    }
}
