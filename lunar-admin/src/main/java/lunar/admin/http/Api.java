package lunar.admin.http;

import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.http.Status;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import lunar.admin.metrics.Metrics;
import lunar.admin.report.Administered;
import lunar.admin.report.SessionReport;
import lunar.admin.report.StatusReport;
import lunar.admin.report.UnitReport;
import lunar.admin.report.VolumeReport;
import lunar.target.status.SessionStatus;

/** The routes of the admin API; {@code openapi.json} beside this class describes them. */
public final class Api {
    /** Name of the parameter of the routes of one session. */
    private static final String TSIH = "tsih";
    private static final String OPENAPI = "openapi.json";
    /** Time that an initiator has to log out. */
    private static final Duration LOGOUT = Duration.ofSeconds(2);
    /** Time beyond that for its commands to end. */
    private static final Duration LOGOUT_EXTRA = Duration.ofSeconds(10);
    private static final int MAX_TSIH = 0xffff;
    /** Changes of volumes at a time: a device may take minutes to open. */
    private static final int MAX_CHANGES = 4;

    private final Administered subject;
    private final Instant started = Instant.now();
    private final Metrics metrics;
    private final VolumeRoutes volumes;

    /** @param subject what is administered */
    public Api(Administered subject) {
        this(subject, MAX_CHANGES);
    }

    /** @param maxChanges of volumes at a time */
    Api(Administered subject, int maxChanges) {
        this.subject = subject;
        metrics = new Metrics(subject, started);
        volumes = new VolumeRoutes(subject, maxChanges);
    }

    /** Whether a path needs no token. */
    static boolean isPublic(String path) {
        return path.equals("/healthz") || path.equals("/readyz") || Dashboard.has(path);
    }

    /** Returns all routes. */
    List<Route> routes() {
        var routes = new ArrayList<>(List.of(
                route(Method.GET, "/healthz", (_, answer) -> alive(answer)),
                route(Method.GET, "/readyz", (_, answer) -> ready(answer)),
                route(Method.GET, "/metrics", this::metrics),
                route(Method.GET, "/v1/status", (_, answer) -> status(answer)),
                route(Method.GET, "/v1/sessions", (_, answer) -> sessions(answer)),
                route(Method.GET, "/v1/sessions/{tsih}", this::session),
                route(Method.DELETE, "/v1/sessions/{tsih}", this::logOut),
                route(Method.GET, "/v1/luns", (_, answer) -> units(answer)),
                route(Method.GET, "/v1/volumes", (_, answer) -> volumes(answer)),
                route(Method.POST, "/v1/reload", this::reload),
                route(Method.GET, "/v1/openapi.json", (_, answer) -> description(answer))));
        routes.addAll(new LunRoutes(subject).routes());
        routes.addAll(new DrainRoutes(subject).routes());
        routes.addAll(volumes.routes());
        return List.copyOf(routes);
    }

    private interface Reply {
        void to(ServerRequest request, ServerResponse response) throws IOException;
    }

    private static Route route(Method method, String path, Reply reply) {
        return new Route(method, path, reply::to);
    }

    /** Adds the routes, the dashboard, and an answer for all other paths. */
    void addTo(HttpRouting.Builder routing) {
        for (Route route : routes()) {
            routing.route(route.method(), route.path(), route.handler());
        }
        Dashboard.addTo(routing);
        routing.any((request, response) -> JsonResponses.error(request, response,
                Status.NOT_FOUND_404, "no such route: " + request.prologue().method()
                        + "; /v1/openapi.json lists the routes"));
        routing.error(Exception.class, (_, response, e) -> {
            System.getLogger("lunar.admin").log(System.Logger.Level.ERROR,
                    "internal error of the admin API", e);
            JsonResponses.error(response, Status.INTERNAL_SERVER_ERROR_500,
                    "internal error; the log of the server has the cause");
        });
    }

    private static void alive(ServerResponse answer) {
        JsonResponses.json(answer, Map.of("ok", true));
    }

