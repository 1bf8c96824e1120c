package lunar.iscsi;

/**
 * Thrown when the peer violates the protocol; the connection must end. The message names the rule and the RFC section.
 */
public final class ProtocolException extends IscsiException {
    public ProtocolException(String message) { super(message, null); }
}
