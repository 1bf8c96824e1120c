package lunar.scsi.target;

/**
 * Identity of a nexus in persistent reservations, which outlives its sessions (SPC-5 section 5.13.6).
 *
 * @param initiatorPort name of the initiator port, {@link InitiatorPort#name}
 * @param targetName iSCSI name of the target: a unit may be in several targets, whose ports have equal identifiers
 * @param relativePort relative target port identifier
 */
public record Registrant(String initiatorPort, String targetName, int relativePort) {
    /** Returns the registrant of an initiator port at a target port. */
    public static Registrant of(String initiatorPort, TargetPort port) {
        return new Registrant(initiatorPort, port.targetName(), port.relativeId());
    }
}
