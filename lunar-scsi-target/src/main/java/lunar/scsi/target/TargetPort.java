package lunar.scsi.target;

/**
 * A SCSI target port, which is a target as a portal group shows it (RFC 7143 section 4.4.1).
 *
 * @param targetName iSCSI name of the target
 * @param tag target portal group tag, 1 to 65535
 * @param relativeId relative target port identifier, 1 to 65535, its own in the target
 */
public record TargetPort(String targetName, int tag, int relativeId) {
    /** Name of the port (RFC 7143 section 4.4.3). */
    public String name() {
        return String.format(java.util.Locale.ROOT, "%s,t,0x%04x", targetName, tag);
    }
}
