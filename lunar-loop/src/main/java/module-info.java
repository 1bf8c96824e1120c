/** Event loops that transports share: tasks, timers and leadership over any source of events. */
module lunar.loop {
    requires transitive lunar.iscsi;
    requires static org.jspecify;

    exports lunar.loop;
}
