/** The admin API of a running server: HTTP over a Unix socket or TCP, with metrics, and a client of it. */
module lunar.admin {
    requires transitive lunar.server;
    requires transitive tools.jackson.databind;
    requires lunar.raid;
    requires lunar.tls;
    requires io.helidon.http;
    requires io.helidon.webserver;
    requires io.prometheus.metrics.instrumentation.jvm;
    requires io.prometheus.metrics.model;
    requires io.prometheus.writer.text;
    requires jdk.net; // credentials of the peers of a Unix socket
    requires static org.jspecify;

    exports lunar.admin;
    exports lunar.admin.client;
    exports lunar.admin.report;
}
