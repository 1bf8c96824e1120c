package lunar.target.device;

/**
 * A nexus as persistent reservations know it, which outlives its sessions (SPC-5 section 5.13.6).
 *
 * @param initiatorPort name of the initiator port, {@link Nexus#initiatorPort}
 * @param targetName iSCSI name of the target: a unit may be in several, and their ports have the same identifiers
 * @param relativePort relative target port identifier
 */
record Registrant(String initiatorPort, String targetName, int relativePort) {
    static Registrant of(String initiatorPort, TargetPort port) {
        return new Registrant(initiatorPort, port.targetName(), port.relativeId());
    }
}
