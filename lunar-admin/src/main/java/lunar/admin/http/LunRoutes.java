package lunar.admin.http;

import io.helidon.http.Method;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import lunar.admin.report.Administered;
import lunar.admin.report.LunAnswer;
import lunar.admin.report.RefusedException;
import lunar.block.DeviceUri;
import lunar.block.Size;
import lunar.iscsi.text.PeerText;
import lunar.server.LunRequest;
import lunar.server.ServerPlan;
import lunar.target.TargetSpec;

/** The routes that change the LUNs of a running server. */
final class LunRoutes {
    private static final String IQN = "iqn";
    private static final String LUN = "lun";
    private static final String URI = "uri";
    private static final String READ_ONLY = "readOnly";
    private static final String SIZE = "sizeBytes";

    private final Administered subject;

    LunRoutes(Administered subject) { this.subject = subject; }

    List<Route> routes() {
        String lun = "/v1/targets/{iqn}/luns/{lun}";
        return List.of(
                new Route(Method.POST, "/v1/targets/{iqn}/luns", this::add),
                new Route(Method.PATCH, lun, this::resize),
                new Route(Method.DELETE, lun, this::remove));
    }

    private void add(ServerRequest request, ServerResponse answer) throws IOException {
        LunRequest.Add add;
        try {
            JsonBody body = JsonBody.read(request);
            body.requireKnown(Set.of(URI, LUN, READ_ONLY));
            OptionalLong lun = body.number(LUN, 0, TargetSpec.MAX_LUN);
            add = new LunRequest.Add(iqn(request),
                    lun.isPresent() ? OptionalInt.of((int) lun.getAsLong()) : OptionalInt.empty(),
                    new ServerPlan.Lun(body.text(URI), false, false, body.flag(READ_ONLY), false,
                            Optional.empty()));
        } catch (IllegalArgumentException e) {
            ServerOperation.wrong(answer, e);
            return;
        }
        change(request, answer, add, "added: " + DeviceUri.withoutSecret(add.device().uri()));
    }

    private void remove(ServerRequest request, ServerResponse answer) {
        OptionalInt lun = lun(request, answer);
        if (lun.isPresent()) {
            change(request, answer, new LunRequest.Remove(iqn(request), lun.getAsInt()),
                    "removed");
        }
    }

    private void resize(ServerRequest request, ServerResponse answer) throws IOException {
        OptionalInt lun = lun(request, answer);
        if (lun.isEmpty()) {
            return;
        }
        OptionalLong size;
        try {
            JsonBody body = JsonBody.read(request);
            body.requireKnown(Set.of(SIZE));
            size = body.number(SIZE, 1, Long.MAX_VALUE);
            if (size.isEmpty()) {
                throw new IllegalArgumentException("'" + SIZE + "' is missing");
            }
        } catch (IllegalArgumentException e) {
            ServerOperation.wrong(answer, e);
            return;
        }
        change(request, answer,
                new LunRequest.Resize(iqn(request), lun.getAsInt(), size.getAsLong()),
                "resized to " + Size.format(size.getAsLong()));
    }

    private void change(ServerRequest request, ServerResponse answer, LunRequest wanted,
            String what) {
        var audit = Audit.of(request);
        ServerOperation.answer(answer, "change", () -> changed(audit, wanted, what));
    }

    private Map<String, Object> changed(Audit audit, LunRequest wanted, String what)
            throws RefusedException {
        LunAnswer done;
        try {
            done = subject.change(wanted);
        } catch (RefusedException e) {
            audit.log(refusal(wanted, e));
            throw e;
        }
        audit.log("LUN " + done.lun() + " of " + PeerText.printable(done.target()) + " was "
                + what);
        return done.tree();
    }

    private static String refusal(LunRequest wanted, RefusedException why) {
        String target = " of " + PeerText.printable(wanted.iqn());
        String change = switch (wanted) {
            case LunRequest.Add(_, OptionalInt lun, _) -> (lun.isPresent()
                    ? "LUN " + lun.getAsInt()
                    : "a LUN") + target + " was not added";
            case LunRequest.Remove(_, int lun) -> "LUN " + lun + target + " was not removed";
            case LunRequest.Resize(_, int lun, _) -> "LUN " + lun + target + " was not resized";
        };
        return change + ": " + (mayRepeatSecret(wanted, why)
                ? "its URI is wrong"
                : PeerText.printable(String.valueOf(why.getMessage())));
    }

    /** A message about what is not a URI at all may repeat it, with a secret that cannot be recognised. */
    private static boolean mayRepeatSecret(LunRequest wanted, RefusedException why) {
        return wanted instanceof LunRequest.Add add
                && add.device().uri().chars().anyMatch(c -> c == '@' || c == '%')
                && isOfArgument(why);
    }

    private static boolean isOfArgument(Throwable why) {
        return why instanceof IllegalArgumentException
                || (why.getCause() != null && isOfArgument(why.getCause()));
    }

    private static String iqn(ServerRequest request) {
        return request.path().pathParameters().get(IQN);
    }

    /** Returns the LUN of the path; empty, and answers that there is none, if it is not a number of a LUN. */
    private static OptionalInt lun(ServerRequest request, ServerResponse answer) {
        String text = request.path().pathParameters().get(LUN);
        if (text.matches("\\d{1,5}")) {
            return OptionalInt.of(Integer.parseInt(text));
        }
        ServerOperation.unknown(answer, "'" + PeerText.printable(text) + "' is not a LUN");
        return OptionalInt.empty();
    }
}