    private void ready(ServerResponse answer) {
        if (subject.server().isDraining()) {
            JsonResponses.error(answer, Status.SERVICE_UNAVAILABLE_503,
                    "the server is drained: it accepts no logins");
        } else {
            alive(answer);
        }
    }

    private void status(ServerResponse answer) {
        JsonResponses.json(answer, StatusReport.of(subject, started).tree());
    }

    private void metrics(ServerRequest request, ServerResponse answer) {
        Metrics.Scrape scrape = metrics
                .scrape(request.headers().first(HeaderNames.ACCEPT).orElse(""));
        JsonResponses.bytes(answer, scrape.contentType(), scrape.text());
    }

    private void sessions(ServerResponse answer) {
        JsonResponses.json(answer, Map.of("sessions", subject.server().sessions().stream()
                .map(SessionReport::tree).toList()));
    }

    private void session(ServerRequest request, ServerResponse answer) {
        Optional<SessionStatus> session = find(request);
        if (session.isPresent()) {
            JsonResponses.json(answer, SessionReport.tree(session.get()));
        } else {
            unknownSession(answer);
        }
    }

    private Optional<SessionStatus> find(ServerRequest request) {
        int tsih = tsih(request);
        return subject.server().sessions().stream().filter(one -> one.tsih() == tsih).findFirst();
    }

    /** Returns the TSIH of the path; 0, which no session has, if it is none. */
    private static int tsih(ServerRequest request) {
        try {
            int tsih = Integer.parseInt(request.path().pathParameters().get(TSIH));
            return tsih < 0 || tsih > MAX_TSIH ? 0 : tsih;
        } catch (NumberFormatException _) {
            return 0;
        }
    }

    private static void unknownSession(ServerResponse answer) {
        JsonResponses.error(answer, Status.NOT_FOUND_404,
                "no session has this TSIH; 'lunar sessions' lists the sessions");
    }

    private void logOut(ServerRequest request, ServerResponse answer) {
        Optional<SessionStatus> session = find(request);
        Optional<CompletableFuture<Void>> end = session
                .flatMap(one -> subject.server().logOut(one.tsih(), LOGOUT));
        if (end.isEmpty()) {
            unknownSession(answer);
            return;
        }
        Audit.of(request).log("logout of session " + session.get().tsih() + " of "
                + SessionReport.tree(session.get()).get(SessionReport.INITIATOR));
        boolean hasEnded = end.get().thenApply(_ -> true).completeOnTimeout(false,
                LOGOUT.plus(LOGOUT_EXTRA).toMillis(), TimeUnit.MILLISECONDS).join();
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put(TSIH, session.get().tsih());
        tree.put("ended", hasEnded);
        JsonResponses.json(answer, tree);
    }

    private void units(ServerResponse answer) {
        JsonResponses.json(answer, UnitReport.tree(subject.server()));
    }

    private void volumes(ServerResponse answer) {
        JsonResponses.json(answer, Map.of("volumes", VolumeReport.running(subject.server()).stream()
                .map(VolumeReport::of).toList()));
    }

    private void reload(ServerRequest request, ServerResponse answer) {
        String discard = request.query().first("discard").orElse("false");
        if (!discard.equals("true") && !discard.equals("false")) {
            JsonResponses.error(answer, Status.BAD_REQUEST_400,
                    "'discard' must be true or false");
            return;
        }
        boolean discards = discard.equals("true");
        var audit = Audit.of(request);
        ServerOperation.answer(answer, "reload", () -> {
            List<String> changes = subject.reload(discards);
            if (discards) {
                audit.log("temporary changes of LUNs were discarded");
            }
            return Map.of("changes", changes);
        });
    }

    private static void description(ServerResponse answer) throws IOException {
        try (InputStream in = Objects.requireNonNull(Api.class.getResourceAsStream(OPENAPI))) {
            JsonResponses.bytes(answer, "application/json", in.readAllBytes());
        }
    }
}
