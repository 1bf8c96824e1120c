/** Contract tests, seeded generators and scripted peers for the tests of the other modules. */
module lunar.testkit {
    requires transitive lunar.block;
    requires transitive lunar.iscsi;
    requires transitive lunar.scsi.target;
    requires transitive org.junit.jupiter.api;
    requires transitive org.assertj.core;
    requires java.logging;
    requires static org.jspecify;

    exports lunar.testkit;
    exports lunar.testkit.echo;
}
