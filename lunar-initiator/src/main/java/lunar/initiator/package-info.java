/**
 * The initiator: logs in to targets and provides their LUNs as {@link lunar.block.BlockDevice}s.
 *
 * {@snippet :
 * try (var initiator = Initiator.create("iqn.2026-11.org.example:host1");
 *      var session = initiator.login("iscsi://127.0.0.1:3260/iqn.2026-11.org.lunar:demo");
 *      var disk = session.open(Lun.of(0));
 *      var arena = Arena.ofConfined()) {
 *     MemorySegment buffer = arena.allocate(8L * disk.blockSize(), 4096);
 *     disk.read(0, buffer);
 *     disk.write(disk.blockCount() - 8, buffer);
 *     disk.flush();
 * }
 * }
 *
 * <p>Other requests than reads and writes of a device are {@link lunar.initiator.Exchange}s, which
 * {@link lunar.initiator.Session} starts as a {@link lunar.initiator.Task}.
 *
 * <p>Threading: every public object may be used by any thread. A command is sent by the thread that submits it;
 * responses are processed, and completions run, on the event loop of the session's connection. State of a session is
 * guarded by one private lock, which is never held while foreign code runs.
 */
@NullMarked
package lunar.initiator;

import org.jspecify.annotations.NullMarked;
