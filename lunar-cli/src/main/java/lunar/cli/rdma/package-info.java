/** {@code lunar rdma}: devices, latency and bandwidth. */
@NullMarked
package lunar.cli.rdma;

import org.jspecify.annotations.NullMarked;
