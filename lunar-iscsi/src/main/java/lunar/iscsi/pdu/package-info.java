/**
 * Headers of PDUs (RFC 7143 chapter 11).
 *
 * <ul>
 * <li>{@link lunar.iscsi.pdu.Bhs}: a flyweight over the 48 bytes of a header; {@link lunar.iscsi.pdu.CommandHeader}
 * reads the fields of a SCSI Command in place. The hot path uses these.
 * <li>{@link lunar.iscsi.pdu.Pdu}: headers as values, sealed by direction in {@link lunar.iscsi.pdu.InitiatorPdu} and
 * {@link lunar.iscsi.pdu.TargetPdu}, which decode them; the codes of their fields are enums.
 * </ul>
 */
@NullMarked
package lunar.iscsi.pdu;

import org.jspecify.annotations.NullMarked;
