/**
 * Memory that is registered with an RDMA device: message buffers ({@link lunar.iser.memory.MessageBuffers}), memory
 * that users of the transport have registered ({@link lunar.iser.memory.RegisteredPools}), and bounce buffers for
 * single commands ({@link lunar.iser.memory.Bounces}). {@link lunar.iser.memory.DeviceMemory} holds the memory of one
 * device.
 *
 * <p><b>Threads.</b> All types are thread-safe, unless stated otherwise.
 *
 * <p><b>Ownership.</b> The connection that took a buffer gives it back once no posted operation uses it.
 */
@NullMarked
package lunar.iser.memory;

import org.jspecify.annotations.NullMarked;
