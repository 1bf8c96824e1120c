package lunar.initiator;

/** Receives the events of sessions. */
@FunctionalInterface
public interface SessionListener {
    /** Called with each event, on the thread of the session's event loop: must not block. */
    void happened(Session session, SessionNotice notice);
}
