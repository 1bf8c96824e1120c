package lunar.scsi.target;

import java.util.Locale;

/**
 * A SCSI initiator port, named as the TransportID of iSCSI names it (SPC-5 section 7.6.4.6, RFC 7143 section 4.4.3).
 *
 * @param initiatorName name of the initiator device
 * @param isid the initiator's part of the session identifier, 48 bits
 */
public record InitiatorPort(String initiatorName, long isid) {
    /** Returns the port name that reservations use. */
    public String name() {
        return initiatorName + ",i,0x" + String.format(Locale.ROOT, "%012x", isid);
    }
}
