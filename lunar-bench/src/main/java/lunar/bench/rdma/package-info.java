/**
 * Tables 2.2 to 2.6 of the Javia-I thesis for Lunar: {@link lunar.bench.rdma.BorderCosts} measures what calls and
 * copies between Java and native code cost, {@link lunar.bench.rdma.JaviaBench} compares round trips and bandwidth of
 * each variant with a C program that has the same loop. {@link lunar.bench.rdma.IserBench} compares iSER with TCP.
 */
@NullMarked
package lunar.bench.rdma;

import org.jspecify.annotations.NullMarked;
