/**
 * {@code lunar rdma}: devices, latency and bandwidth. {@link lunar.cli.rdma.RdmaProbe} measures with a peer that runs
 * {@link lunar.cli.rdma.RdmaResponder}; both ends are an {@link lunar.cli.rdma.RdmaEnd}, which polls its completion
 * queue before it sleeps. The benchmark of the tables of Javia-I uses these classes as well.
 */
@NullMarked
package lunar.cli.rdma;

import org.jspecify.annotations.NullMarked;
