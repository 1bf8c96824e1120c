/** Contract tests, seeded generators and scripted peers for the tests of the other modules. */
module lunar.testkit {
    requires transitive lunar.block;
    requires transitive lunar.iscsi;
    requires transitive lunar.scsi.target;
    requires lunar.loop;
    requires transitive org.junit.jupiter.api;
    requires transitive org.assertj.core;
    requires java.logging;
    requires static org.jspecify;

    exports lunar.testkit;
    exports lunar.testkit.echo;
    exports lunar.testkit.pipe;

    provides lunar.iscsi.spi.TransportProvider with
            lunar.testkit.pipe.PipeTransportProvider,
            lunar.testkit.pipe.PlacingPipeTransportProvider;
    provides lunar.scsi.target.spi.UnitProvider with lunar.testkit.echo.EchoProvider;
}
