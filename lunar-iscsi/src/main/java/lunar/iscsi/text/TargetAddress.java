package lunar.iscsi.text;

import java.util.OptionalInt;
import lunar.iscsi.ProtocolException;

/**
 * Address of a portal: {@code host[:port][,portal-group-tag]} (RFC 7143 section 13.8). An IPv6 address has brackets in
 * the text but not here.
 *
 * @param host name or address
 * @param port TCP port
 * @param portalGroupTag TargetPortalGroupTag; absent in a redirection
 */
public record TargetAddress(String host, int port, OptionalInt portalGroupTag) {
    /** The port where none is given. */
    public static final int DEFAULT_PORT = 3260;

    private static final int MAX_HOST_LENGTH = 255;

    public TargetAddress {
        if (!isHost(host) || port < 1 || port > 0xffff) {
            throw new IllegalArgumentException(
                    "invalid portal address: host " + host + " port " + port);
        }
        if (portalGroupTag.isPresent()
                && (portalGroupTag.getAsInt() < 0 || portalGroupTag.getAsInt() > 0xffff)) {
            throw new IllegalArgumentException("portal group tag " + portalGroupTag.getAsInt());
        }
    }

    /** Reads the value of a TargetAddress key. */
    public static TargetAddress parse(String text) throws ProtocolException {
        String rest = text;
        OptionalInt tag = OptionalInt.empty();
        int comma = rest.indexOf(',');
        if (comma >= 0) {
            tag = OptionalInt.of(number(rest.substring(comma + 1), 0, text));
            rest = rest.substring(0, comma);
        }
        String host;
        String port;
        if (rest.startsWith("[")) {
            int end = rest.indexOf(']');
            if (end < 0) {
                throw malformed(text);
            }
            host = rest.substring(1, end);
            port = rest.substring(end + 1);
            if (host.indexOf(':') < 0 || (!port.isEmpty() && !port.startsWith(":"))) {
                throw malformed(text);
            }
        } else {
            int colon = rest.indexOf(':');
            host = colon < 0 ? rest : rest.substring(0, colon);
            port = colon < 0 ? "" : rest.substring(colon);
        }
        if (!isHost(host)) {
            throw malformed(text);
        }
        return new TargetAddress(host,
                port.isEmpty() ? DEFAULT_PORT : number(port.substring(1), 1, text), tag);
    }

    /** The value of a TargetAddress key. */
    @Override
    public String toString() {
        String at = (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
        return portalGroupTag.isPresent() ? at + "," + portalGroupTag.getAsInt() : at;
    }

    private static boolean isHost(String host) {
        return !host.isEmpty() && host.length() <= MAX_HOST_LENGTH
                && host.codePoints().allMatch(TargetAddress::isOfHost);
    }

    /** No character that a terminal or a log would obey rather than show, whatever peers send. */
    private static boolean isOfHost(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL, Character.FORMAT, Character.SURROGATE, Character.UNASSIGNED,
                    Character.PRIVATE_USE, Character.SPACE_SEPARATOR, Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR ->
                false;
            default -> c != ',' && c != '[' && c != ']';
        };
    }

    private static int number(String digits, int min, String text) throws ProtocolException {
        if (digits.isEmpty() || digits.length() > 5
                || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
            throw malformed(text);
        }
        int number = Integer.parseInt(digits);
        if (number < min || number > 0xffff) {
            throw malformed(text);
        }
        return number;
    }

    private static ProtocolException malformed(String text) {
        return new ProtocolException("TargetAddress=" + PeerText.printable(text)
                + " is not host:port,tag (RFC 7143 section 13.8)");
    }
}
