/**
 * The protocol of object-based storage devices as records: bytes in, bytes out, for both ends. OSD-2, and OSD-1 as far
 * as its initiators need it; layouts that differ take an {@link lunar.osd.wire.OsdVersion}. This package has what the
 * others build on:
 *
 * <ul>
 * <li>{@code .command}: CDBs, with {@code OsdCdbDecoder} for the target and a record per group of commands.
 * <li>{@code .attribute}: attributes, their lists and pages, and the parameters by which a CDB gets and sets them.
 * <li>{@code .page}: the standard attribute pages.
 * <li>{@code .data}: CDB continuation segments, query lists, the replies of LIST, QUERY and READ MAP.
 * <li>{@code .security}: capabilities and security parameters, carried without being checked.
 * <li>{@code .sense}: the sense data descriptors of OSD.
 * </ul>
 *
 * <pre>{@code
 * OsdCdb cdb = OsdCdbDecoder.decode(bytes);                                      // the target
 * if (cdb.common().attributes() instanceof ListParameters lists) {
 *     var get = GetAttributesList.decode(lists.getList().in(dataOut), cdb.common().version());
 * }
 *
 * new ByteRangeCommand(ServiceAction.READ, CommonFields.of(OsdVersion.OSD_2),    // the client
 *         new ObjectId(partition, object), length, 0, 0).encode(cdbField);
 * }</pre>
 *
 * <p>Errors: a decoder of what an initiator sent throws InvalidCdbException or InvalidParameterListException with the
 * sense data to answer; a decoder of what a device sent throws MalformedDataException. No decoder allocates more than
 * a small multiple of the bytes that it was given, whatever lengths these contain. Constructors throw
 * IllegalArgumentException for values that do not fit their fields. Reserved bits are written as zero and ignored
 * when read.
 *
 * <p>Units: lengths and offsets are bytes, identifiers and lengths of 64 bits are unsigned numbers in a long; pages and
 * numbers of attributes are unsigned 32-bit numbers in an int.
 *
 * <p>Threading: everything here and in the sub-packages is immutable or a static function, and may be used by any
 * thread.
 */
@NullMarked
package lunar.osd.wire;

import org.jspecify.annotations.NullMarked;
