package lunar.osd.s3.http;

import java.util.Optional;
import java.util.Set;
import lunar.osd.s3.protocol.Query;
import lunar.osd.s3.protocol.RequestHead;
import lunar.osd.s3.protocol.S3Error;
import lunar.osd.s3.protocol.S3Exception;

/**
 * A request that has been authenticated.
 *
 * @param head its head
 * @param bucket name of the bucket; empty if it concerns the service
 * @param key the key; empty if it concerns the bucket
 * @param body its body
 */
record S3Request(RequestHead head, String bucket, String key, RequestBody body) {
    /** Parameters that the SDKs add for their own statistics. */
    private static final Set<String> IGNORED = Set.of("x-id");

    /** Whether a parameter is present. */
    boolean has(String parameter) {
        return head.query().has(parameter);
    }

    /** Returns a parameter, or no text. */
    String parameter(String name) {
        return head.query().get(name).orElse("");
    }

    /**
     * Returns a parameter that is a number.
     *
     * @param whenAbsent value of a parameter that is absent
     */
    int number(String name, int min, int max, int whenAbsent) throws S3Exception {
        Optional<String> text = head.query().get(name);
        if (text.isEmpty()) {
            return whenAbsent;
        }
        if (!text.get().matches("\\d{1,9}") || Integer.parseInt(text.get()) < min
                || Integer.parseInt(text.get()) > max) {
            throw new S3Exception(S3Error.INVALID_ARGUMENT,
                    name + " must be from " + min + " to " + max + '.');
        }
        return Integer.parseInt(text.get());
    }

    /** Refuses parameters other than these: they select functions that do not exist here. */
    void allowParameters(String... names) throws S3Exception {
        var allowed = Set.of(names);
        for (Query.Parameter each : head.query().parameters()) {
            if (!allowed.contains(each.name()) && !IGNORED.contains(each.name())
                    && !each.name().startsWith("X-Amz-")) {
                throw new S3Exception(S3Error.NOT_IMPLEMENTED,
                        "The parameter " + each.name() + " is not supported here.");
            }
        }
    }
}
