/**
 * Transports within this process, for tests and as examples: {@code pipe} transfers data in PDUs, {@code placing-pipe}
 * moves the data of commands between the memory of both ends, like RDMA. Their portals are ports of a separate
 * namespace.
 */
@NullMarked
package lunar.testkit.pipe;

import org.jspecify.annotations.NullMarked;
