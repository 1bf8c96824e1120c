package lunar.iscsi.login;

/** The SessionType key (RFC 7143 section 13.21). */
public enum SessionType {
    NORMAL("Normal"), DISCOVERY("Discovery");

    private final String text;

    SessionType(String text) { this.text = text; }

    /** The value of the key. */
    public String text() { return text; }
}
