/**
 * Memory that is registered with a device: buffers of messages ({@link lunar.iser.memory.MessageBuffers}), pools that
 * the users of the transport have registered ({@link lunar.iser.memory.RegisteredPools}), stand-ins for the buffers of
 * single commands ({@link lunar.iser.memory.Bounces}). {@link lunar.iser.memory.DeviceMemory} has those of one device.
 *
 * <p><b>Threads.</b> Everything may be used by any thread, except where a class says otherwise.
 *
 * <p><b>Ownership.</b> A buffer is given back by the connection that took it, once the device is done with it.
 */
@NullMarked
package lunar.iser.memory;

import org.jspecify.annotations.NullMarked;
