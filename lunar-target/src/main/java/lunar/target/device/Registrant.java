package lunar.target.device;

/**
 * A nexus as persistent reservations know it, which outlives its sessions (SPC-5 section 5.13.6).
 *
 * @param initiatorPort name of the initiator port, {@link Nexus#initiatorPort}
 * @param relativePort relative target port identifier
 */
record Registrant(String initiatorPort, int relativePort) {}
