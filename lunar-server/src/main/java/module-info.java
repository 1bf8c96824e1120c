/** An iSCSI server to embed: a plan of targets and devices, put to work and changed while it runs. */
module lunar.server {
    requires transitive lunar.block;
    requires transitive lunar.iscsi;
    requires transitive lunar.isns;
    requires transitive lunar.target;
    requires static org.jspecify;

    exports lunar.server;
}
