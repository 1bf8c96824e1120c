package lunar.admin.http;

import io.helidon.http.Status;
import io.helidon.webserver.http.ServerResponse;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Function;
import lunar.admin.report.RefusedException;
import lunar.server.NotServedException;
import org.jspecify.annotations.Nullable;

/**
 * Runs operations that change the server, and sends their results. They have threads of their own, because the web
 * server interrupts its threads when it stops: an interrupt would close files that are in use.
 */
final class ServerOperation {
    private ServerOperation() {}

    /** Sends an error. */
    interface Refusal {
        void to(ServerResponse answer);
    }

    /** Runs an operation that may throw a {@link RefusedException}; otherwise like the other method. */
    static void answer(ServerResponse answer, String what,
            Callable<Map<String, Object>> operation) {
        answer(answer, what, operation, cause -> cause instanceof RefusedException refused
                ? refused(refused)
                : null);
    }

    /**
     * Runs an operation on a new thread, waits for its end, and sends its result. If the web server stops meanwhile,
     * the operation goes on.
     *
     * @param what names the operation
     * @param refusal returns how an exception of the operation is answered; null if it is an internal error
     */
    static void answer(ServerResponse answer, String what, Callable<Map<String, Object>> operation,
            Function<Throwable, @Nullable Refusal> refusal) {
        var task = new FutureTask<>(operation);
        Thread.ofPlatform().daemon().name("lunar-admin-" + what).start(task);
        try {
            JsonResponses.json(answer, task.get());
        } catch (ExecutionException e) {
            Refusal known = e.getCause() == null ? null : refusal.apply(e.getCause());
            if (known == null) {
                throw new IllegalStateException(what + " failed", e);
            }
            known.to(answer);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            JsonResponses.error(answer, Status.SERVICE_UNAVAILABLE_503,
                    "the admin API is stopping; the " + what + " continues");
        }
    }

    private static Refusal refused(RefusedException refused) {
        String message = String.valueOf(refused.getMessage());
        for (Throwable cause = refused; cause != null; cause = cause.getCause()) {
            if (cause instanceof NotServedException) {
                return answer -> unknown(answer, message);
            }
        }
        return answer -> JsonResponses.error(answer, Status.CONFLICT_409, message);
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
