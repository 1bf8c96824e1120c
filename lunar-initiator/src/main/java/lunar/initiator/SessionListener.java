package lunar.initiator;

/** Hears what happens to sessions. */
@FunctionalInterface
public interface SessionListener {
    /** Something has happened; on the session's loop, where it must not block. */
    void happened(Session session, SessionNotice notice);
}
