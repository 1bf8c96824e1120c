/** Benchmarks: comparisons of Lunar with other programs, and microbenchmarks. */
module lunar.bench {
    requires commons; // org.jscsi:commons
    requires commons.logging; // jSCSI's
    requires initiator; // org.jscsi:initiator
    requires java.management;
    requires java.management.rmi; // what a server's JVM has allocated is asked through it
    requires jdk.attach;
    requires jdk.management;
    requires lunar.block;
    requires lunar.filter;
    requires lunar.initiator;
    requires lunar.iscsi;
    requires lunar.lucene;
    requires lunar.osd;
    requires lunar.osd.store;
    requires lunar.raid;
    requires lunar.rdma;
    requires lunar.scsi;
    requires lunar.target;
    requires lunar.tcp;
    requires org.apache.commons.statistics.distribution;
    requires tools.jackson.databind;
    requires static jmh.core; // its benches run on the class path
    requires static org.jspecify;

    // Results become JSON.
    opens lunar.bench.compare to tools.jackson.databind;
    opens lunar.bench.figures to tools.jackson.databind;
    opens lunar.bench.filter to tools.jackson.databind;
    opens lunar.bench.harness to tools.jackson.databind;
    opens lunar.bench.load to tools.jackson.databind;
    opens lunar.bench.lucene to tools.jackson.databind;
    opens lunar.bench.osd to tools.jackson.databind;
    opens lunar.bench.paths to tools.jackson.databind;
    opens lunar.bench.raid to tools.jackson.databind;
    opens lunar.bench.rdma to tools.jackson.databind;
    opens lunar.bench.session to tools.jackson.databind;
}
