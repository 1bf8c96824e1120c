/** {@code lunar rdma}: lists RDMA devices, and measures their latency and bandwidth. */
@NullMarked
package lunar.cli.rdma;

import org.jspecify.annotations.NullMarked;
