/**
 * Event loops for transports. An {@link lunar.loop.EventSourceLoop} runs tasks, timers and the events of its
 * {@link lunar.loop.EventSource}, all on one thread at a time. The source of TCP is a selector; that of an RDMA
 * transport is its completion queues.
 */
@NullMarked
package lunar.loop;

import org.jspecify.annotations.NullMarked;
