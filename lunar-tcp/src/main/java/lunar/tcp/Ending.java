package lunar.tcp;

/** How far a connection has ended. */
enum Ending {
    /** In use. */
    OPEN,
    /** Closed by this end: sending queued data, discarding received data. */
    LINGERING,
    /** The socket is closed. */
    ENDED
}
