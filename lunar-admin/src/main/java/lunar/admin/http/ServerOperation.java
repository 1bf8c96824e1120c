package lunar.admin.http;

import io.helidon.http.Status;
import io.helidon.webserver.http.ServerResponse;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import lunar.admin.report.RefusedException;
import lunar.server.NotServedException;

/** Runs operations that change the server, and sends their results. */
final class ServerOperation {
    private ServerOperation() {}

    /**
     * Runs an operation as {@link DetachedWork}.
     *
     * @param what names the operation
     */
    static void answer(ServerResponse answer, String what,
            Callable<Map<String, Object>> operation) {
        try {
            JsonResponses.json(answer, DetachedWork.run("lunar-admin-" + what, operation));
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof RefusedException refused)) {
                throw new IllegalStateException(what + " failed", e);
            }
            refuse(answer, refused);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            JsonResponses.error(answer, Status.SERVICE_UNAVAILABLE_503,
                    "the admin API is stopping; the " + what + " continues");
        }
    }

    private static void refuse(ServerResponse answer, RefusedException refused) {
        String message = String.valueOf(refused.getMessage());
        for (Throwable cause = refused; cause != null; cause = cause.getCause()) {
            if (cause instanceof NotServedException) {
                unknown(answer, message);
                return;
            }
        }
        JsonResponses.error(answer, Status.CONFLICT_409, message);
    }

    /** Answers that a request is wrong. */
    static void wrong(ServerResponse answer, IllegalArgumentException e) {
        JsonResponses.error(answer, Status.BAD_REQUEST_400, String.valueOf(e.getMessage()));
    }

    /** Answers that a target or a LUN is not served. */
    static void unknown(ServerResponse answer, String message) {
        JsonResponses.error(answer, Status.NOT_FOUND_404,
                message + "; 'lunar luns' lists what is served");
    }
}
