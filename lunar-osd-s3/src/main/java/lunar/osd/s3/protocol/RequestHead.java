package lunar.osd.s3.protocol;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A request without its body.
 *
 * @param method such as GET
 * @param path the path of the request target, decoded
 * @param query parameters
 * @param headers values by names in lower case
 */
public record RequestHead(String method, String path, Query query,
        Map<String, List<String>> headers) {
    public RequestHead {
        headers = Map.copyOf(headers);
    }

    /** Returns the first value of a header, by its name in lower case; empty if it is absent. */
    public Optional<String> header(String name) {
        return headers.getOrDefault(name, List.of()).stream().findFirst().map(String::strip);
    }

    /**
     * Returns a header that is a number of bytes.
     *
     * @throws S3Exception if it is anything else
     */
    public Optional<Long> lengthHeader(String name) throws S3Exception {
        Optional<String> text = header(name);
        if (text.isPresent() && !text.get().matches("\\d{1,18}")) {
            throw new S3Exception(S3Error.INVALID_ARGUMENT, name + " is not a number of bytes.");
        }
        return text.map(Long::parseLong);
    }
}
