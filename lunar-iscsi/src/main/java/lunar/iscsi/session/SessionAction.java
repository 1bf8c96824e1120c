package lunar.iscsi.session;

/** Actions that {@link SessionMachine} requests for a session. */
public sealed interface SessionAction {
    /** The session is usable: publish its TSIH at the target, its devices at the initiator. */
    record Publish() implements SessionAction {}

    /** No connection is left: keep the tasks, and start no new ones. */
    record Suspend() implements SessionAction {}

    /** The session continues: reassign or retry the tasks kept. */
    record Resume() implements SessionAction {}

    /** End the tasks, close all connections, and discard the session. */
    record Release() implements SessionAction {}

    /** Start to wait for continuation: Time2Wait, then Time2Retain (RFC 7143 section 6.3.5). */
    record StartTimer() implements SessionAction {}

    /** Stop waiting. */
    record CancelTimer() implements SessionAction {}
}
