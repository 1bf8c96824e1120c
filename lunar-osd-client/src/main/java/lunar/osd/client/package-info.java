/**
 * Client of object-based storage devices (OSD-2): partitions, user objects, collections and their attributes.
 *
 * {@snippet :
 * try (var initiator = Initiator.create("iqn.2026-11.org.example:host1");
 *      var session = initiator.login("iscsi://127.0.0.1:3260/iqn.2026-11.org.lunar:demo")) {
 *     Osd osd = Osd.open(session, Lun.of(0));
 *     Partition photos = osd.createPartition();
 *     UserObject cat = photos.createAndWrite(MemorySegment.ofArray(jpeg));
 *     cat.set(new AttributeId(0x1_0000, 1), Bytes.of("cat".getBytes(StandardCharsets.UTF_8)));
 *     try (OutputStream out = photos.create().openOutput()) {
 *         Files.copy(Path.of("film.mp4"), out);
 *     }
 *     try (Stream<UserObject> all = photos.objects()) {
 *         all.forEach(System.out::println);
 *     }
 * }
 * }
 *
 * <p>Objects of this package are handles: making one sends nothing, and they need no closing. Every command can set and
 * get attributes along, as {@link lunar.osd.client.RequestOptions} says; it then returns a
 * {@link lunar.osd.client.Reply} with the attributes.
 *
 * <p><b>Errors.</b> What the device refuses is an {@link lunar.osd.client.OsdException}, whose type says why and which
 * has the object and the sense data. What failed otherwise is a {@link lunar.block.StorageException}, as with block
 * devices: the session is lost, the medium has an error, time is over. After such a failure a command that changes
 * something may have taken effect or not. Commands are sent again only where the device has reported that it did not
 * execute them, or where a second execution has no further effect; APPEND and CREATE are never executed twice.
 *
 * <p><b>Units.</b> Offsets and lengths are bytes. Identifiers are unsigned.
 *
 * <p><b>Buffers</b> belong to the caller, and must not be changed during a call; no call keeps one. Transfers that
 * take several commands keep a few of them in flight if the buffer is one that other threads may access, on the heap or
 * of a shared arena, and send them one after the other if it is confined to the calling thread.
 *
 * <p><b>Threads.</b> All calls block, and may be made by any thread, including virtual ones, but not by that of an
 * event loop. Handles are immutable and may be shared; streams and channels are for one thread at a time.
 */
@NullMarked
package lunar.osd.client;

import org.jspecify.annotations.NullMarked;
