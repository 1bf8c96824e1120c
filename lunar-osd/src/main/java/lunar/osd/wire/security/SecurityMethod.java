package lunar.osd.wire.security;

import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** Security methods; the ordinal is the code. */
public enum SecurityMethod {
    /** No checks. */
    NOSEC,
    /** The integrity check value of the capability proves that the client has the capability key. */
    CAPKEY,
    /** The CDB and the response are protected too. */
    CMDRSP,
    /** Data-in and data-out are protected too. */
    ALLDATA;

    private static final SecurityMethod[] ALL = values();

    /** The code on the wire. */
    @SuppressWarnings("EnumOrdinal") // the standard numbers them from 0
    public int code() { return ordinal(); }

    /** Returns the method of a name in lower case, as users write it. */
    public static Optional<SecurityMethod> named(String name) {
        return Stream.of(ALL).filter(each -> each.name().toLowerCase(Locale.ROOT).equals(name))
                .findFirst();
    }

    /** The method of a code. */
    public static Optional<SecurityMethod> of(int code) {
        return code >= 0 && code < ALL.length ? Optional.of(ALL[code]) : Optional.empty();
    }
}
