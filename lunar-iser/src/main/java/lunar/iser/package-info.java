/**
 * iSER (RFC 7145) as a transport of the iSCSI core: {@link lunar.iser.IserTransportProvider}, which
 * {@link java.util.ServiceLoader} finds for the scheme {@code iser}. Initiator and target are those of iSCSI over TCP;
 * RDMA moves the data of commands between the memory of both ends.
 *
 * <p>{@link lunar.iser.DeviceChoice} selects the RDMA device that reaches an address. {@link lunar.iser.DeviceLoops}
 * holds the open device and its event loops, each with an event channel and completion queues of its own
 * ({@link lunar.iser.IserSource}).
 *
 * <p><b>Threads.</b> As with every transport, any thread may send, and a connection's events are handled by its event
 * loop.
 */
@NullMarked
package lunar.iser;

import org.jspecify.annotations.NullMarked;
