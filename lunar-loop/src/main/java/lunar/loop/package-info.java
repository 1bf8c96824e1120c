/**
 * Event loops for transports. An {@link lunar.loop.EventSourceLoop} runs tasks, timers and what its {@link
 * lunar.loop.EventSource} reports, all on one thread at a time. TCP brings a selector as the source; a transport over
 * RDMA brings its completion queues.
 */
@NullMarked
package lunar.loop;

import org.jspecify.annotations.NullMarked;
