package lunar.iscsi;

/**
 * The peer broke a rule of the protocol; the connection cannot go on. The message names the rule and the RFC section.
 */
public final class ProtocolException extends IscsiException {
    public ProtocolException(String message) { super(message, null); }
}
