/**
 * Transports within this process, for tests and as examples: {@code pipe} carries PDUs, {@code placing-pipe} moves the
 * data of commands between the memory of both ends, as RDMA does. Their portals are ports of a namespace of their own.
 */
@NullMarked
package lunar.testkit.pipe;

import org.jspecify.annotations.NullMarked;
