package lunar.isns;

import java.util.List;

/** An iSNS message, in one or several PDUs (RFC 4171 section 5). Immutable. */
sealed interface Message {
    /** Identifier, with {@link Functions#RESPONSE} in a response. */
    int function();

    /** Ties a response to its request. */
    int transaction();

    /** All attributes, the delimiter included. */
    List<Attribute> attributes();

    /** The attributes after the delimiter; none where there is no delimiter. */
    default List<Attribute> operating() {
        int at = attributes().indexOf(Attribute.DELIMITER);
        return at < 0 ? List.of() : attributes().subList(at + 1, attributes().size());
    }

    /**
     * A request from either side.
     *
     * @param replace whether the existing registration is replaced (section 5.6.5.1)
     */
    record Request(int function, boolean replace, int transaction, List<Attribute> attributes)
            implements
            Message {
        public Request {
            attributes = List.copyOf(attributes);
            if (function < 0 || function >= Functions.RESPONSE) {
                throw new IllegalArgumentException("no request: " + Functions.name(function));
            }
        }

        /** Creates a request that is not sent yet. */
        static Request of(int function, List<Attribute> attributes) {
            return new Request(function, false, 0, attributes);
        }

        Request replacing() { return new Request(function, true, transaction, attributes); }

        Request withTransaction(int id) { return new Request(function, replace, id, attributes); }

        Response answer(int status, List<Attribute> said) {
            return new Response(function | Functions.RESPONSE, transaction, status, said);
        }
    }

    /**
     * A response to a request.
     *
     * @param status 0 where all went well (section 5.4)
     */
    record Response(int function, int transaction, int status, List<Attribute> attributes)
            implements
            Message {
        public Response {
            attributes = List.copyOf(attributes);
            if (!Functions.isResponse(function)) {
                throw new IllegalArgumentException("no response: " + Functions.name(function));
            }
        }
    }
}
