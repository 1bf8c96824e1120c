/**
 * CDBs of object-based storage devices: a record per group of commands whose CDBs have the fields in common.
 * {@link lunar.osd.wire.command.OsdCdbDecoder} decodes them all.
 *
 * <p>All have operation code 7Fh and are too long for the CDB field of an iSCSI command; the rest travels in an
 * additional header segment (RFC 7143 section 11.2.2.3).
 */
@NullMarked
package lunar.osd.wire.command;

import org.jspecify.annotations.NullMarked;
