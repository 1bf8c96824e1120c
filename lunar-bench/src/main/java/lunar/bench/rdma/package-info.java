/**
 * Benchmarks of RDMA: {@link lunar.bench.rdma.BorderCosts} measures calls and copies between Java and native code,
 * {@link lunar.bench.rdma.JaviaBench} compares round-trip time and bandwidth of each variant with a C program that has
 * the same loop (tables 2.2 to 2.6 of the Javia-I thesis), and {@link lunar.bench.rdma.IserBench} compares iSER with
 * TCP.
 */
@NullMarked
package lunar.bench.rdma;

import org.jspecify.annotations.NullMarked;
