/** The {@code lunar} command; the only module that reads config files. */
module lunar.cli {
    requires lunar.admin;
    requires lunar.block;
    requires lunar.filter;
    requires lunar.fs;
    requires lunar.iscsi;
    requires lunar.initiator;
    requires lunar.isns;
    requires lunar.osd;
    requires lunar.osd.client;
    requires lunar.osd.s3;
    requires lunar.raid;
    requires lunar.rdma;
    requires lunar.scsi;
    requires lunar.server;
    requires lunar.store;
    requires lunar.target;
    requires tools.jackson.core;
    requires tools.jackson.databind;
    requires info.picocli;
    requires ch.qos.logback.classic;
    requires ch.qos.logback.core;
    requires org.slf4j;
    requires org.tomlj;
    requires HdrHistogram;
    requires java.management;
    requires jdk.management;
    requires jdk.httpserver;
    requires jdk.unsupported; // SIGHUP
    requires static org.jspecify;

    opens lunar.cli to info.picocli;
    opens lunar.cli.admin to info.picocli;
    opens lunar.cli.bench to info.picocli;
    opens lunar.cli.browse to info.picocli;
    opens lunar.cli.command to info.picocli;
    opens lunar.cli.config to info.picocli;
    opens lunar.cli.copy to info.picocli;
    opens lunar.cli.demo to info.picocli;
    opens lunar.cli.log to info.picocli;
    opens lunar.cli.manual to info.picocli;
    opens lunar.cli.osd to info.picocli;
    opens lunar.cli.raid to info.picocli;
    opens lunar.cli.rdma to info.picocli;
    opens lunar.cli.serve to info.picocli;

    exports lunar.cli;

    uses lunar.block.spi.DeviceProvider;

    provides lunar.raid.service.VolumeHost
            with lunar.cli.raid.control.ControlHost, lunar.cli.config.ConfigHost;
    provides ch.qos.logback.classic.spi.Configurator with lunar.cli.log.LogConfigurator;
}
