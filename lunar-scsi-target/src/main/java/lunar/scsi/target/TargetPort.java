package lunar.scsi.target;

/**
 * A SCSI target port: the pair of an iSCSI target and one of its portal groups (RFC 7143 section 4.4.1).
 *
 * @param targetName iSCSI name of the target
 * @param tag target portal group tag, 1 to 65535
 * @param relativeId relative target port identifier, 1 to 65535, unique within the target
 */
public record TargetPort(String targetName, int tag, int relativeId) {
    /** Returns the name of the port (RFC 7143 section 4.4.3). */
    public String name() {
        return String.format(java.util.Locale.ROOT, "%s,t,0x%04x", targetName, tag);
    }
}
