package lunar.osd.s3.protocol;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Parameters of a request, decoded. A parameter without a value, such as {@code uploads}, has an empty one.
 *
 * @param parameters in their order
 */
public record Query(List<Parameter> parameters) {
    /** A name with its value. */
    public record Parameter(String name, String value) {}

    /** No parameters. */
    public static final Query EMPTY = new Query(List.of());

    private static final int MAX_PARAMETERS = 64;

    public Query {
        parameters = List.copyOf(parameters);
    }

    /** Parses the query of a URI, without the question mark. */
    public static Query parse(String raw) throws S3Exception {
        if (raw.isEmpty()) {
            return EMPTY;
        }
        var parameters = new ArrayList<Parameter>();
        for (String pair : raw.split("&", MAX_PARAMETERS + 1)) {
            int equals = pair.indexOf('=');
            String name = equals < 0 ? pair : pair.substring(0, equals);
            String value = equals < 0 ? "" : pair.substring(equals + 1);
            if (!pair.isEmpty()) {
                parameters.add(new Parameter(PercentEncoding.decodeQuery(name),
                        PercentEncoding.decodeQuery(value)));
            }
        }
        if (parameters.size() > MAX_PARAMETERS) {
            throw new S3Exception(S3Error.INVALID_URI, "The request has too many parameters.");
        }
        return new Query(parameters);
    }

    /** Returns the first value of a parameter; empty if it is absent. */
    public Optional<String> get(String name) {
        return parameters.stream().filter(each -> each.name().equals(name))
                .map(Parameter::value).findFirst();
    }

    /** Whether a parameter is present. */
    public boolean has(String name) {
        return get(name).isPresent();
    }

    /** Returns the parameters as signatures need them: encoded, in the order of their encoded form. */
    public String canonical(String except) {
        record Encoded(String name, String value) {}
        return parameters.stream().filter(each -> !each.name().equals(except))
                .map(each -> new Encoded(PercentEncoding.encode(each.name()),
                        PercentEncoding.encode(each.value())))
                .sorted(Comparator.comparing(Encoded::name).thenComparing(Encoded::value))
                .map(each -> each.name() + '=' + each.value()).collect(Collectors.joining("&"));
    }
}
