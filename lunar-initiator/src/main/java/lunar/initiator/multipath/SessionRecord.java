package lunar.initiator.multipath;

import java.io.IOException;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import lunar.initiator.SessionOptions;
import lunar.iscsi.pdu.Isid;
import lunar.iscsi.text.TargetAddress;

/**
 * Identity of a session at its target and its portal, as recorded for the process that comes after this one: what
 * {@link SessionFence} needs to end the session.
 *
 * @param initiatorName name of the initiator, part of the nexus
 * @param isid ISID of the session
 * @param scheme transport
 * @param portal portal of the login, after redirections
 * @param portalGroupTag group of the portal, if the target has named it
 * @param server server of Lunar that has the session, if it was asked
 */
record SessionRecord(String initiatorName, Isid isid, String scheme, TargetAddress portal,
        OptionalInt portalGroupTag, Optional<UUID> server) {
    private static final String NONE = "-";
    private static final String SEPARATOR = "\t";
    private static final int FIELDS = 7;
    private static final int HEXADECIMAL = 16;

    /** Parses a line that {@link #line} has made. */
    static SessionRecord parse(String line) throws IOException {
        String[] fields = line.split(SEPARATOR, -1);
        if (fields.length != FIELDS) {
            throw new IOException("not the record of a session: '" + line + "'");
        }
        try {
            return new SessionRecord(fields[0], new Isid(Long.parseLong(fields[1], HEXADECIMAL)),
                    fields[2],
                    new TargetAddress(fields[3], Integer.parseInt(fields[4]), OptionalInt.empty()),
                    fields[5].equals(NONE)
                            ? OptionalInt.empty()
                            : OptionalInt.of(Integer.parseInt(fields[5])),
                    fields[6].equals(NONE)
                            ? Optional.empty()
                            : Optional.of(UUID.fromString(fields[6])));
        } catch (IllegalArgumentException e) {
            throw new IOException("not the record of a session: '" + line + "'", e);
        }
    }

    /** Returns one line without its end. No field contains a tab: names have no blanks, and hosts were connected to. */
    String line() {
        return String.join(SEPARATOR, initiatorName, isid.toString(), scheme, portal.host(),
                Integer.toString(portal.port()),
                portalGroupTag.isPresent()
                        ? Integer.toString(portalGroupTag.getAsInt())
                        : NONE,
                server.map(UUID::toString).orElse(NONE));
    }

    /** Returns options for a login at its portal. */
    SessionOptions at(SessionOptions options) {
        return options.withTransport(scheme).withPortal(portal);
    }
}
